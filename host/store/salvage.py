"""A new store out of what can still be read of a damaged one."""

import hashlib
import re
import sqlite3
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from actors.address import AgentId
from actors.history import EntryId
from actors.ports import Ids
from actors.records import AgentOpened
from host.errors import StoreBusy
from host.store.at_work import is_anybody_at_work
from host.store.carving import Carving
from host.store.chain import first_link, link
from host.store.examine import LOST_ARTIFACT, check_version
from host.store.identity import Hints, Identities
from host.store.mending import MendedLog, mend
from host.store.replacing import NewStore, replace_store
from host.store.schema import open_database, unavailable
from host.store.store_lock import lease_folder, lock_for_repair
from host.store.streams import Stream, submission
from host.store.survey import Found, Listing, find
from host.store.verdicts import Verdict
from host.store.wreck import Wreck
from host.store.wreck_opening import open_wreck

_ARTIFACT_ID = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class SalvagedAgent:
    """What became of one agent. `opened` None: it was left out, since nothing tells who it is.

    `is_remade` says that its definition was lost; `n_skipped` records are
    markers now, `n_unchecked` were kept though nothing shows that they are
    as they were written.
    """

    agent_id: AgentId
    opened: AgentOpened | None
    is_remade: bool
    n_kept: int
    n_skipped: int
    n_unchecked: int = 0


@dataclass(frozen=True, slots=True)
class Salvage:
    """What was kept and what is lost. `lost_artifacts` are those that records refer to or the store had."""

    path: Path
    kept_as: Path
    agents: tuple[SalvagedAgent, ...]
    n_artifacts: int
    lost_artifacts: tuple[str, ...]


def repair(path: Path, *, ids: Ids, now_s: float, cwd: str) -> Salvage:
    """Puts a store that holds all that can be read into the place of this one, whose files are kept.

    An agent whose folder is lost gets `cwd`. A kill at any moment leaves the
    damaged store or the new one.

    Raises:
        StoreBusy: somebody has it open.
        StoreUnavailable: it is not there or no store's file, or the new one cannot be written.
        StoreDamaged: nothing of a store can be found in it.
        StoreTooNew: a newer version of the program wrote it.
    """
    with lock_for_repair(path):
        if is_anybody_at_work(lease_folder(path), ()):  # an older program, which does not lock the store
            raise StoreBusy(f"a session of the store {path} is being written; end that, then try again")
        new = NewStore.beside(path)
        kept_as = _unused(path, now_s)
        try:
            with open_wreck(path) as wreck:
                check_version(wreck, path)
                salvage = _Salvaging(wreck, path, kept_as, ids, now_s, cwd).into(new)
            for _ in replace_store(path, new, kept_as):
                pass
        except (OSError, sqlite3.Error) as error:
            raise unavailable(path, error) from error
        finally:
            new.discard()
    return salvage


