"""Prints a session's log, and goes on while somebody else writes it."""

import json
import select
import sys
from collections.abc import Iterable
from shutil import get_terminal_size

import anyio

from host.cli.boundary import ExitCode
from host.cli.finding import find_session
from host.cli.log_records import LogReader, Wanted
from host.cli.log_view import Layout, Told, name_cells
from host.cli.options import Settings
from host.cli.output import OutputClosed, put, visible
from host.cli.stores import naming_the_doctor, store_to_read
from host.store.codec import encode_record
from host.transfer.format import RecordLine, record_line

_POLL_S = 0.5


async def show_log(
    session: str, wanted: Wanted, settings: Settings, *, last: int | None, is_following: bool, as_json: bool
) -> int:
    """Prints the records, of those that are there the last ones; `last` None is all.

    Gives the exit code, which tells whether all could be read.

    Raises:
        UnknownSession, UnknownRecipient: nobody is meant by these names.
        StoreError: the store cannot be read.
        OutputClosed, OutputFailed: nobody reads what is printed.
    """
    with naming_the_doctor():
        async with store_to_read(settings) as store:
            root = find_session([row for row in await store.agents() if row.parent_id is None], session)
            names = tuple(row.name for row in await store.agents(root.agent_id)) if wanted.everyone else ()
            layout = Layout(get_terminal_size().columns if sys.stdout.isatty() else None, name_cells(names))
            reader = LogReader(store, root.agent_id, wanted)
            news = await reader.news()
            _put(news if last is None else news[max(len(news) - last, 0) :], layout, as_json=as_json)
            n_told = _tell_damage(reader, 0)
            while is_following:
                await anyio.sleep(_POLL_S)
                _check_reader()
                _put(await reader.news(), layout, as_json=as_json)
                n_told = _tell_damage(reader, n_told)
    return ExitCode.FAILED if reader.damage else ExitCode.DONE


def _put(news: Iterable[Told], layout: Layout, *, as_json: bool) -> None:
    lines = _json_lines(news) if as_json else (line for told in news for line in layout.lines(told))
    if text := "".join(f"{line}\n" for line in lines):
        put(text)


def _json_lines(news: Iterable[Told]) -> Iterable[str]:
    """The records as they stand in an export, in ASCII, which survives every encoding."""
    for told in news:
        if told.record is not None:
            encoded = encode_record(told.record)
            line = RecordLine(told.agent.agent_id, told.seq, encoded.kind, encoded.version, encoded.data)
            yield json.dumps(json.loads(record_line(line)), separators=(",", ":"))


def _tell_damage(reader: LogReader, n_told: int) -> int:
    for text in tuple(reader.damage.values())[n_told:]:
        print(f"callboard: {visible(text)}; `callboard doctor` tells more", file=sys.stderr)
    return len(reader.damage)


def _check_reader() -> None:
    """Ends the waiting when nobody reads any more, although there is nothing to write."""
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    if any(event & (select.POLLERR | select.POLLHUP | select.POLLNVAL) for _, event in poll.poll(0)):
        raise OutputClosed
