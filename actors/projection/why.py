"""Why an entry stands elsewhere in a request than in the history, or is not in it at all."""

from collections import defaultdict
from collections.abc import Mapping
from types import MappingProxyType

from actors.history import Entry, ReminderEntry
from actors.projection.align import Made
from actors.projection.model import Projection, RepairRule
from actors.reminders import LEGACY_SYNTHETIC, REGISTRY
from providers.model import Role

_LEFT_OUT: Mapping[RepairRule, str] = MappingProxyType(
    {
        RepairRule.EMPTY_MESSAGE: "it says nothing",
        RepairRule.RESULT_WITHOUT_CALL: "no call asked for this result",
        RepairRule.RESULT_DUPLICATE: "its call has a result already",
    }
)
_ELSEWHERE = "it stands elsewhere than where it was appended"


def rules_of(projection: Projection) -> Mapping[int, tuple[RepairRule, ...]]:
    """For every repaired entry what was done to it, each rule once."""
    rules: defaultdict[int, dict[RepairRule, None]] = defaultdict(dict)
    for repair in projection.repaired:
        rules[repair.entry][repair.rule] = None
    return {index: tuple(of_entry) for index, of_entry in rules.items()}


def why_moved(made: Made) -> dict[int, str]:
    """For every moved entry why it stands where it stands, in words for a person."""
    projection = made.projection
    if not projection.moved:
        return {}
    rules = rules_of(projection)
    moved = frozenset(projection.moved)
    why: dict[int, str] = {}
    highest = -1
    run_of_results = -1
    for message, sources in zip(projection.messages, projection.sources, strict=True):
        for index in moved.intersection(sources):
            if (reason := _by_repair(rules.get(index, ()))) is not None:
                why[index] = reason
            elif message.role is Role.SYSTEM:
                why[index] = _as_system(len(sources))
            elif index < run_of_results:
                why[index] = "it waits until the results of the answer are complete"
            elif _floats(made.entries[index]) and index > highest:
                why[index] = f"{made.entries[index].source} stands where its turn begins"
            elif made.options.mid_conversation_system:
                why[index] = "it waits until it interrupts nothing"
            else:
                why[index] = _ELSEWHERE
        if message.role is Role.TOOL:
            run_of_results = max(run_of_results, *sources, -1)
        elif message.role is Role.ASSISTANT:
            run_of_results = -1
        highest = max([highest, *(index for index in sources if index not in moved)])
    return why


def _by_repair(rules: tuple[RepairRule, ...]) -> str | None:
    if RepairRule.RESULT_MOVED in rules:
        return "a result stands right behind its call"
    if RepairRule.MOVED_BEHIND_RESULTS in rules:
        return "nothing may stand between a call and its results"
    return None


def _as_system(n_entries: int) -> str:
    if n_entries > 1:
        return f"{n_entries} reminders are joined into one system message"
    return "as a system message it waits until it interrupts nothing"


def _floats(entry: Entry) -> bool:
    row = REGISTRY.get(entry.source or "")
    if isinstance(entry, ReminderEntry):
        return row is not None and row.floats
    return entry.source == LEGACY_SYNTHETIC or (row is not None and row.message_floats)


def why_left_out(made: Made) -> dict[int, str]:
    """For every entry that is in no message why it is not, in the order of the history."""
    rules = rules_of(made.projection)
    sent = {index for sources in made.projection.sources for index in sources}
    return {
        index: next((_LEFT_OUT[rule] for rule in rules.get(index, ()) if rule in _LEFT_OUT), "left out")
        for index in range(len(made.entries))
        if index not in sent
    }
