"""One agent of a store that may be damaged: its line in the listing, and its log."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache

from pydantic import TypeAdapter, ValidationError

from actors.address import AgentId
from actors.records import AgentOpened
from host.store.carving import Carving
from host.store.chain import HASH_BYTES
from host.store.judging import judge
from host.store.ports import AgentRow
from host.store.verdicts import Claim, Kept, Verdict
from host.store.wreck import Row, Wreck

_COLUMNS = tuple(field.name for field in fields(AgentRow))

_REFERENCES = re.compile(rb'stored as artifact ([0-9a-f]{64})\b|"artifact_id":"([0-9a-f]{64})"')
"""Where a record tells that its rest is an artifact: in a shortened result, and as a field."""


@dataclass(frozen=True, slots=True)
class Found:
    """What there is of one agent. `row` is None where the listing has no line of it, or a damaged one.

    `raw` is that line as it stands there, None where there is none.
    """

    agent_id: AgentId
    row: AgentRow | None
    raw: Row | None
    verdict: Verdict

    @property
    def opened(self) -> AgentOpened | None:
        """Who it is, as its log tells."""
        first = self.verdict.parts[0] if self.verdict.parts else None
        record = first.record if isinstance(first, Kept) else None
        return record if isinstance(record, AgentOpened) and record.agent_id == self.agent_id else None

    @property
    def root_id(self) -> AgentId | None:
        known = self.opened or self.row
        return None if known is None else known.root_id

    @property
    def parent_id(self) -> AgentId | None:
        known = self.opened or self.row
        return None if known is None else known.parent_id

    @property
    def name(self) -> str | None:
        known = self.opened or self.row
        return None if known is None else known.name

    def references(self) -> Iterator[str]:
        """The artifacts that its records refer to."""
        for kept in self.verdict.kept:
            for in_text, in_field in _REFERENCES.findall(kept.encoded.data):
                yield (in_text or in_field).decode()


@dataclass(frozen=True, slots=True)
class Listing:
    """The agents of a store: those of the listing in its order, then those of which only records are left."""

    raw: Mapping[AgentId, Row]
    ids: tuple[AgentId, ...]
    n_unreadable: int

    @classmethod
    def of(cls, wreck: Wreck) -> "Listing":
        """`n_unreadable` counts rows and ids that cannot be anybody's."""
        rows = wreck.agent_rows()
        raw = {AgentId(str(row["agent_id"])): row for row in rows if _is_id(row["agent_id"])}
        others = {one for one in wreck.ids_in_index() | wreck.ids_of_records() if one not in raw}
        ids = (*raw, *(AgentId(one) for one in sorted(others) if _is_id(one)))
        return cls(raw, ids, len(rows) - len(raw) + sum(not _is_id(one) for one in others))


def find(
    wreck: Wreck, listing: Listing, agent_id: AgentId, carve: Callable[[], Carving] | None = None
) -> Found:
    """One agent of the listing, its log read by key and judged; where something is missing, carved out."""
    raw = listing.raw.get(agent_id)
    claim = Claim() if raw is None else _claim(raw)
    rows, failures = wreck.records(agent_id, claim.n_records)
    has_hashes = wreck.has_hashes
    verdict = judge(agent_id, rows, failures, claim, has_hashes=has_hashes)
    if carve is not None and has_hashes and (verdict.gaps or not verdict.parts):
        carved = carve().records(agent_id)
        verdict = judge(agent_id, rows, failures, claim, has_hashes=has_hashes, carved=carved)
    return Found(agent_id, None if raw is None else _row(raw), raw, verdict)


def mismatches(row: AgentRow, opened: AgentOpened) -> Sequence[str]:
    """The fields in which a line of the listing is not what the log says."""
    names = ("agent_id", "root_id", "parent_id", "name", "role")
    return [name for name in names if getattr(row, name) != getattr(opened, name)]


def unreadable_claims(raw: Row) -> Sequence[str]:
    """The columns of a line of the listing that should tell of its log and do not."""
    claim = _claim(raw)
    found = {"n_records": claim.n_records, "head": claim.head}
    return [name for name, value in found.items() if value is None and name in raw]


def _claim(raw: Row) -> Claim:
    n_records, head = raw.get("n_records"), raw.get("head")
    return Claim(
        n_records if isinstance(n_records, int) and n_records >= 0 else None,
        head if isinstance(head, bytes) and len(head) == HASH_BYTES else None,
    )


def _row(raw: Row) -> AgentRow | None:
    try:
        return _adapter().validate_python({name: raw.get(name) for name in _COLUMNS})
    except ValidationError:
        return None


@cache
def _adapter() -> TypeAdapter[AgentRow]:
    return TypeAdapter(AgentRow)


def _is_id(value: object) -> bool:
    return isinstance(value, str) and value != "" and value.isprintable() and "\ufffd" not in value
