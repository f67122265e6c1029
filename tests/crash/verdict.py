"""Whether a store holds what the processes that were killed over it had promised."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from actors.address import AgentId
from actors.envelope import EnvelopeId
from actors.history import Authority, EntryId, MessageEntry, Origin
from actors.records import (
    EntriesAppended,
    GoalChanged,
    Record,
    RequestMade,
    TurnEnded,
    TurnId,
)
from actors.sent import sent_request
from actors.state import AgentFold, folded
from host.ids import CountingIds
from host.recovery import closing_records
from host.store.ports import AgentRow
from providers.legality import check
from providers.model import Dialect, Message, Request, Role
from providers.scripted import SCRIPTED_PROFILE
from tests.crash.effects import Logs, problems_of_effects
from tests.crash.saying import Sayings, digest, options_of, projected
from tests.crash.told import (
    Answered,
    Fact,
    Forked,
    GoalSet,
    Heard,
    Noted,
    Ran,
    Sent,
    Spawned,
    Stored,
    Submitted,
    TakenBack,
)
from tests.host.judging import envelopes, faults, untold

_GONE = {"withdrawn", "dead"}
_AT_LEAST = {
    "accepted": {"accepted", "taken", "presented", "answered", *_GONE},
    "taken": {"taken", "presented", "answered"},
    "presented": {"presented", "answered"},
    "withdrawn": {"withdrawn"},
}


class _NoTime:
    def now_s(self) -> float:
        return 0.0

    def local_date(self) -> str:
        return "2027-01-15"


@dataclass(frozen=True, slots=True)
class Found:
    """A store behind a kill, what was told up to then, and how many records each log had before that life."""

    logs: Logs
    facts: Sequence[Fact]
    before: Mapping[str, int]
    life: int

    def of_this_life(self) -> Iterator[Fact]:
        return (fact for fact in self.facts if fact.life == self.life)


def problems_behind_a_kill(found: Found) -> list[str]:
    """Everything that is wrong, in words; nothing where all that was acknowledged is there."""
    closed = {agent_id: _closed(log) for agent_id, log in found.logs.items()}
    return [
        *_own(found.of_this_life()),
        *_no_prefix(found),
        *_missing(found),
        *_said_otherwise(found),
        *problems_of_effects(found.facts, closed),
        *(f"{a}: {problem}" for a, log in closed.items() for problem in (*faults(list(log)), *_illegal(log))),
    ]


def problems_at_rest(found: Found, rows: Sequence[AgentRow]) -> list[str]:
    """As above, for a store whose agents have worked off everything."""
    problems = problems_behind_a_kill(found)
    for agent_id, log in found.logs.items():
        if folded(log).turn is not None:
            problems.append(f"{agent_id}: a turn is open though all rests")
        problems.extend(f"{agent_id}: {problem}" for problem in _not_as_sent(log, found.facts))
    return [*problems, *untold(rows, found.logs)]


def _closed(log: Sequence[Record]) -> tuple[Record, ...]:
    """The log as a resume goes on with it."""
    return (*log, *closing_records(folded(log), CountingIds(), _NoTime()))


def _own(facts: Iterator[Fact]) -> list[str]:
    """What the life itself complained of."""
    return [f"{fact.word}: {fact.problem}" for fact in facts if isinstance(fact, Noted) and fact.problem]


def _no_prefix(found: Found) -> list[str]:
    """The store must hold the first so many submissions of the life, whole, and nothing else of it."""
    there = {agent_id: len(log) for agent_id, log in found.logs.items()}
    counts = Counter(found.before)
    submissions = [fact for fact in found.of_this_life() if isinstance(fact, Submitted)]
    for fact in submissions:
        if counts == there:
            return []
        counts[fact.agent_id] += fact.n_records
    if counts == there:
        return []
    return [f"no prefix of what was submitted: {dict(found.before)} and {submissions} gave {there}"]


def _missing(found: Found) -> list[str]:
    """What a caller had heard and the logs do not know."""
    folds = {agent_id: folded(log) for agent_id, log in found.logs.items()}
    receipts = {envelope_id: state for fold in folds.values() for envelope_id, state in fold.receipts.items()}
    ends = {
        (agent_id, record.turn_id): record.text
        for agent_id, log in found.logs.items()
        for record in log
        if isinstance(record, TurnEnded)
    }
    problems = []
    for fact in found.facts:
        match fact:
            case Heard():
                state = receipts.get(EnvelopeId(fact.envelope_id))
                if state is None or state.value not in _AT_LEAST[fact.state]:
                    problems.append(f"{fact} was heard, the log says {state}")
            case Answered():
                if ends.get((fact.agent_id, TurnId(fact.turn_id))) != fact.text:
                    problems.append(f"{fact} is not in the log")
            case Spawned():
                if not envelopes(list(found.logs.get(fact.agent_id, ()))):
                    problems.append(f"{fact}, but it has no task")
            case TakenBack():
                kept = {mark.turn_id for mark in folds[fact.agent_id].turns}
                if not kept.isdisjoint(fact.turn_ids):
                    problems.append(f"{fact}, but turns of it are in the history")
            case Forked():
                fold = folds.get(fact.agent_id, AgentFold())
                if fold.opened is None or fold.opened.forked_from is None:
                    problems.append(f"{fact}, but there is no copy")
            case GoalSet():
                log = found.logs[fact.agent_id]
                if not any(isinstance(r, GoalChanged) and r.text == fact.text for r in log):
                    problems.append(f"{fact}, but it is not in the log")
            case Stored():
                if len(found.logs.get(fact.agent_id, ())) < fact.n_records:
                    problems.append(f"{fact}, but there are fewer")
            case Submitted() | Ran() | Sent() | Noted():
                pass
    return problems


def _said_otherwise(found: Found) -> list[str]:
    """Places of a log behind which the live agent would have sent something else than a fold of it sends."""
    said: dict[AgentId, dict[int, str]] = {}
    for fact in found.of_this_life():
        if isinstance(fact, Stored):
            said.setdefault(fact.agent_id, {})[fact.n_records] = fact.says
    problems = []
    sayings = Sayings()
    for agent_id, by_place in said.items():
        fold = AgentFold()
        last = max(by_place)
        for record in found.logs.get(agent_id, ()):
            fold.apply(record)
            wanted = by_place.get(fold.n_records)
            is_same = wanted is None or sayings.says(agent_id, fold) == wanted
            if fold.n_records == last:
                is_same = is_same and digest(projected(fold).messages) == wanted
            if not is_same:
                problems.append(f"{agent_id}: the request behind record {fold.n_records} is another one")
    return problems


def _illegal(log: Sequence[Record]) -> list[str]:
    """What a provider would refuse in the request that answers the next question."""
    question = MessageEntry(
        EntryId("next"), Message(Role.USER, "And now?"), origin=Origin.USER, authority=Authority.USER
    )
    fold = folded((*log, EntriesAppended((question,))))
    messages = projected(fold).messages
    request = Request(SCRIPTED_PROFILE.name, messages, options_of(fold).tools)
    return [
        f"{dialect} would refuse the next request: {finding.text}"
        for dialect in Dialect
        for finding in check(request, dialect, SCRIPTED_PROFILE)
    ]


def _not_as_sent(log: Sequence[Record], facts: Sequence[Fact]) -> list[str]:
    """Requests that the log tells otherwise than the provider got them.

    The last one of each life may have been written down and never sent.
    """
    sent = {fact.digest for fact in facts if isinstance(fact, Sent)}
    n_lives = 1 + max((fact.life for fact in facts), default=0)
    n_requests = sum(isinstance(record, RequestMade) for record in log)
    requests = [sent_request(log, number) for number in range(1, n_requests + 1)]
    problems = [f"request {r.number} is made otherwise" for r in requests if not r.is_same_as_sent]
    unseen = [r.number for r in requests if digest(r.projection.messages) not in sent]
    if len(unseen) > n_lives:
        problems.append(f"no provider has seen the requests {unseen}")
    return problems
