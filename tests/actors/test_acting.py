"""With whose authority an agent acts."""

import pytest

from actors.acting import acting
from actors.history import Authority, Entry, EntryId, MessageEntry, Origin, Presentation, authority_of
from providers.model import Message, Role


def heard(origin: Origin, presentation: Presentation | None = None, sender: str = "x") -> Entry:
    return MessageEntry(
        id=EntryId("e"),
        message=Message(Role.USER, "words"),
        origin=origin,
        authority=authority_of(origin),
        presentation=presentation,
        envelope_id="m",
        sender=sender,
    )


USER = heard(Origin.USER)
COORDINATOR = heard(Origin.COORDINATOR, Presentation.COORDINATOR_INPUT)
PEER = heard(Origin.PEER_AGENT, Presentation.SUBAGENT_REPLY, "ann")
OTHER_PEER = heard(Origin.PEER_AGENT, Presentation.SUBAGENT_REPLY_STEER, "bob")
NOTIFICATION = MessageEntry(
    id=EntryId("e"),
    message=Message(Role.USER, "done"),
    origin=Origin.HOST,
    authority=Authority.DATA,
    presentation=Presentation.TASK_NOTIFICATION,
    envelope_id="m",
    sender="host",
)
ANSWER = MessageEntry(EntryId("e"), Message(Role.ASSISTANT, "yes"), Origin.MODEL, Authority.DATA)


@pytest.mark.parametrize(
    ("history", "authority", "caused_by"),
    [
        ([], Authority.USER, ()),
        ([USER, ANSWER], Authority.USER, ()),
        ([COORDINATOR, ANSWER], Authority.COORDINATOR, ()),
        ([USER, PEER, ANSWER], Authority.PEER, ("ann",)),
        ([USER, PEER, OTHER_PEER, PEER], Authority.PEER, ("bob", "ann")),
        ([USER, PEER, USER], Authority.USER, ()),
        ([COORDINATOR, PEER, COORDINATOR], Authority.COORDINATOR, ()),
        ([USER, NOTIFICATION], Authority.USER, ()),
        ([PEER], Authority.PEER, ("ann",)),
    ],
)
def test_it_is_the_lesser_of_the_last_principal_and_the_peers_since(
    history: list[Entry], authority: Authority, caused_by: tuple[str, ...]
) -> None:
    now = acting(history)
    assert now.authority is authority
    assert now.caused_by == caused_by
