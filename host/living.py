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

    `lease` belongs to roots. `mode` is its own; those above it narrow it.
    `call_id` and `turn_id` name the call that started it, and the turn of that.
    `waits_for` says what keeps it, where several calls wait side by side.
    `is_newly_lost` says that its host ended in the middle of its turn.
    `finished` is set when its task has ended, which `scope` can force.
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
    call_id: str = ""
    turn_id: TurnId | None = None
    is_newly_lost: bool = False
    waits_for: list[str] = field(default_factory=list)
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    finished: anyio.Event = field(default_factory=anyio.Event)

    @property
    def id(self) -> AgentId:
        return self.actor.id

    @property
    def name(self) -> Address:
        return self.actor.name

    @property
    def logged_name(self) -> Address:
        """The name that it was started with."""
        opened = self.actor.parts.ledger.fold.opened
        return self.name if opened is None else opened.name
