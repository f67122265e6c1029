"""Where logs and artifacts are kept: in memory, or in one SQLite file."""

from host.store.codec import event_to_json
from host.store.memory import MemoryStore
from host.store.ports import AgentLog, AgentRow, Lease, LoadedLog, Store, StoredRecord
from host.store.sqlite import SqliteStore

__all__ = [
    "AgentLog",
    "AgentRow",
    "Lease",
    "LoadedLog",
    "MemoryStore",
    "SqliteStore",
    "Store",
    "StoredRecord",
    "event_to_json",
]
