"""Agents and records that the tests of stores write."""

from actors.address import Address, AgentId
from actors.envelope import Envelope, EnvelopeId, EnvelopeKind, SenderRole
from actors.records import AgentOpened, AgentRole, AgentState, EnvelopeAccepted, Record, StateChanged
from host.store.ports import LoadedLog

ROOT = AgentId("a-root")
OTHER = AgentId("a-other")


def opened(agent_id: AgentId = ROOT, root_id: AgentId | None = None) -> AgentOpened:
    """The first record of a main agent, or of a child when another root is named."""
    root = root_id or agent_id
    is_root = root == agent_id
    return AgentOpened(
        agent_id=agent_id,
        name=Address(f"name-of-{agent_id}"),
        role=AgentRole.MAIN if is_root else AgentRole.SUBAGENT,
        root_id=root,
        parent_id=None if is_root else root,
        spec={"model": "local:tiny"},
        cwd="/somewhere",
        at=1.0,
    )


def said(*texts: str) -> tuple[Record, ...]:
    """One record a text."""
    return tuple(StateChanged(AgentState.IDLE, text, 2.0) for text in texts)


def texts_of(log: LoadedLog) -> list[str]:
    """What `said` put into the log."""
    return [stored.record.reason for stored in log.records if isinstance(stored.record, StateChanged)]


def accepted(body: str, role: SenderRole = SenderRole.USER) -> EnvelopeAccepted:
    return EnvelopeAccepted(
        Envelope(
            id=EnvelopeId("e1"),
            sender=Address("user"),
            sender_role=role,
            recipient=Address("main"),
            kind=EnvelopeKind.ASK,
            body=body,
            sent_at=1.0,
            sequence=1,
        )
    )


class Answers:
    """What was called back, in order: a label and the error or None."""

    def __init__(self) -> None:
        self.heard: list[tuple[object, Exception | None]] = []

    def hear(self, label: object, error: Exception | None) -> None:
        self.heard.append((label, error))

    @property
    def labels(self) -> list[object]:
        return [label for label, _ in self.heard]

    @property
    def error_types(self) -> list[type[Exception] | None]:
        return [None if error is None else type(error) for _, error in self.heard]
