"""What the host says to a model so that it goes on, and of calls that are not run."""

from actors.history import Authority, MessageEntry, Origin
from actors.parts import Parts
from actors.records import EntriesAppended
from providers.model import Message, Role

CONTINUE = (
    "Your answer was cut off at the output limit. Go on exactly where it stopped and repeat nothing of it."
)
GO_ON = "Go on."
CUT = "This call was cut off at the output limit and was not run. Ask for it again with shorter arguments."
OVER_LIMIT = "This call was not run: the turn has reached its limit of tool calls."


def nudge(parts: Parts, text: str) -> None:
    """An entry of the host that makes the model go on; it stays where it is."""
    entry = MessageEntry(
        id=parts.new_entry_id(),
        message=Message(Role.USER, text),
        origin=Origin.HOST,
        authority=Authority.HOST,
        source="legacy_synthetic",
        at=parts.now_s(),
    )
    parts.ledger.submit(EntriesAppended((entry,)))
