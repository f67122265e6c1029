"""Sessions that begin with a copy of another one's history."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import anyio

from actors.address import AgentId
from actors.errors import BadInput
from actors.forking import copied
from actors.records import AgentOpened, ForkSource, Record, TurnId
from actors.state import folded
from actors.tools.model import Tool
from host.crew import Crew
from host.errors import UnknownSession
from host.living import Living
from host.resuming import Resuming


@dataclass(frozen=True, slots=True)
class Forking:
    """Makes forks and brings them to life."""

    crew: Crew
    resuming: Resuming

    async def fork(
        self, source_id: AgentId, after: TurnId | None, name: str | None, tools: Sequence[Tool]
    ) -> Living:
        """See `Host.fork`. The copy is stored as one commit; cancelled before, there is none."""
        crew, services = self.crew, self.crew.services
        source = crew.directory.get(source_id)
        fold = folded((await crew.store.load(source_id)).plain)
        if fold.opened is None:
            raise UnknownSession(f"the log of {source_id} does not say who it is")
        if fold.opened.parent_id is not None:
            raise BadInput(f"{fold.opened.name} is a subagent; fork the session that it belongs to")
        copy = copied(fold, after, services.ids, services.clock.now_s())
        root_id = AgentId(services.ids.new("sess"))
        new_name = crew.directory.claim_like(fold.opened.name) if name is None else crew.directory.claim(name)
        opened = replace(
            fold.opened,
            agent_id=root_id,
            root_id=root_id,
            name=new_name,
            at=services.clock.now_s(),
            forked_from=ForkSource(source_id, copy.after),
        )
        own = () if source is None else source.actor.parts.agent.tools
        given = {tool.name: tool for tool in (*own, *tools)}
        try:
            return await self._begin(opened, copy.records, tuple(given.values()))
        except BaseException:
            crew.directory.release(new_name)
            raise

    async def _begin(self, opened: AgentOpened, records: Sequence[Record], tools: Sequence[Tool]) -> Living:
        lease = await self.crew.store.lease(opened.root_id)
        try:
            await self.crew.store.create(opened, *records)
            return (await self.resuming.revive(lease, tools, None, claimed=opened.name))[0]
        except BaseException:
            with anyio.CancelScope(shield=True):
                await lease.release()
            raise
