"""A history may go on from what lies with its provider; what is about that cannot be judged here."""

from dataclasses import dataclass

from actors.checking.histories import History
from actors.history import MessageEntry
from providers.legality import Finding
from providers.model import Role

_ABOUT_WHAT_WAS_BEFORE = frozenset({"empty_request", "first_role"})


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Whether there is such a thing, and the numbers of the results that may answer calls in it."""

    is_there: bool
    results: frozenset[int]

    def has_to_do_with(self, finding: Finding) -> bool:
        """Might what stands there be what the finding misses?"""
        if finding.rule == "result_without_call":
            return finding.message_index in self.results
        return self.is_there and finding.rule in _ABOUT_WHAT_WAS_BEFORE


def elsewhere_of(history: History) -> Elsewhere:
    if not history.is_continued:
        return Elsewhere(False, frozenset())
    messages = [entry.message if isinstance(entry, MessageEntry) else None for entry in history.entries]
    called = {call.id for message in messages if message is not None for call in message.tool_calls}
    results = (
        at
        for at, message in enumerate(messages)
        if message is not None and message.role is Role.TOOL
        if message.tool_call_id is not None and message.tool_call_id not in called
    )
    return Elsewhere(True, frozenset(results))
