"""The hash chain of a log: each record's hash covers the one before it.

A record that was changed, left out, moved or taken from another log breaks the
chain at its place. SQLite itself would read it without complaint.
"""

import hashlib

from actors.address import AgentId
from host.store.codec import EncodedRecord

HASH_BYTES = 32


def first_link(agent_id: AgentId) -> bytes:
    """What the chain of this agent's log begins with, before its first record."""
    return hashlib.sha256(b"callboard log\0" + agent_id.encode("utf-8", "surrogatepass")).digest()


def link(previous: bytes, record: EncodedRecord) -> bytes:
    """The hash of a record behind the hash of the record before it: SHA-256, 32 bytes."""
    digest = hashlib.sha256(previous)
    digest.update(f"{record.kind}\0{record.version}\0".encode("utf-8", "surrogatepass"))
    digest.update(record.data)
    return digest.digest()
