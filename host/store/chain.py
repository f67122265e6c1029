"""The hash chain of a log: each record's hash covers the one before it.

A record that was changed, left out, moved or taken from another log breaks the
chain at its place. SQLite itself would read it without complaint.
"""

import hashlib
from collections.abc import Iterable, Iterator

from actors.address import AgentId
from host.errors import StoreDamaged
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


def checked(
    agent_id: AgentId,
    n_records: int,
    head: bytes | None,
    records: Iterable[tuple[int, EncodedRecord]],
    hashes: Iterable[bytes | None],
) -> Iterator[tuple[int, EncodedRecord]]:
    """The records of a log with their places, each when its hash was found to follow from those before it.

    `head` is the hash of the last record by the listing. Records behind a
    missing one are not looked at: whoever counts them stops there.

    Raises:
        StoreDamaged: the first record that is not what was written.
    """
    seq, last = 0, first_link(agent_id)
    for (found_seq, record), found in zip(records, hashes, strict=True):
        if found_seq == seq:
            # A broken row may hold anything; what is not bytes is not what was written.
            last = link(last, record) if isinstance(record.data, bytes) else b""
            if found != last or not last:
                raise StoreDamaged(
                    f"record {seq} of agent {agent_id} is not what was written: its hash does not follow from"
                    f" {f'record {seq - 1}' if seq else 'the agent'} and its content",
                    agent_id=agent_id,
                    seq=seq,
                )
        seq += 1
        yield found_seq, record
    if seq == n_records and head != last:
        raise StoreDamaged(
            f"the log of agent {agent_id} does not end as it was written: the hash of record {seq - 1}"
            " is not that of the last record in the listing",
            agent_id=agent_id,
            seq=max(seq - 1, 0),
        )