@dataclass(slots=True)
class _Salvaging:
    wreck: Wreck
    path: Path
    kept_as: Path
    ids: Ids
    now_s: float
    cwd: str
    _carving: Carving | None = None

    def carve(self) -> Carving:
        """Made when it is first wanted: it looks at every page."""
        self._carving = self._carving or Carving.of(self.path)
        return self._carving

    def into(self, new: NewStore) -> Salvage:
        connection = open_database(new.file)
        try:
            new.file.chmod(stat.S_IMODE(self.path.stat().st_mode))
            connection.execute("PRAGMA wal_autocheckpoint = 0")
            references: set[str] = set()
            agents = tuple(self._agents(connection, references))
            n_artifacts, lost = self._artifacts(connection, references)
            self._rest(connection, lost)
            new.finish(connection)
        finally:
            connection.close()
        return Salvage(self.path, self.kept_as, agents, n_artifacts, lost)

    def _agents(self, connection: sqlite3.Connection, references: set[str]) -> Iterator[SalvagedAgent]:
        listing = Listing.of(self.wreck)
        hints = [Hints.of(find(self.wreck, listing, agent_id, self.carve)) for agent_id in listing.ids]
        identities = Identities.of(hints, cwd=self.cwd, now_s=self.now_s)
        for agent_id, opened in identities.opened.items():
            found = find(self.wreck, listing, agent_id, self.carve)
            references.update(found.references())
            log = mend(found.verdict, opened, self._new_entry_id, self.now_s)
            self._write(connection, found, opened, log)
            yield SalvagedAgent(
                agent_id,
                opened,
                agent_id in identities.remade,
                log.n_kept,
                log.n_skipped,
                log.n_unchecked,
            )
        for agent_id in identities.left_out:
            verdict = find(self.wreck, listing, agent_id).verdict
            yield SalvagedAgent(agent_id, None, False, 0, _n_rows(verdict))

    def _new_entry_id(self) -> EntryId:
        return EntryId(self.ids.new("ent"))

    def _write(
        self, connection: sqlite3.Connection, found: Found, opened: AgentOpened, log: MendedLog
    ) -> None:
        """The log with a chain of its own, and its line in the listing as far as that was readable."""
        stream = Stream(opened.agent_id, 0, {}, lambda _: None)
        (part,) = submission([(stream, tuple(log.records))], lambda _: None).parts
        rows, head = [], first_link(opened.agent_id)
        for seq, record in enumerate(log.encoded):
            head = link(head, record)
            rows.append((opened.agent_id, seq, record.kind, record.version, record.data, head))
        raw = found.raw or {}
        created, updated, archived = (raw.get(name) for name in ("created_at", "updated_at", "archived_at"))
        listed = {
            **{name: getattr(opened, name) for name in ("agent_id", "root_id", "parent_id", "name")},
            "role": opened.role.value,
            "created_at": created if isinstance(created, float) else opened.at,
            "updated_at": updated if isinstance(updated, float) else self.now_s,
            "n_records": len(rows),
            "title": part.title if found.row is None else found.row.title,
            "head": head,
            "archived_at": archived if isinstance(archived, float) else None,
        }
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(
            f"INSERT INTO agents ({', '.join(listed)}) VALUES ({', '.join('?' for _ in listed)})",
            tuple(listed.values()),
        )
        connection.executemany(
            "INSERT INTO records (agent_id, seq, kind, version, data, hash) VALUES (?, ?, ?, ?, ?, ?)", rows
        )
        connection.execute("COMMIT")

    def _artifacts(self, connection: sqlite3.Connection, references: set[str]) -> tuple[int, tuple[str, ...]]:
        """The number of those that are whole, and the ids of those that are not or not there."""
        kept: set[str] = set()
        lost = set(references)
        for artifact_id, data in self.wreck.artifacts():
            found = None if isinstance(data, str) else hashlib.sha256(data).hexdigest()
            if isinstance(data, bytes) and found is not None and found in references | {artifact_id}:
                kept.add(found)
                self._put_artifact(connection, found, data)
            elif _ARTIFACT_ID.fullmatch(artifact_id):
                lost.add(artifact_id)
        for artifact_id in sorted(lost - kept):
            for data in self.carve().artifact(artifact_id):
                if hashlib.sha256(data).hexdigest() == artifact_id:
                    kept.add(artifact_id)
                    self._put_artifact(connection, artifact_id, data)
                    break
        return len(kept), tuple(sorted(lost - kept))

    def _put_artifact(self, connection: sqlite3.Connection, artifact_id: str, data: bytes) -> None:
        connection.execute(
            "INSERT OR IGNORE INTO artifacts VALUES (?, ?, ?)", (artifact_id, data, self.now_s)
        )

    def _rest(self, connection: sqlite3.Connection, lost: tuple[str, ...]) -> None:
        lost_before = [key for key in self.wreck.meta() if key.startswith(LOST_ARTIFACT)]
        keys = dict.fromkeys([*lost_before, *(LOST_ARTIFACT + artifact_id for artifact_id in lost)])
        connection.executemany(
            "INSERT OR REPLACE INTO meta VALUES (?, ?)", [(key, str(self.now_s)) for key in keys]
        )
        connection.executemany("INSERT OR REPLACE INTO leases VALUES (?, ?)", self.wreck.epochs().items())


def _n_rows(verdict: Verdict) -> int:
    return len(verdict.kept) + sum(gap.n_records for gap in verdict.gaps)


def _unused(path: Path, now_s: float) -> Path:
    """A name beside the store that tells the time and that nobody has."""
    at = datetime.fromtimestamp(now_s, UTC).strftime("%Y-%m-%dT%H-%M-%SZ")
    kept = path.with_name(f"{path.name}.damaged-{at}")
    n = 2
    while kept.exists():
        kept, n = path.with_name(f"{path.name}.damaged-{at}-{n}"), n + 1
    return kept
