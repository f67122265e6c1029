"""What an agent needs of the process around it. The host implements these; tests do too."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from pydantic import JsonValue

from actors.address import Address, AgentId
from actors.envelope import Envelope, EnvelopeKind
from actors.events import SessionEvent
from actors.history import Authority
from actors.permission import PermissionClass
from actors.records import AgentState, Record
from providers.correction import CorrectedCounter
from providers.model import ModelProfile
from providers.ports import Provider


class Log(Protocol):
    """The log of one agent, written by one writer.

    `submit` is synchronous: the order of calls is the order of the log, and
    the records of one call are stored together or not at all. `done` is
    called later (or at once, for a store in memory) on the loop's thread, in
    log order, with None or the error; it must not block.
    """

    def submit(self, records: tuple[Record, ...], done: Callable[[Exception | None], None]) -> None: ...


class Clock(Protocol):
    """Time as the host tells it; tests pass one that jumps."""

    def now_s(self) -> float:
        """Seconds since the epoch."""
        ...

    def local_date(self) -> str:
        """The local date, `YYYY-MM-DD`."""
        ...


@dataclass(frozen=True, slots=True)
class PermissionQuestion:
    """May this agent run this call? `agent_path` names it from its root: `main/reviewer`."""

    agent_id: AgentId
    agent_path: str
    call_id: str
    tool: str
    permission: PermissionClass
    is_read_only: bool
    input: JsonValue
    subject: str | None
    authority: Authority
    caused_by: tuple[Address, ...] = ()


@dataclass(frozen=True, slots=True)
class PermissionAnswer:
    """`reason` is read by the model when the answer is no."""

    is_allowed: bool
    reason: str


class Permissions(Protocol):
    """Decides a call, asking a person where the mode and rules say so.

    Waits as long as a person takes; cancelling withdraws the question.
    """

    async def decide(self, question: PermissionQuestion) -> PermissionAnswer: ...


@dataclass(frozen=True, slots=True)
class SpawnOrder:
    """A child to start: `type` names an agent type, `model` None takes the parent's."""

    description: str
    prompt: str
    type: str | None = None
    name: str | None = None
    model: str | None = None
    is_background: bool = False


@dataclass(frozen=True, slots=True)
class ChildReport:
    """What a foreground child came to, or, of a background one, that it runs."""

    agent_id: AgentId
    name: Address
    state: AgentState
    text: str


class Spawner(Protocol):
    """Starts children.

    Raises:
        ActorError: a spawn limit, an unknown type or model; the model reads the text.
    """

    async def spawn(self, parent: AgentId, call_id: str, order: SpawnOrder) -> ChildReport: ...


class Postbox(Protocol):
    """Sends messages of an agent to others by name.

    Raises:
        UnknownRecipient, ActorStopped, MailboxFull: the model reads the text.
    """

    async def send(
        self,
        sender: AgentId,
        recipient: str,
        body: str,
        *,
        kind: EnvelopeKind = EnvelopeKind.TELL,
        hops: int = 0,
    ) -> Envelope: ...


@dataclass(frozen=True, slots=True)
class ResolvedModel:
    """`name` is the full `provider:model`; the others are what it stands for."""

    name: str
    provider: Provider
    profile: ModelProfile
    counter: CorrectedCounter


class Models(Protocol):
    """Model names as providers.

    Raises:
        ModelNotFound, AuthenticationFailed: and what to do about it.
    """

    def resolve(self, name: str | None) -> ResolvedModel: ...

    async def sharpen(self, model: ResolvedModel) -> ResolvedModel:
        """The same model with the best counter there is; asked for when a request gets large."""
        ...


class Artifacts(Protocol):
    """Large texts by reference."""

    async def put(self, data: bytes) -> str:
        """Stores the bytes and gives their id (content addressed)."""
        ...

    async def get(self, artifact_id: str) -> bytes | None: ...


class Ids(Protocol):
    """Fresh ids, unique for ever."""

    def new(self, prefix: str) -> str: ...


@dataclass(frozen=True, slots=True)
class Services:
    """Everything an agent has of its host. `emit` must not block."""

    models: Models
    permissions: Permissions
    spawner: Spawner
    postbox: Postbox
    artifacts: Artifacts
    clock: Clock
    ids: Ids
    emit: Callable[[SessionEvent], None]
    environment: Mapping[str, str]
