"""What of a log that may be damaged is as it was written, in its order."""

from dataclasses import dataclass
from typing import TypeAlias

from actors.address import AgentId
from actors.records import Record
from host.store.codec import EncodedRecord


@dataclass(frozen=True, slots=True)
class Kept:
    """A record that is there. `is_checked`: by the chain it is the one that was written.

    `has_hash` says whether it carries the right hash itself.
    """

    seq: int
    encoded: EncodedRecord
    record: Record
    is_checked: bool
    has_hash: bool


@dataclass(frozen=True, slots=True)
class Gap:
    """Records that are missing or damaged; `kind` where a single one still tells it."""

    seq: int
    n_records: int
    reason: str
    kind: str | None = None


Part: TypeAlias = Kept | Gap


@dataclass(frozen=True, slots=True)
class Verdict:
    """A whole log in order; `complaints` are about its count, its head and rows that belong nowhere."""

    agent_id: AgentId
    parts: tuple[Part, ...]
    complaints: tuple[str, ...]
    has_hashes: bool

    @property
    def kept(self) -> tuple[Kept, ...]:
        return tuple(part for part in self.parts if isinstance(part, Kept))

    @property
    def gaps(self) -> tuple[Gap, ...]:
        return tuple(part for part in self.parts if isinstance(part, Gap))


@dataclass(frozen=True, slots=True)
class Claim:
    """How many records a log has, and the hash of the last, as the listing tells it; None is not known."""

    n_records: int | None = None
    head: bytes | None = None
