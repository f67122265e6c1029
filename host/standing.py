"""What each living agent does and may do now, and who hears when that changes."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from actors.events import AgentChanged
from actors.ports import Clock
from actors.records import AgentState, StateChanged
from host.directory import Directory
from host.hub import Hub
from host.living import Living
from host.permissions import PermissionMode, narrowest


@dataclass(frozen=True, slots=True)
class Standing:
    """States and modes of all agents of a host."""

    directory: Directory
    hub: Hub
    clock: Clock

    def mode_of(self, living: Living) -> PermissionMode:
        """The mode that holds for an agent now: never wider than that of anybody above it."""
        mode = living.mode
        while living.parent_id is not None and (parent := self.directory.get(living.parent_id)) is not None:
            mode, living = narrowest(mode, parent.mode), parent
        return mode

    @contextmanager
    def waiting(self, living: Living, reason: str) -> Iterator[None]:
        """The agent waits, for a child or a person, as long as the block runs."""
        self.begin_wait(living, reason)
        try:
            yield
        finally:
            self.end_wait(living, reason)

    def begin_wait(self, living: Living, reason: str) -> None:
        living.waits_for.append(reason)
        self.set_state(living, AgentState.WAITING, reason)

    def end_wait(self, living: Living, reason: str) -> None:
        """It goes on when nothing keeps it any more; a program may have waited for an agent at rest."""
        living.waits_for.remove(reason)
        if not living.waits_for:
            self.set_state(living, AgentState.RUNNING if living.actor.is_working else AgentState.IDLE, "")

    def set_state(self, living: Living, state: AgentState, reason: str) -> None:
        if living.state is state:
            return
        living.state, living.reason = state, reason
        parent = None if living.parent_id is None else self.directory.get(living.parent_id)
        parent_name = None if parent is None else parent.name
        self.hub.emit(AgentChanged(living.name, living.id, parent_name, state, reason))

    def end(self, living: Living, state: AgentState, reason: str) -> None:
        """An agent came to its end (it can be continued by a message); logged, then told."""
        ledger = living.actor.parts.ledger
        ledger.submit(StateChanged(state, reason, self.clock.now_s()))
        self.set_state(living, state, reason)
