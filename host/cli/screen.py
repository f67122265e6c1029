"""Where a conversation is shown: words as they come, lines about what happens, and the line being written.

While a person writes, everything else waits, so that the two never mix; what
waited is shown when the line is entered or emptied. Where no one writes, or
the output is no terminal, everything passes straight through.
"""

import os
import shutil
import sys

import anyio
from rich.cells import cell_len
from rich.style import Style

from host.cli.editor import LineEditor
from host.cli.output import put, visible
from host.cli.view import Line, Shown, Tone, Words, WordsEnd

PROMPT = "› "
_ERASE_LINE = "\r\x1b[K"


class Screen:
    """Writes to stdout. `editor` None means that nobody writes here."""

    def __init__(self, editor: LineEditor | None, *, is_terminal: bool) -> None:
        self._editor = editor
        self._is_terminal = is_terminal
        self._has_colour = is_terminal and not os.environ.get("NO_COLOR") and _can_colour()
        self._waiting: list[Shown] = []
        self._is_at_start = True
        self._is_reasoning = False
        self._is_prompted = False
        self._is_ready = False
        self._free = anyio.Event()
        self._free.set()

    # What is shown

    def show(self, shown: Shown) -> None:
        """Shows it now, or when the line being written is done."""
        if self._is_held:
            self._waiting.append(shown)
            return
        self._erase_prompt()
        self._write(shown)
        self._draw()

    async def free(self) -> None:
        """Returns when nothing is held back: what is shown next is seen at once."""
        while self._is_held:
            self._free = anyio.Event()
            await self._free.wait()

    def _write(self, shown: Shown) -> None:
        match shown:
            case Words():
                self._write_words(shown)
            case WordsEnd():
                self._begin_line()
            case Line():
                self._begin_line()
                self._put(shown.text, shown.tone)
                self._put("\n")

    def _write_words(self, words: Words) -> None:
        """Reasoning is for the eye: a pipe gets the answer alone, and as it came."""
        if words.is_reasoning and not self._is_terminal:
            return
        if words.is_reasoning is not self._is_reasoning:
            self._begin_line()
            self._is_reasoning = words.is_reasoning
        text = visible(words.text) if self._is_terminal else words.text
        self._put(text, Tone.QUIET if words.is_reasoning else Tone.PLAIN)

    def _put(self, text: str, tone: Tone = Tone.PLAIN) -> None:
        if not text:
            return
        self._is_at_start = text.endswith("\n")
        put(_coloured(text, tone) if self._has_colour else text)

    def _begin_line(self) -> None:
        if not self._is_at_start:
            self._put("\n")

    # The line being written

    def set_ready(self, is_ready: bool) -> None:
        """Whether the prompt stands there although nothing is written: the agent is idle, or asks."""
        self._is_ready = is_ready
        if not self._is_held:
            self._erase_prompt()
            self._draw()

    def edited(self) -> None:
        """The line being written has changed."""
        if self._editor is None:
            return
        if self._editor.text and not self._is_prompted:
            self._begin_line()
        self._erase_prompt()
        self._draw()
        self._release()

    def entered(self, text: str) -> None:
        """The line was entered: it stays there as it was written."""
        if self._editor is None:
            return
        self._erase_prompt()
        if text:
            self._begin_line()
            for number, line in enumerate(text.split("\n")):
                self._put(("  " if number else PROMPT) + line, Tone.PERSON)
                self._put("\n")
        self._release()
        self._draw()

    def leave(self) -> None:
        """Nobody writes any more."""
        self._is_ready = False
        self._erase_prompt()
        self._editor = None
        self._release()

    @property
    def _is_held(self) -> bool:
        return self._editor is not None and bool(self._editor.text)

    def _release(self) -> None:
        if self._is_held:
            return
        waiting, self._waiting = self._waiting, []
        if waiting:
            self._erase_prompt()
            for shown in waiting:
                self._write(shown)
            self._draw()
        self._free.set()

    def _erase_prompt(self) -> None:
        if self._is_prompted:
            put(_ERASE_LINE)
            self._is_prompted = False

    def _draw(self) -> None:
        editor = self._editor
        if editor is None or not (editor.text or (self._is_ready and self._is_at_start)):
            return
        line, behind = _window(editor, shutil.get_terminal_size().columns - len(PROMPT) - 1)
        prompt = _coloured(PROMPT, Tone.PERSON) if self._has_colour else PROMPT
        put(f"{prompt}{line}" + (f"\x1b[{behind}D" if behind else ""))
        self._is_prompted = True


def _window(editor: LineEditor, width: int) -> tuple[str, int]:
    """The part of the line around the cursor that fits, and how many cells of it lie behind the cursor."""
    before, behind = editor.shown[: editor.cursor], editor.shown[editor.cursor :]
    while before and cell_len(before) > width:
        before = before[1:]
    while behind and cell_len(before) + cell_len(behind) > width:
        behind = behind[:-1]
    return before + behind, cell_len(behind)


def _coloured(text: str, tone: Tone) -> str:
    return Style.parse(tone.value).render(text) if tone.value else text


def _can_colour() -> bool:
    return os.environ.get("TERM", "dumb") != "dumb" and sys.stdout.isatty()
