"""Which sessions `callboard delete` is about. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from actors.errors import BadInput
from host.cli.amounts import age_s
from host.cli.finding import find_session
from host.cli.stored import StoredSession


@dataclass(frozen=True, slots=True)
class Choice:
    """Sessions by name, or all that are old enough; `is_archived`: only those in the archive."""

    names: tuple[str, ...]
    older_than_s: float
    is_archived: bool

    @classmethod
    def of(cls, names: Sequence[str], older_than: str | None, *, is_archived: bool) -> Self:
        """What the arguments say.

        Raises:
            BadInput: nothing, or both one and the other.
        """
        if names and (older_than is not None or is_archived):
            raise BadInput(
                "sessions are chosen either by name or by --older-than and --archived, not by both"
            )
        if not names and older_than is None and not is_archived:
            raise BadInput("which sessions? Name them, or say --older-than AGE, --archived or both")
        return cls(tuple(names), age_s(older_than, "--older-than") if older_than else 0.0, is_archived)

    def among(self, sessions: Sequence[StoredSession], now_s: float) -> tuple[StoredSession, ...]:
        """Those of the sessions that are meant, in their order.

        Raises:
            UnknownSession: one that was named is not there, or is not the only one of its name.
        """
        if not self.names:
            return tuple(
                session
                for session in sessions
                if session.last_s <= now_s - self.older_than_s
                and (session.is_archived or not self.is_archived)
            )
        roots = [session.root for session in sessions]
        ids = {find_session(roots, name, prefers_archived=None).agent_id for name in self.names}
        return tuple(session for session in sessions if session.root.agent_id in ids)
