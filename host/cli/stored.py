"""The sessions of a store, each with what its whole tree comes to. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from actors.records import AgentRole
from host.cli.output import one_line
from host.store.ports import AgentRow

_TITLE_CELLS = 200


@dataclass(frozen=True, slots=True)
class StoredSession:
    """`last_s` is when any of its agents was last written, in seconds since the epoch."""

    root: AgentRow
    n_agents: int
    n_records: int
    last_s: float

    @property
    def is_archived(self) -> bool:
        return self.root.archived_at is not None

    @property
    def is_main(self) -> bool:
        """Whether it can be gone on with; those of workflows cannot."""
        return self.root.role is AgentRole.MAIN

    @property
    def title(self) -> str:
        return one_line(self.root.title or "", _TITLE_CELLS)

    @property
    def last(self) -> str:
        return moment(self.last_s)


def stored_sessions(rows: Iterable[AgentRow]) -> tuple[StoredSession, ...]:
    """Those of the rows' roots, newest work last."""
    trees: dict[str, list[AgentRow]] = {}
    for row in rows:
        trees.setdefault(row.root_id, []).append(row)
    found = [
        StoredSession(
            root,
            len(tree),
            sum(row.n_records for row in tree),
            max(row.updated_at for row in tree),
        )
        for root_id, tree in trees.items()
        for root in tree
        if root.agent_id == root_id
    ]
    return tuple(sorted(found, key=lambda session: session.last_s))


def moment(at_s: float) -> str:
    """The local time, to the minute."""
    try:
        return datetime.fromtimestamp(at_s, UTC).astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):  # no date that a calendar has
        return f"{at_s:.0f} s"
