"""`callboard sessions`"""

import sys
from typing import TYPE_CHECKING

import typer

from host.cli.options import JsonOption, Settings, StoreOption

if TYPE_CHECKING:
    from host.cli.launch import Signals
    from host.store.ports import AgentRow


_COLUMNS = ("id", "name", "title", "records", "last activity")
_LEAST_TITLE_CHARACTERS = 8


def sessions(json: JsonOption = False, store: StoreOption = None) -> None:
    """List the sessions of the store, the newest work last."""
    from host.cli.launch import launch

    async def work(signals: "Signals") -> int:
        from host.opening import open_host

        async with open_host(arguments=Settings(store=store).arguments()) as host:
            rows = await host.sessions()
        _list(rows, as_json=json)
        return 0

    raise typer.Exit(launch(work))


def _list(rows: "tuple[AgentRow, ...]", *, as_json: bool) -> None:
    from host.cli.output import put, put_json

    if as_json:
        for row in rows:
            put_json(
                {
                    "id": row.agent_id,
                    "name": row.name,
                    "title": row.title,
                    "n_records": row.n_records,
                    "created_at": row.created_at,
                    "updated_at": row.updated_at,
                }
            )
    elif sys.stdout.isatty():
        _draw(rows)
    else:
        for row in rows:
            put("\t".join(_cells(row)) + "\n")


def _draw(rows: "tuple[AgentRow, ...]") -> None:
    from shutil import get_terminal_size

    from rich.console import Console
    from rich.table import Table

    from host.cli.output import one_line, put

    if not rows:
        put("no sessions yet; `callboard chat` begins one\n")
        return
    cells = [_cells(row) for row in rows]
    # The id is what one needs whole; what is left of the line is the title's.
    others = sum(max(len(row[n]) for row in (_COLUMNS, *cells)) + 2 for n in (0, 1, 3, 4))
    title_width = max(get_terminal_size().columns - others, _LEAST_TITLE_CHARACTERS)
    console = Console(markup=False, highlight=False, width=others + title_width)
    table = Table(box=None, pad_edge=False)
    for name in _COLUMNS:
        table.add_column(name, no_wrap=True, justify="right" if name == "records" else "left")
    for session_id, name, title, n_records, last in cells:
        short = one_line(title, title_width)
        table.add_row(session_id, name, short, n_records, last)
    console.print(table, soft_wrap=True)


def _cells(row: "AgentRow") -> tuple[str, ...]:
    from datetime import UTC, datetime

    from host.cli.output import one_line

    last = datetime.fromtimestamp(row.updated_at, UTC).astimezone().strftime("%Y-%m-%d %H:%M")
    return row.agent_id, row.name, one_line(row.title or "", 200), str(row.n_records), last
