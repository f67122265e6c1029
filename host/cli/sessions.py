"""`callboard sessions`"""

import sys
from typing import TYPE_CHECKING

import typer

from host.cli.options import JsonOption, Settings, StoreOption

if TYPE_CHECKING:
    from host.cli.launch import Signals
    from host.store.ports import AgentRow


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
    from rich.console import Console
    from rich.table import Table

    if not rows:
        print("no sessions yet; `callboard chat` begins one")
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("id", no_wrap=True)
    table.add_column("name", no_wrap=True, overflow="ellipsis", max_width=20)
    table.add_column("title", no_wrap=True, overflow="ellipsis", ratio=1)
    table.add_column("records", justify="right", no_wrap=True)
    table.add_column("last activity", no_wrap=True)
    for row in rows:
        table.add_row(*_cells(row))
    Console(markup=False, highlight=False).print(table)


def _cells(row: "AgentRow") -> tuple[str, ...]:
    from datetime import UTC, datetime

    from host.cli.output import one_line

    last = datetime.fromtimestamp(row.updated_at, UTC).astimezone().strftime("%Y-%m-%d %H:%M")
    return row.agent_id, row.name, one_line(row.title or "", 200), str(row.n_records), last
