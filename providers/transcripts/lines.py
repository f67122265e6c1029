"""The line on which an element of a JSON text stands.

Nobody asks for most elements, so nothing is located before it is asked for,
and what was found of a container is kept: all questions together read the
text a few times, whatever their number.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence

from providers.transcripts.documents import DECODER, skip_blanks
from providers.transcripts.model import Path


class LineFinder:
    """Lines, counted from 1, of the elements of documents that begin at `offsets` in the text."""

    def __init__(self, text: str, offsets: Sequence[int]) -> None:
        self._text = text
        self._offsets = offsets
        self._newlines = [newline.start() for newline in re.finditer("\n", text)]
        self._members: dict[int, dict[str | int, int]] = {}

    def line_of(self, path: Path) -> int:
        """The line on which the element begins; of one that is not there, that of what should hold it."""
        document, *steps = path
        offset = self._offsets[document] if isinstance(document, int) else 0
        for step in steps:
            inner = self._members_at(offset).get(step)
            if inner is None:
                break
            offset = inner
        return self.line_at(offset)

    def line_at(self, offset: int) -> int:
        """The line of one character of the text."""
        return bisect_left(self._newlines, offset) + 1

    def _members_at(self, offset: int) -> dict[str | int, int]:
        """Where the members of the object or list at this offset begin."""
        members = self._members.get(offset)
        if members is None:
            members = self._members[offset] = _located(self._text, offset)
        return members


def _located(text: str, offset: int) -> dict[str | int, int]:
    kind = text[offset : offset + 1]
    members: dict[str | int, int] = {}
    if kind not in ("{", "["):
        return members
    at = skip_blanks(text, offset + 1)
    while text[at] not in "]}":
        key: str | int = len(members)
        if kind == "{":
            key, at = DECODER.raw_decode(text, at)
            at = skip_blanks(text, skip_blanks(text, at) + 1)
        members[key] = at
        _, at = DECODER.raw_decode(text, at)
        at = skip_blanks(text, at)
        if text[at] == ",":
            at = skip_blanks(text, at + 1)
    return members
