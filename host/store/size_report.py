"""Who takes how much room in a store. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet

from actors.address import AgentId
from host.store.ports import AgentRow
from host.store.sizes import FileSize, SessionSize, StoreSizes


def sizes_of(
    rows: Iterable[AgentRow],
    record_bytes: Mapping[AgentId, int],
    references: Mapping[AgentId, AbstractSet[str]],
    artifact_bytes: Mapping[str, int],
    file: FileSize,
) -> StoreSizes:
    """The report, of agents by their ids and of artifacts by theirs."""
    trees: dict[AgentId, list[AgentRow]] = {}
    for row in rows:
        trees.setdefault(row.root_id, []).append(row)
    root_of = {row.agent_id: root_id for root_id, tree in trees.items() for row in tree}
    referred: dict[AgentId, set[str]] = {}
    for agent_id, artifact_ids in references.items():
        referred.setdefault(root_of.get(agent_id, agent_id), set()).update(artifact_ids)
    n_users = Counter(artifact_id for artifact_ids in referred.values() for artifact_id in artifact_ids)
    sessions = []
    for root_id, tree in trees.items():
        own = shared = 0
        for artifact_id in referred.get(root_id, ()):
            if n_users[artifact_id] == 1:
                own += artifact_bytes[artifact_id]
            else:
                shared += artifact_bytes[artifact_id]
        n_records = sum(row.n_records for row in tree)
        n_bytes = sum(record_bytes.get(row.agent_id, 0) for row in tree)
        sessions.append(SessionSize(root_id, len(tree), n_records, n_bytes, own, shared))
    sessions.sort(key=lambda size: (-size.own_bytes, size.root_id))
    unreferred = [n_bytes for artifact_id, n_bytes in artifact_bytes.items() if artifact_id not in n_users]
    return StoreSizes(
        tuple(sessions),
        len(artifact_bytes),
        sum(artifact_bytes.values()),
        len(unreferred),
        sum(unreferred),
        file,
    )
