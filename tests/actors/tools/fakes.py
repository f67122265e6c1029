"""A host that only remembers what tools asked of it."""

from dataclasses import dataclass, field
from pathlib import Path

from actors.address import Address, AgentId
from actors.envelope import Envelope, EnvelopeId, EnvelopeKind, SenderRole
from actors.errors import UnknownRecipient
from actors.events import SessionEvent
from actors.ports import (
    ChildReport,
    PermissionAnswer,
    PermissionQuestion,
    ResolvedModel,
    Services,
    SpawnOrder,
)
from actors.records import AgentState
from actors.tools import ToolContext


@dataclass
class FakeHost:
    """Every port in one; `report` is what a child comes to."""

    report: ChildReport = field(
        default_factory=lambda: ChildReport(AgentId("a2"), Address("helper"), AgentState.COMPLETED, "done")
    )
    orders: list[SpawnOrder] = field(default_factory=list)
    sent: list[Envelope] = field(default_factory=list)
    artifacts: dict[str, bytes] = field(default_factory=dict)

    async def spawn(self, parent: AgentId, call_id: str, order: SpawnOrder) -> ChildReport:
        self.orders.append(order)
        return self.report

    async def send(
        self,
        sender: AgentId,
        recipient: str,
        body: str,
        *,
        kind: EnvelopeKind = EnvelopeKind.TELL,
        hops: int = 0,
    ) -> Envelope:
        if recipient == "nobody":
            raise UnknownRecipient(f"no agent of this host is called {recipient!r}")
        number = len(self.sent) + 1
        envelope = Envelope(
            EnvelopeId(f"e{number}"),
            Address(sender),
            SenderRole.PEER,
            Address(recipient),
            kind,
            body,
            0.0,
            number,
            hops=hops,
        )
        self.sent.append(envelope)
        return envelope

    async def put(self, data: bytes) -> str:
        artifact_id = f"art{len(self.artifacts) + 1}"
        self.artifacts[artifact_id] = data
        return artifact_id

    async def get(self, artifact_id: str) -> bytes | None:
        return self.artifacts.get(artifact_id)

    async def decide(self, question: PermissionQuestion) -> PermissionAnswer:
        return PermissionAnswer(True, "")

    def resolve(self, name: str | None) -> ResolvedModel:
        raise AssertionError("no tool resolves a model")

    async def sharpen(self, model: ResolvedModel) -> ResolvedModel:
        return model

    def now_s(self) -> float:
        return 0.0

    def local_date(self) -> str:
        return "2027-01-15"

    def new(self, prefix: str) -> str:
        return f"{prefix}_1"

    def emit(self, event: SessionEvent) -> None:
        raise AssertionError("no tool emits events")

    def services(self) -> Services:
        return Services(self, self, self, self, self, self, self, self.emit, {})


def context_in(cwd: Path, host: FakeHost | None = None) -> ToolContext:
    """The context of one call; one object per agent, so that it remembers what was read."""
    return ToolContext(cwd, "a1", "main", "call_1", services=host.services() if host else None)
