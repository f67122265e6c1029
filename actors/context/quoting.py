"""Foreign text inside our own: kept on its line, kept in its tag."""

import re


def one_line(text: str, max_characters: int = 1_000) -> str:
    """The text on one line: line ends and other unprintable characters spelled out, the rest cut."""
    cut = text if len(text) <= max_characters else text[: max_characters - 1] + "…"
    return escape_tags("".join(c if c.isprintable() else _spelled(c) for c in cut))


def quote_lines(text: str, max_characters: int = 1_000) -> str:
    """Every line behind a bar, so that none can pass for a line of ours."""
    return "\n".join(f"| {one_line(line, max_characters)}" for line in text.splitlines())


def quote_block(text: str, tag: str) -> str:
    """The text between an opening and a closing tag that it cannot write itself."""
    return f"<{tag}>\n{escape_tags(text, tag)}\n</{tag}>"


def escape_tags(text: str, *tags: str) -> str:
    """The text with the `<` of these tags, and of the reminders' tag, made harmless; twice is once."""
    names = "|".join(re.escape(tag) for tag in ("system-reminder", *tags))
    return re.sub(rf"<(?=/?(?:{names})\b)", "&lt;", text, flags=re.ASCII | re.IGNORECASE)


def _spelled(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
