"""Edits one line from the bytes that a terminal sends. Pure: the screen shows it, the terminal feeds it."""

import codecs
import re
from dataclasses import dataclass
from typing import TypeAlias

PASTE_BEGINS = "\x1b[200~"
PASTE_ENDS = "\x1b[201~"
_KEY = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1bO.|\x1b[^\[O]|[^\x1b]", re.DOTALL)
_HISTORY_LINES = 200
_MAX_OFFERED = 2_000
_SHOWN_NEWLINE = "⏎"


@dataclass(frozen=True, slots=True)
class Submitted:
    """A line was entered. It can hold newlines where it was pasted."""

    text: str


@dataclass(frozen=True, slots=True)
class Ended:
    """Ctrl-D on an empty line."""


Edit: TypeAlias = Submitted | Ended


class LineEditor:
    """The line being written: its text, the cursor, and the lines before it.

    `feed` takes bytes as they come, a key or a character may be cut anywhere.
    """

    def __init__(self) -> None:
        self.text = ""
        self.cursor = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._unread = ""
        self._is_pasting = False
        self._history: list[str] = []
        self._at = 0
        self._draft = ""

    @property
    def shown(self) -> str:
        """The text on one line."""
        return self.text.replace("\n", _SHOWN_NEWLINE)

    def clear(self) -> None:
        """Gives up what was written."""
        self._set("")

    def offer(self, text: str) -> bool:
        """Puts a text there to be changed, unless something is written or it is too long to be edited so."""
        if self.text or len(text) > _MAX_OFFERED:
            return False
        for character in text:
            self._paste(character)
        return True

    def feed(self, data: bytes) -> tuple[Edit, ...]:
        """Takes bytes in; gives what they finished, in order."""
        self._unread += self._decoder.decode(data)
        edits = []
        while match := _KEY.match(self._unread):
            self._unread = self._unread[match.end() :]
            if (edit := self._press(match[0])) is not None:
                edits.append(edit)
        return tuple(edits)

    def _press(self, key: str) -> Edit | None:
        if key in (PASTE_BEGINS, PASTE_ENDS):
            self._is_pasting = key == PASTE_BEGINS
        elif self._is_pasting:
            self._paste(key)
        elif key in "\r\n":
            return self._submit()
        elif key == "\x04":
            if not self.text:
                return Ended()
            self._delete()
        elif key in _MOVES:
            _MOVES[key](self)
        elif key.isprintable():
            self._insert(key)
        return None

    def _paste(self, key: str) -> None:
        if key in "\r\n":
            self._insert("\n")
        elif key == "\t":
            self._insert("    ")
        elif key.isprintable():
            self._insert(key)

    def _submit(self) -> Submitted | None:
        text = self.text
        self._set("")
        if not text.strip():
            return Submitted("")
        if self._history[-1:] != [text]:
            self._history = [*self._history, text][-_HISTORY_LINES:]
        self._at = len(self._history)
        return Submitted(text)

    def _set(self, text: str) -> None:
        self.text, self.cursor = text, len(text)

    def _insert(self, text: str) -> None:
        self.text = self.text[: self.cursor] + text + self.text[self.cursor :]
        self.cursor += len(text)

    def _delete(self) -> None:
        self.text = self.text[: self.cursor] + self.text[self.cursor + 1 :]

    def _erase(self) -> None:
        if self.cursor:
            self.cursor -= 1
            self._delete()

    def _erase_word(self) -> None:
        kept = re.sub(r"\S*\s*$", "", self.text[: self.cursor])
        self.text, self.cursor = kept + self.text[self.cursor :], len(kept)

    def _erase_before(self) -> None:
        self.text, self.cursor = self.text[self.cursor :], 0

    def _erase_behind(self) -> None:
        self.text = self.text[: self.cursor]

    def _left(self) -> None:
        self.cursor = max(0, self.cursor - 1)

    def _right(self) -> None:
        self.cursor = min(len(self.text), self.cursor + 1)

    def _home(self) -> None:
        self.cursor = 0

    def _end(self) -> None:
        self.cursor = len(self.text)

    def _earlier(self) -> None:
        if self._at > 0:
            if self._at == len(self._history):
                self._draft = self.text
            self._at -= 1
            self._set(self._history[self._at])

    def _later(self) -> None:
        if self._at < len(self._history):
            self._at += 1
            self._set(self._history[self._at] if self._at < len(self._history) else self._draft)


_MOVES = {
    "\x7f": LineEditor._erase,
    "\x08": LineEditor._erase,
    "\x15": LineEditor._erase_before,
    "\x0b": LineEditor._erase_behind,
    "\x17": LineEditor._erase_word,
    "\x01": LineEditor._home,
    "\x05": LineEditor._end,
    "\x02": LineEditor._left,
    "\x06": LineEditor._right,
    "\x10": LineEditor._earlier,
    "\x0e": LineEditor._later,
    "\x1b[D": LineEditor._left,
    "\x1b[C": LineEditor._right,
    "\x1b[A": LineEditor._earlier,
    "\x1b[B": LineEditor._later,
    "\x1bOD": LineEditor._left,
    "\x1bOC": LineEditor._right,
    "\x1bOA": LineEditor._earlier,
    "\x1bOB": LineEditor._later,
    "\x1b[H": LineEditor._home,
    "\x1b[F": LineEditor._end,
    "\x1b[3~": LineEditor._delete,
}
