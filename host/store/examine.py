"""Whether a store is as it was written, and what is not; changes nothing."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from actors.address import AgentId
from actors.records import RecordsSkipped
from host.errors import StoreTooNew
from host.store.schema import MIGRATIONS
from host.store.survey import Found, Listing, find, mismatches, unreadable_claims
from host.store.wreck import Wreck
from host.store.wreck_opening import open_wreck

LOST_ARTIFACT = "lost_artifact:"
"""Begins the keys under which a repaired store remembers artifacts that could not be read back."""


@dataclass(frozen=True, slots=True)
class Damage:
    """One thing that is not as it was written, in words.

    Whose it is and where, as far as that is known: `session` is the name of
    the agent's root. `n_records` are lost by it.
    """

    what: str
    agent_id: AgentId | None = None
    session: str | None = None
    seq: int | None = None
    kind: str | None = None
    n_records: int = 0


@dataclass(frozen=True, slots=True)
class Examination:
    """What a store holds and what is wrong with it.

    `n_records` are those that can be read. `n_skipped` records and
    `n_lost_artifacts` were lost before an earlier repair, which says so in
    the store; that is no damage any more. `version` None: it cannot be read.
    `has_hashes` False: a record that was changed and still reads is not seen.
    """

    path: Path
    damages: tuple[Damage, ...]
    n_sessions: int
    n_agents: int
    n_records: int
    n_artifacts: int
    size_bytes: int
    version: int | None
    has_hashes: bool
    n_skipped: int = 0
    n_lost_artifacts: int = 0

    @property
    def is_sound(self) -> bool:
        return not self.damages


def examine(path: Path) -> Examination:
    """Reads everything that the store holds and says what is damaged.

    Raises:
        StoreUnavailable: it is not there, may not be read, or is no store's file.
        StoreDamaged: nothing of a store can be found in it.
        StoreTooNew: a newer version of the program wrote it.
    """
    with open_wreck(path) as wreck:
        check_version(wreck, path)
        return _Examining(path, wreck).examination()


def check_version(wreck: Wreck, path: Path) -> None:
    """Raises StoreTooNew where a newer version of the program wrote the store."""
    found, supported = wreck.version, len(MIGRATIONS)
    if found is not None and found > supported:
        raise StoreTooNew(
            f"the store {path} has version {found}, this program knows up to {supported}:"
            " use the newer program that wrote it",
            found=found,
            supported=supported,
        )


class _Examining:
    def __init__(self, path: Path, wreck: Wreck) -> None:
        self._path = path
        self._wreck = wreck
        self._listing = Listing.of(wreck)
        self._names: dict[AgentId, str] = {}
        self._roots: set[AgentId] = set()
        self._references: dict[str, AgentId] = {}
        self._n_records = 0
        self._n_skipped = 0

    def examination(self) -> Examination:
        damages = [*self._of_the_file(), *self._of_agents()]
        lost = {
            key.removeprefix(LOST_ARTIFACT) for key in self._wreck.meta() if key.startswith(LOST_ARTIFACT)
        }
        intact, of_artifacts = self._artifacts(lost)
        return Examination(
            path=self._path,
            damages=(*damages, *of_artifacts),
            n_sessions=len(self._roots),
            n_agents=len(self._listing.ids),
            n_records=self._n_records,
            n_artifacts=len(intact),
            size_bytes=_size_bytes(self._path),
            version=self._wreck.version,
            has_hashes=self._wreck.has_hashes,
            n_skipped=self._n_skipped,
            n_lost_artifacts=len(lost - intact),
        )

    def _of_the_file(self) -> Iterator[Damage]:
        if self._wreck.has_lost_first_page:
            yield Damage("the first page of the file is lost; what follows was read with a new one")
        elif self._wreck.version is None and self._listing.ids:
            yield Damage("the version of the store cannot be read")
        for complaint in self._wreck.complaints():
            yield Damage(f"SQLite says: {complaint}")
        if self._listing.n_unreadable:
            yield Damage(f"{self._listing.n_unreadable} agents have ids that cannot be read")

    def _of_agents(self) -> Iterator[Damage]:
        for agent_id in self._listing.ids:
            found = find(self._wreck, self._listing, agent_id)
            self._n_records += len(found.verdict.kept)
            self._n_skipped += sum(
                kept.record.n_records
                for kept in found.verdict.kept
                if isinstance(kept.record, RecordsSkipped)
            )
            self._references.update((reference, agent_id) for reference in found.references())
            if found.name is not None:
                self._names[agent_id] = found.name
            self._roots.add(found.root_id or agent_id)
            session = self._names.get(found.root_id or agent_id)
            for damage in of_agent(found, frozenset(self._listing.ids)):
                yield Damage(damage.what, agent_id, session, damage.seq, damage.kind, damage.n_records)

    def _artifacts(self, lost: set[str]) -> tuple[set[str], list[Damage]]:
        """Those that are intact, and what is wrong with the others; `lost` ones are known."""
        intact: set[str] = set()
        damages: list[Damage] = []
        for artifact_id, data in self._wreck.artifacts():
            if isinstance(data, str):
                damages.append(Damage(f"artifact {artifact_id} cannot be read: {data}"))
            elif hashlib.sha256(data).hexdigest() != artifact_id:
                damages.append(Damage(f"artifact {artifact_id} was changed: its bytes have another hash"))
            else:
                intact.add(artifact_id)
        for artifact_id, agent_id in self._references.items():
            if artifact_id not in intact | lost:
                what = f"artifact {artifact_id}, to which a record refers, is not there"
                damages.append(Damage(what, agent_id, self._names.get(agent_id)))
        return intact, damages


def of_agent(found: Found, ids: frozenset[AgentId]) -> Iterator[Damage]:
    """What is wrong with one agent among those of these ids."""
    opened, row = found.opened, found.row
    if found.raw is None:
        yield Damage("the listing has no line of this agent, only records of it are there")
    elif row is None:
        yield Damage("its line in the listing cannot be read")
    elif opened is not None and (wrong := mismatches(row, opened)):
        yield Damage(f"its line in the listing does not fit its first record: {', '.join(wrong)}")
    elif unreadable := unreadable_claims(found.raw):
        yield Damage(f"its line in the listing cannot be read: {', '.join(unreadable)}")
    first = found.verdict.kept[0] if found.verdict.kept else None
    if not found.verdict.parts:
        yield Damage("its log is empty")
    elif opened is None and first is not None and first.seq == 0:
        yield Damage("its log does not begin with who it is", seq=0, kind=first.encoded.kind)
    parent_id, root_id = found.parent_id, found.root_id
    for what, other in (("parent", parent_id), ("root", root_id)):
        if other is not None and other not in ids:
            yield Damage(f"its {what} {other} is not there")
    for gap in found.verdict.gaps:
        yield Damage(gap.reason, seq=gap.seq, kind=gap.kind, n_records=gap.n_records)
    for complaint in found.verdict.complaints:
        yield Damage(complaint)


def _size_bytes(path: Path) -> int:
    files = (path, path.with_name(f"{path.name}-wal"))
    return sum(file.stat().st_size for file in files if file.exists())
