"""Text measured in the cells of a terminal: wide characters and most emoji take two, accents none. Pure."""

from bisect import bisect_right
from collections.abc import Iterator

_MAX_CELLS = 2  # of one character
_MAX_JOINED = 4  # characters in a cell; where more are, it is cut too early


def cells(text: str) -> int:
    """How many cells of a line it takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # most texts do without: this takes a while to load

    return cell_len(text)


def fitted(text: str, limit: int) -> str:
    """The text if it takes at most `limit` cells, else its beginning with a mark that it was cut."""
    if len(text) * _MAX_CELLS <= limit or cells(text) <= limit:
        return text
    return _fitting(text[: limit * _MAX_JOINED], max(limit - 1, 0)) + "…"


def padded(text: str, width: int, *, is_right: bool = False) -> str:
    """The text with blanks to `width` cells, in front of it where it stands at the right."""
    blanks = " " * (width - cells(text))
    return blanks + text if is_right else text + blanks


def wrapped(text: str, width: int, first: str, rest: str) -> list[str]:
    """The words on lines of `width` cells, the first beginning with `first` and all others with `rest`.

    A word that is too long for a line goes on in the next one.
    """
    lines: list[str] = []
    line, lead = "", first
    room = max(width - max(cells(first), cells(rest)), 1)
    for piece in (piece for word in text.split() for piece in _pieces(word, room)):
        longer = f"{line} {piece}" if line else piece
        if line and cells(lead + longer) > width:
            lines.append(lead + line)
            lead, longer = rest, piece
        line = longer
    return [*lines, lead + line] if line else lines


def _pieces(word: str, room: int) -> Iterator[str]:
    while cells(word) > room:
        piece = _fitting(word[: room * _MAX_JOINED], room) or word[0]
        yield piece
        word = word[len(piece) :]
    if word:
        yield word


def _fitting(text: str, limit: int) -> str:
    """The longest beginning that takes at most `limit` cells."""
    if text.isascii():
        return text[:limit]
    n_fitting = bisect_right(range(len(text) + 1), limit, key=lambda n: cells(text[:n])) - 1
    return text[:n_fitting]
