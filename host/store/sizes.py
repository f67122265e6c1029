"""How much room sessions take in a store, and what removing some of it gave. Pure."""

from dataclasses import dataclass

from actors.address import AgentId


@dataclass(frozen=True, slots=True)
class SessionSize:
    """One session with its whole tree.

    `artifact_bytes` are those of artifacts that no other session refers to,
    `shared_bytes` those of the others that it refers to.
    """

    root_id: AgentId
    n_agents: int
    n_records: int
    record_bytes: int
    artifact_bytes: int
    shared_bytes: int

    @property
    def own_bytes(self) -> int:
        """What goes with the session when it is deleted."""
        return self.record_bytes + self.artifact_bytes


@dataclass(frozen=True, slots=True)
class FileSize:
    """The files of a store; `free_bytes` of the main file hold nothing. All 0 in memory."""

    file_bytes: int = 0
    wal_bytes: int = 0
    free_bytes: int = 0


@dataclass(frozen=True, slots=True)
class StoreSizes:
    """The sessions, largest first, and the store that they lie in; "unreferred": nothing refers to them."""

    sessions: tuple[SessionSize, ...]
    n_artifacts: int
    artifact_bytes: int
    n_unreferred: int
    unreferred_bytes: int
    file: FileSize


@dataclass(frozen=True, slots=True)
class Removed:
    """What was taken out of a store.

    Artifacts that nothing refers to stay where they may be about to be referred
    to; `n_spared` counts them. `is_wal_empty`: nothing of what was removed is in
    the write-ahead log any more; else somebody was reading.
    """

    n_agents: int = 0
    n_records: int = 0
    record_bytes: int = 0
    n_artifacts: int = 0
    artifact_bytes: int = 0
    n_spared: int = 0
    spared_bytes: int = 0
    before: FileSize = FileSize()
    after: FileSize = FileSize()
    is_wal_empty: bool = True

    def and_also(self, later: "Removed") -> "Removed":
        """Both together; the files are as the later one left them."""
        return Removed(
            self.n_agents + later.n_agents,
            self.n_records + later.n_records,
            self.record_bytes + later.record_bytes,
            self.n_artifacts + later.n_artifacts,
            self.artifact_bytes + later.artifact_bytes,
            self.n_spared + later.n_spared,
            self.spared_bytes + later.spared_bytes,
            self.before,
            later.after,
            later.is_wal_empty,
        )
