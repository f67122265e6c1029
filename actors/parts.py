"""What one living agent is put together from; shared by its loop, its turns and its tools."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from actors.address import Address
from actors.agent import Agent, Limits
from actors.compose import Composer
from actors.events import SessionEvent
from actors.history import Entry, EntryId
from actors.ledger import Ledger
from actors.mailbox import Mailbox
from actors.ports import ResolvedModel, Services
from actors.records import AgentOpened, GoalChanged, TurnEnded
from actors.tools.model import Tool

PrefixSource = Callable[[ResolvedModel, tuple[Tool, ...]], tuple[Entry, ...]]
"""Builds the entries in front of the conversation for the model and tools of a turn."""


@dataclass(slots=True)
class Parts:
    """`path` names the agent from its root.

    `untold_goal` is told to the model when the running turn has ended.

    `on_turn_began` and `on_turn_ended` tell the host, the latter once the end is stored, and
    whether the coordinator has to be told of it.
    """

    agent: Agent
    opened: AgentOpened
    path: str
    ledger: Ledger
    mailbox: Mailbox
    services: Services
    prefix: PrefixSource
    on_turn_began: Callable[[], None]
    on_turn_ended: Callable[[TurnEnded, bool], None]
    limits: Limits
    is_plan_mode: Callable[[], bool] = lambda: False
    is_human_waiting: bool = True
    peers_may_use_system_role: bool = False
    composer: Composer = field(default_factory=Composer)
    files_read: dict[Path, tuple[int, int]] = field(default_factory=dict)
    untold_goal: GoalChanged | None = None

    @property
    def name(self) -> Address:
        return self.opened.name

    @property
    def history(self) -> list[Entry]:
        return self.ledger.fold.history

    def emit(self, event: SessionEvent) -> None:
        self.services.emit(event)

    def new_entry_id(self) -> EntryId:
        return EntryId(self.services.ids.new("ent"))

    def now_s(self) -> float:
        return self.services.clock.now_s()
