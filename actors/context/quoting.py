"""Foreign names and lines inside our own text: none of them can begin a line of ours or open a tag."""

from actors.reminders import escape_structure


def one_line(text: str, max_characters: int = 1_000) -> str:
    """The text on one line: line ends and other unprintable characters spelled out, the rest cut."""
    cut = text if len(text) <= max_characters else text[: max_characters - 1] + "…"
    return escape_structure("".join(c if c.isprintable() else _spelled(c) for c in cut))


def quote_lines(text: str, max_characters: int = 1_000) -> str:
    """Every line behind a bar, so that none can pass for a line of ours."""
    return "\n".join(f"| {one_line(line, max_characters)}" for line in text.splitlines())


def _spelled(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
