"""What the host knows of an agent that lives on it."""

from dataclasses import dataclass, field

import anyio

from actors.actor import Actor
from actors.address import Address, AgentId
from actors.context import Snapshot
from actors.records import AgentRole, AgentState, TurnId
from host.permissions import PermissionMode
from host.store.ports import Lease


@dataclass(slots=True)
class Living:
    """One agent: its actor and its place in the tree.

    `lease` belongs to roots. `told_turns` are those whose end the parent has
    been told. `finished` is set when its task has ended, which
    `scope` can force.
    """

    actor: Actor
    role: AgentRole
    root_id: AgentId
    parent_id: AgentId | None
    depth: int
    snapshot: Snapshot
    mode: PermissionMode
    lease: Lease | None = None
    state: AgentState = AgentState.IDLE
    reason: str = ""
    description: str = ""
    is_background: bool = False
    is_newly_lost: bool = False
    child_ids: list[AgentId] = field(default_factory=list)
    told_turns: set[TurnId] = field(default_factory=set)
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    finished: anyio.Event = field(default_factory=anyio.Event)

    @property
    def id(self) -> AgentId:
        return self.actor.id

    @property
    def name(self) -> Address:
        return self.actor.name
