"""What a chat can do with its past: list turns, take them back, begin another session with them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from actors.records import TurnId
from host.cli.amounts import count_text
from host.cli.forking import unused_name
from host.cli.output import visible
from host.cli.rewind_words import preview_lines, refusal, report_lines
from host.cli.slash import line_of
from host.cli.turn_list import turn_index, turn_table
from host.cli.turns import Turns
from host.cli.view import Tone
from host.errors import RestoreRefused
from host.host import Host
from host.rewinding import RewindReport
from host.session import Session

_OVERWRITE, _KEEP = "overwrite", "keep-files"
_QUESTION = "Take it back? y or n"
_NOTHING = "nothing was taken back"


@dataclass(frozen=True, slots=True)
class _Wish:
    """A rewind that was asked for: the turns that go, and what becomes of files."""

    turns: tuple[TurnId, ...]
    keeps_files: bool
    overwrites: bool


class Past:
    """Answers /turns, /rewind and /fork.

    A rewind that would touch files waits for a yes if it `asks`: while `is_asking`, what the
    person writes goes to `answer`. `edit` puts a line before the person to be
    changed, and says whether it could.
    """

    def __init__(
        self,
        host: Host,
        session: Session,
        turns: Turns,
        tell: Callable[[str, Tone], None],
        edit: Callable[[str], bool],
        *,
        asks: bool,
    ) -> None:
        self._host = host
        self._session = session
        self._turns = turns
        self._tell = tell
        self._edit = edit
        self._asks = asks
        self._wish: _Wish | None = None

    async def list(self, width: int) -> None:
        """Shows the turns, on lines of at most `width` cells.

        Raises:
            StoreDamaged: a log of the session cannot be read.
        """
        turns = await self._session.outline()
        self._say(turn_table(turns, width) if turns else ["no turn yet"])

    async def fork(self, name: str) -> None:
        """Makes a fork, which is left to others: this session goes on here.

        Raises:
            CallboardError: it cannot be made; says why.
        """
        taken = [row.name for row in await self._host.sessions()]
        fork = await self._host.fork(
            self._session, name=name or unused_name(self._session.name, [*taken, self._session.name])
        )
        n_turns = len(fork.turns)
        await fork.stop()  # or nobody else could go on with it as long as this chat lasts
        self._tell(
            f"{fork.id} ({fork.name}) begins with {count_text(n_turns, 'turn')} of this one", Tone.GOOD
        )
        self._tell(f"`callboard resume {fork.id}` goes on with it", Tone.QUIET)

    # Taking back

    @property
    def is_asking(self) -> bool:
        return self._wish is not None

    async def rewind(self, argument: str) -> None:
        """Takes back what the argument names, or shows what would be done and waits for a yes.

        Raises:
            CallboardError: it cannot be done; says why.
        """
        words = argument.split()
        named = [word for word in words if word not in (_OVERWRITE, _KEEP)]
        is_clear = len(named) < 2 and len(words) - len(named) < 2
        if not is_clear:
            self._tell(
                f"! /rewind takes a turn, then {_OVERWRITE} or {_KEEP}: got {argument!r}", Tone.CAREFUL
            )
            return
        outline = await self._session.outline()
        place = turn_index([turn.turn_id for turn in outline], named[0] if named else None)
        seen = await self._session.preview_rewind(outline[place].turn_id)
        wish = _Wish(seen.turns, _KEEP in words, _OVERWRITE in words)
        try:
            if not wish.keeps_files:
                seen.files.check(wish.overwrites)
        except RestoreRefused as error:
            self._refused(error, place + 1)
            return
        if wish.keeps_files or not seen.files.to_put_back or not self._asks:
            await self._take_back(wish)
            return
        self._say(preview_lines(seen, outline, overwrites=wish.overwrites))
        self._tell(_QUESTION, Tone.CAREFUL)
        self._wish = wish

    async def answer(self, line: str) -> None:
        """Takes the answer to the question whether to take back. Raises as `rewind`."""
        word = line.strip().lower()
        if word in ("y", "yes") and self._wish is not None:
            wish, self._wish = self._wish, None
            await self._take_back(wish)
        elif word in ("n", "no"):
            self.withdraw()
        else:
            self._tell(_QUESTION, Tone.CAREFUL)

    def withdraw(self) -> bool:
        """Gives the question up, if there is one: nothing is taken back."""
        if self._wish is None:
            return False
        self._wish = None
        self._tell(_NOTHING, Tone.QUIET)
        return True

    async def _take_back(self, wish: _Wish) -> None:
        ids = tuple(mark.turn_id for mark in self._session.turns)
        if ids[-len(wish.turns) :] != wish.turns:
            self._tell(f"! the session has gone on meanwhile, and {_NOTHING}; ask again", Tone.CAREFUL)
            return
        n_before, was_in_turn = self._turns.n_finished, self._turns.is_in_turn
        is_more_to_come = bool(self._session.waiting)
        try:
            report = await self._session.rewind(
                wish.turns[0], restore_files=not wish.keeps_files, overwrite=wish.overwrites
            )
        except RestoreRefused as error:
            self._refused(error, len(ids) - len(wish.turns) + 1)
            return
        if was_in_turn:  # its end is shown first
            await self._turns.finished_behind(n_before)
        self._report(report, may_edit=not is_more_to_come)

    def _refused(self, error: RestoreRefused, number: int) -> None:
        ways = {"overwrite": f"`/rewind {number} {_OVERWRITE}`", "keep": f"`/rewind {number} {_KEEP}`"}
        self._tell(f"! {refusal(error, **ways)}", Tone.CAREFUL)

    def _report(self, report: RewindReport, *, may_edit: bool) -> None:
        """Says what was done. With a line to edit, all that comes next would wait until it is entered."""
        self._say(report_lines(report))
        if report.text is None:
            return
        which = "message" if len(report.turns) == 1 else "first message"
        self._tell(f"the {which} of it:", Tone.QUIET)
        if not (may_edit and self._edit(line_of(report.text))):
            self._tell(visible(report.text), Tone.PLAIN)

    def _say(self, lines: Sequence[str]) -> None:
        for line in lines:
            self._tell(line, Tone.PLAIN)
