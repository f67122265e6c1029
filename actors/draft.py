"""A message as its sender writes it."""

from dataclasses import dataclass

from pydantic import JsonValue

from actors.address import Address
from actors.envelope import EnvelopeId, EnvelopeKind, SenderRole, check_size
from actors.errors import BadInput


@dataclass(frozen=True, slots=True)
class Draft:
    """A message before the mailbox has numbered it; fields as in `Envelope`.

    Raises:
        BadInput: there is nothing in it; no model could be sent that.
        BodyTooLarge: over 200,000 bytes.
    """

    id: EnvelopeId
    sender: Address
    sender_role: SenderRole
    kind: EnvelopeKind
    body: str
    sent_at: float
    seen_sequence: int = 0
    hops: int = 0
    task_id: str | None = None
    model: str | None = None
    result_schema: dict[str, JsonValue] | None = None
    expires_at: float | None = None

    def __post_init__(self) -> None:
        if not self.body.strip():
            raise BadInput(f"a message needs some text; the one from {self.sender} has none")
        check_size(self.body, f"from {self.sender}")
