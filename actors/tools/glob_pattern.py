"""File name patterns: `*`, `?`, `[…]`, `{a,b}`, and `**` for any number of folders."""

import re

from actors.errors import BadInput

_MAX_CHARACTERS = 500


def glob_pattern(pattern: str) -> re.Pattern[str]:
    """The pattern as a regular expression over a relative path with `/`, to be matched in full.

    Raises:
        BadInput: an absolute path, `..`, a bracket that is not closed, or too long.
    """
    text = pattern.removeprefix("./")
    if text.startswith(("/", "~")) or ".." in text.split("/"):
        raise BadInput(f"a pattern is relative to the folder in `path`, without '..'; got {pattern!r}")
    if not text or len(text) > _MAX_CHARACTERS:
        raise BadInput(f"a pattern has 1 to {_MAX_CHARACTERS} characters; got {len(text):,}")
    try:
        return re.compile(_translated(text), re.DOTALL)
    except re.error as exc:
        raise BadInput(f"{pattern!r} is no valid pattern: {exc}") from exc


def _translated(pattern: str) -> str:
    parts: list[str] = []
    depth = 0
    position = 0
    while position < len(pattern):
        rest = pattern[position:]
        if rest.startswith("**/") and (position == 0 or pattern[position - 1] == "/"):
            parts.append("(?:[^/]+/)*")
            position += 3
        elif rest.startswith("*"):
            stars = len(rest) - len(rest.lstrip("*"))
            parts.append("[^/]*" if stars == 1 else ".*")
            position += stars
        elif rest.startswith("["):
            part, length = _character_class(rest, pattern)
            parts.append(part)
            position += length
        else:
            part, depth = _single(rest[0], depth)
            parts.append(part)
            position += 1
    if depth:
        raise BadInput(f"{pattern!r} is no valid pattern: '{{' is not closed")
    return "".join(parts)


def _single(character: str, depth: int) -> tuple[str, int]:
    match character:
        case "?":
            return "[^/]", depth
        case "{":
            return "(?:", depth + 1
        case "}" if depth:
            return ")", depth - 1
        case "," if depth:
            return "|", depth
        case _:
            return re.escape(character), depth


def _character_class(rest: str, pattern: str) -> tuple[str, int]:
    first = 2 if rest[1:2] in ("!", "^") else 1
    end = rest.find("]", first + 1)
    if end < 0:
        raise BadInput(f"{pattern!r} is no valid pattern: '[' is not closed")
    inside = rest[first:end].replace("\\", "\\\\").replace("[", "\\[").replace("^", "\\^").replace("]", "\\]")
    return f"(?!/)[{'^' if first == 2 else ''}{inside}]", end + 1
