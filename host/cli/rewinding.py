"""What `callboard rewind` does."""

import sys
from dataclasses import dataclass
from shutil import get_terminal_size

from actors import builtin_tools
from actors.address import AgentId
from actors.errors import BadInput
from actors.records import AgentRole, TurnId
from host.artifacts import StoredArtifacts
from host.cli.boundary import ExitCode
from host.cli.confirming import is_confirmed
from host.cli.finding import find_session
from host.cli.options import Settings
from host.cli.output import put, put_json, visible
from host.cli.rewind_words import preview_json, preview_lines, refusal, report_json, report_lines
from host.cli.stores import naming_the_doctor, store_to_read
from host.cli.turn_list import turn_index, turn_json, turn_rows, turn_table
from host.errors import RestoreRefused, SessionBusy
from host.opening import open_host
from host.outline import TurnOutline, outline
from host.rewinding import RewindPreview, RewindReport, preview
from host.store.ports import Store


@dataclass(frozen=True, slots=True)
class RewindWish:
    """What the command line asks for."""

    session: str
    before: str | None
    keeps_files: bool
    overwrites: bool
    is_dry: bool
    is_sure: bool
    as_json: bool

    def check(self) -> None:
        """Raises:
        BadInput: options that exclude each other.
        """
        if self.keeps_files and self.overwrites:
            raise BadInput(
                "either --keep-files or --overwrite: the one leaves files alone, the other replaces them"
            )

    def check_list(self) -> None:
        """Raises:
        BadInput: something besides the list is asked for.
        """
        if self.before is not None or self.keeps_files or self.overwrites or self.is_dry or self.is_sure:
            raise BadInput("--list only lists the turns; ask for the rest without it")


@dataclass(frozen=True, slots=True)
class _Look:
    """A session as it stands in the store, and what the rewind would do to it."""

    root_id: AgentId
    turns: tuple[TurnOutline, ...]
    preview: RewindPreview


async def list_turns(wish: RewindWish, settings: Settings) -> ExitCode:
    """Prints the turns of the session, oldest first.

    Raises:
        BadInput, UnknownSession, StoreError: it cannot be done.
    """
    wish.check_list()
    with naming_the_doctor():
        async with store_to_read(settings) as store:
            turns = await outline(store, await _root_id(store, wish.session))
    if wish.as_json:
        for number, turn in enumerate(turns, 1):
            put_json(turn_json(number, turn))
    elif not sys.stdout.isatty():
        put("".join(f"{line}\n" for line in turn_rows(turns)))
    elif turns:
        put("\n".join(turn_table(turns, get_terminal_size().columns)) + "\n")
    else:
        put("the session has no turn yet\n")
    return ExitCode.DONE


async def rewind_session(wish: RewindWish, settings: Settings) -> ExitCode:
    """Says what would be done, asks, does it and says what that gave.

    Raises:
        BadInput: there is no such turn, or nobody can be asked.
        RestoreRefused: files are in the way; nothing was done.
        RestoreFailed: it stopped in the middle.
        UnknownSession, StoreError, LogFailed: it cannot be done.
    """
    wish.check()
    with naming_the_doctor():
        look = await _look(wish, settings)
        if wish.is_dry:
            _show(wish, look)
            return ExitCode.DONE
        _check(wish, look.preview)
        if not wish.is_sure and not await _is_wanted(wish, look):
            put("nothing was taken back\n")
            return ExitCode.DONE
        report = await _rewind(wish, settings, look)
    _tell(wish, look.root_id, report)
    return ExitCode.DONE


async def _look(wish: RewindWish, settings: Settings) -> _Look:
    async with store_to_read(settings) as store:
        root_id = await _root_id(store, wish.session)
        turns = await outline(store, root_id)
        first = turns[turn_index([turn.turn_id for turn in turns], wish.before)]
        seen = await preview(store, StoredArtifacts(store), root_id, first.turn_id)
    return _Look(root_id, turns, seen)


async def _root_id(store: Store, wanted: str) -> AgentId:
    mains = [row for row in await store.agents() if row.role is AgentRole.MAIN]
    return find_session(mains, wanted).agent_id


def _show(wish: RewindWish, look: _Look) -> None:
    if wish.as_json:
        put_json({"session": look.root_id, "dry_run": True, **preview_json(look.preview)})
        return
    lines = preview_lines(look.preview, look.turns, keeps_files=wish.keeps_files, overwrites=wish.overwrites)
    put("\n".join(lines) + "\n")


def _check(wish: RewindWish, seen: RewindPreview) -> None:
    if not wish.keeps_files:
        try:
            seen.files.check(wish.overwrites)
        except RestoreRefused as error:
            raise _named(error) from error


async def _is_wanted(wish: RewindWish, look: _Look) -> bool:
    if not wish.as_json:
        _show(wish, look)
    return await is_confirmed(
        "Take it back? [y/N] ",
        "nobody can be asked here: nothing was taken back; say --yes to do it without asking",
        can_ask=not wish.as_json,
    )


async def _rewind(wish: RewindWish, settings: Settings, look: _Look) -> RewindReport:
    """Opens a host for it, in which no agent begins anything."""
    async with open_host(arguments=settings.arguments()) as host:
        try:
            session = await host.resume(look.root_id, tools=tuple(builtin_tools().values()), at_rest=True)
        except SessionBusy as busy:
            text = f"{busy}; in a chat, `/rewind` takes it back there"
            raise SessionBusy(text, root_id=busy.root_id, pid=busy.pid, since_s=busy.since_s) from busy
        turns: list[TurnId] = [mark.turn_id for mark in session.turns]
        if turns != [turn.turn_id for turn in look.turns]:
            raise BadInput("the session has gone on meanwhile, and nothing was taken back; look at it again")
        try:
            return await session.rewind(
                look.preview.turns[0], restore_files=not wish.keeps_files, overwrite=wish.overwrites
            )
        except RestoreRefused as error:
            raise _named(error) from error


def _named(error: RestoreRefused) -> RestoreRefused:
    text = refusal(error, overwrite="--overwrite", keep="--keep-files")
    return RestoreRefused(text, conflicts=error.conflicts, impossible=error.impossible)


def _tell(wish: RewindWish, root_id: AgentId, report: RewindReport) -> None:
    if wish.as_json:
        put_json({"session": root_id, **report_json(report)})
        return
    lines = report_lines(report)
    if report.text is not None:
        which = "message" if len(report.turns) == 1 else "first message"
        lines += [f"the {which} of what was taken back:", "", *visible(report.text).splitlines(), ""]
    lines.append(f"`callboard resume {root_id}` goes on from there")
    put("\n".join(lines) + "\n")
