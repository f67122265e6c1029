"""With whose authority an agent acts right now, told from its history."""

from collections.abc import Sequence
from dataclasses import dataclass

from actors.history import Authority, Entry, MessageEntry, Presentation

_STEERING = {Authority.USER, Authority.COORDINATOR, Authority.HOST}


@dataclass(frozen=True, slots=True)
class Acting:
    """The authority of the messages that led here, and the agents among their senders."""

    authority: Authority
    caused_by: tuple[str, ...]


def acting(history: Sequence[Entry]) -> Acting:
    """The lesser authority of the last message of a human or coordinator and of what peers sent since."""
    authority = Authority.USER
    senders: list[str] = []
    for entry in reversed(history):
        if not isinstance(entry, MessageEntry) or entry.envelope_id is None:
            continue
        if entry.authority in _STEERING:
            authority = min(authority, entry.authority)
            break
        if entry.presentation in _PEER:
            authority = Authority.PEER
            if entry.sender is not None and entry.sender not in senders:
                senders.append(entry.sender)
    return Acting(authority, tuple(reversed(senders)))


_PEER = {Presentation.SUBAGENT_REPLY, Presentation.SUBAGENT_REPLY_STEER}
