"""Large texts of agents, kept in the host's store."""

from host.store.ports import Store


class StoredArtifacts:
    """Implements `actors.ports.Artifacts` on the store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def put(self, data: bytes) -> str:
        return await self._store.put_artifact(data)

    async def get(self, artifact_id: str) -> bytes | None:
        return await self._store.get_artifact(artifact_id)
