"""One message between a sender and an agent: plain data, whatever carries it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NewType

from pydantic import JsonValue

from actors.address import Address
from actors.errors import BodyTooLarge

EnvelopeId = NewType("EnvelopeId", str)

MAX_BODY_BYTES = 200_000
PREVIEW_CHARACTERS = 200


class SenderRole(StrEnum):
    """What the sender is to the recipient; it decides presentation and authority."""

    USER = "user"
    COORDINATOR = "coordinator"
    PEER = "peer"
    HOST = "host"


class EnvelopeKind(StrEnum):
    """`ask` wants a turn of its own; `tell` joins a running turn; `notification` is the host's."""

    ASK = "ask"
    TELL = "tell"
    NOTIFICATION = "notification"


@dataclass(frozen=True, slots=True)
class Envelope:
    """A message as it is accepted, stored and taken.

    `sequence` counts from 1 for each pair of sender and recipient.
    `seen_sequence` is the last message of the recipient that the sender had
    seen when it wrote (crossed messages). `hops` counts agent messages that
    led here since the last human or coordinator. `result_schema` asks for a
    structured answer; `model` switches the model of a steered turn; `task_id`
    names the background task that a notification is about. Times are seconds
    since the epoch.
    """

    id: EnvelopeId
    sender: Address
    sender_role: SenderRole
    recipient: Address
    kind: EnvelopeKind
    body: str
    sent_at: float
    sequence: int
    seen_sequence: int = 0
    hops: int = 0
    task_id: str | None = None
    model: str | None = None
    result_schema: dict[str, JsonValue] | None = None
    expires_at: float | None = None

    def __post_init__(self) -> None:
        check_size(self.body, f"from {self.sender} to {self.recipient}")

    @property
    def wants_report(self) -> bool:
        """A coordinator that only tells does not wait: it is notified of the turn that takes this."""
        return self.sender_role is SenderRole.COORDINATOR and self.kind is EnvelopeKind.TELL

    @property
    def preview(self) -> str:
        """The first characters of the body, on one line."""
        line = " ".join(self.body.split())
        return line if len(line) <= PREVIEW_CHARACTERS else line[: PREVIEW_CHARACTERS - 1] + "…"


def check_size(body: str, whose: str) -> None:
    """Raises BodyTooLarge for a body over the limit, with both sizes."""
    size = len(body.encode("utf-8", "surrogatepass"))
    if size > MAX_BODY_BYTES:
        raise BodyTooLarge(
            f"a message body holds at most {MAX_BODY_BYTES:,} bytes of UTF-8; this one has {size:,} ({whose})"
        )


class ReceiptState(StrEnum):
    """How far a message has come; the last four are final."""

    ACCEPTED = "accepted"
    QUEUED = "queued"
    TAKEN = "taken"
    PRESENTED = "presented"
    ANSWERED = "answered"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"
    DEAD = "dead"
