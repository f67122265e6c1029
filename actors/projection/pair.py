"""Stage 5, second part: every call has exactly one result, right behind it."""

from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from actors.history import ResultStatus
from actors.projection.model import Piece, RepairRule, Report
from providers.model import Message, Role, ToolCall

_UNKNOWN = "No result of this call is known. It may or may not have had effects: look before you repeat it."
MISSING_RESULT_TEXTS: Mapping[ResultStatus, str] = {
    ResultStatus.NOT_STARTED: "This call was not started and had no effects.",
    ResultStatus.INTERRUPTED: (
        "This call was interrupted while it ran. It may have had effects: look before you repeat it."
    ),
    ResultStatus.CANCELLED: (
        "This call was cancelled before it returned a result."
        " It may have had effects: look before you repeat it."
    ),
}


class Entangled(Exception):
    """A call and its result, or a second one, stand on two sides of where the pieces begin."""


@dataclass(frozen=True, slots=True)
class CallIds:
    """The call ids of a stretch of history.

    `called` are those of its calls, `unclaimed` those of results that found no
    call in it, `used` those that went out, and `n_of` how far the fresh ids of
    a repeated one were counted.
    """

    called: set[str] = field(default_factory=set)
    unclaimed: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    n_of: dict[str, int] = field(default_factory=dict)

    def extend(self, later: "CallIds") -> None:
        self.called.update(later.called)
        self.unclaimed.update(later.unclaimed)
        self.used.update(later.used)
        self.n_of.update(later.n_of)


def pair_results(
    pieces: list[Piece], call_status: Mapping[str, ResultStatus], before: CallIds, report: Report
) -> tuple[list[Piece], CallIds]:
    """Calls and results side by side, in the order in which the results came in; and the ids of the calls.

    A missing result is made up truthfully from what the log knows; a result
    that belongs to no call, or comes a second time, is dropped and counted.

    Raises:
        Entangled: it depends on what stands before these pieces, or changes it.
    """
    answers = [at for at, piece in enumerate(pieces) if piece.role is Role.ASSISTANT]
    matches = _match(pieces, before)
    for at, rule in matches.dropped:
        report.repair(rule, pieces[at])
    calls = CallIds(matches.called, matches.unclaimed)
    ids = _Ids(before, calls)
    out: list[Piece] = []
    for at, piece in enumerate(pieces):
        if piece.role is Role.TOOL:
            continue
        if piece.role is not Role.ASSISTANT or not _calls(piece):
            out.append(piece)
            continue
        results = sorted(matches.of_caller[at])
        _note_moves(pieces, answers, at, results, report)
        out.extend(_group(piece, [(pieces[r], n) for r, n in results], ids, call_status, report))
    return out, calls


def _calls(answer: Piece) -> tuple[ToolCall, ...]:
    return answer.message.tool_calls if answer.message is not None else ()


@dataclass(frozen=True, slots=True)
class _Matches:
    """For every caller its results as (place, number of the call); what belongs to none; the ids of both."""

    of_caller: defaultdict[int, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    dropped: list[tuple[int, RepairRule]] = field(default_factory=list)
    called: set[str] = field(default_factory=set)
    unclaimed: set[str] = field(default_factory=set)


_OpenCalls: TypeAlias = "defaultdict[str, list[deque[tuple[int, int]]]]"


def _match(pieces: list[Piece], before: CallIds) -> _Matches:
    """A result belongs to the latest open call of its id before it, else to the first open one behind."""
    open_calls: _OpenCalls = defaultdict(list)
    early: defaultdict[str, list[int]] = defaultdict(list)
    matches = _Matches()
    for at, piece in enumerate(pieces):
        if piece.role is Role.TOOL:
            _match_result(at, piece, open_calls, early, before, matches)
        elif piece.role is Role.ASSISTANT and (calls := _calls(piece)):
            of_this: dict[str, deque[tuple[int, int]]] = {}
            for number, call in enumerate(calls):
                of_this.setdefault(call.id, deque()).append((at, number))
            for call_id, slots in of_this.items():
                open_calls[call_id].append(slots)
    if not before.unclaimed.isdisjoint(open_calls):
        raise Entangled
    matches.called.update(open_calls)
    _match_early(early, open_calls, matches)
    return matches


def _match_result(
    at: int,
    piece: Piece,
    open_calls: _OpenCalls,
    early: defaultdict[str, list[int]],
    before: CallIds,
    matches: _Matches,
) -> None:
    call_id = piece.message.tool_call_id if piece.message is not None else None
    if call_id is None:
        matches.dropped.append((at, RepairRule.RESULT_WITHOUT_CALL))
        return
    groups = open_calls.get(call_id)
    while groups and not groups[-1]:
        groups.pop()
    if groups:
        caller, number = groups[-1].popleft()
        matches.of_caller[caller].append((at, number))
    elif call_id in before.called:
        raise Entangled
    elif groups is None:
        early[call_id].append(at)
    else:
        matches.dropped.append((at, RepairRule.RESULT_DUPLICATE))


def _match_early(early: Mapping[str, list[int]], open_calls: _OpenCalls, matches: _Matches) -> None:
    for call_id, places in early.items():
        still_open = [slot for group in open_calls.get(call_id, ()) for slot in group]
        rule = RepairRule.RESULT_DUPLICATE if call_id in open_calls else RepairRule.RESULT_WITHOUT_CALL
        for place, (caller, number) in zip(places, still_open, strict=False):
            matches.of_caller[caller].append((place, number))
        surplus = places[len(still_open) :]
        matches.dropped.extend((place, rule) for place in surplus)
        if surplus:
            matches.unclaimed.add(call_id)


def _note_moves(
    pieces: list[Piece], answers: list[int], at: int, results: list[tuple[int, int]], report: Report
) -> None:
    """Across another answer it is the result that moved; else what stood in between."""
    if not results or (results[0][0] == at + 1 and results[-1][0] == at + len(results)):
        return
    next_answer = bisect_right(answers, at)
    limit = answers[next_answer] if next_answer < len(answers) else len(pieces)
    last_near = at
    for place, _ in results:
        if at < place < limit:
            last_near = place
        else:
            report.repair(RepairRule.RESULT_MOVED, pieces[place])
            report.move(pieces[place])
    for piece in pieces[at + 1 : last_near]:
        if piece.role is not Role.TOOL:
            report.repair(RepairRule.MOVED_BEHIND_RESULTS, piece)
            report.move(piece)


@dataclass(frozen=True, slots=True)
class _Ids:
    """Gives out call ids. What was given out before stays: what comes later must not change it."""

    before: CallIds
    mine: CallIds

    def take(self, wanted: str) -> str:
        fresh = wanted
        while not fresh or fresh in self.mine.used or fresh in self.before.used:
            # Counted on from the last one of this id: a thousand calls of one id stay linear.
            n_known = self.mine.n_of.get(wanted) or self.before.n_of.get(wanted, 1)
            self.mine.n_of[wanted] = n_known + 1
            fresh = f"{wanted or 'call'}_{n_known + 1}"
        self.mine.used.add(fresh)
        return fresh


def _group(
    caller: Piece,
    results: list[tuple[Piece, int]],
    ids: _Ids,
    call_status: Mapping[str, ResultStatus],
    report: Report,
) -> list[Piece]:
    """The caller, its results, and a truthful one for every call that has none."""
    calls = _calls(caller)
    wanted = [call.id for call in calls]
    fresh = list(map(ids.take, wanted))
    group = [caller if fresh == wanted else _renamed_caller(caller, fresh, report)]
    group += [_renamed_result(result, fresh[number]) for result, number in results]
    if len(results) == len(calls):
        return group
    answered = {number for _, number in results}
    for number, call in enumerate(calls):
        if number not in answered:
            report.repair(RepairRule.RESULT_MISSING, caller)
            text = MISSING_RESULT_TEXTS.get(call_status.get(call.id, ResultStatus.OK), _UNKNOWN)
            message = Message(Role.TOOL, text, tool_call_id=fresh[number], tool_name=call.name, is_error=True)
            group.append(Piece((), Role.TOOL, message))
    return group


def _renamed_caller(caller: Piece, ids: list[str], report: Report) -> Piece:
    assert caller.message is not None, "only a message makes calls"
    report.repair(RepairRule.CALL_ID_REUSED, caller)
    renamed = tuple(replace(call, id=new) for call, new in zip(_calls(caller), ids, strict=True))
    return replace(caller, message=replace(caller.message, tool_calls=renamed))


def _renamed_result(result: Piece, call_id: str) -> Piece:
    if result.message is None or result.message.tool_call_id == call_id:
        return result
    return replace(result, message=replace(result.message, tool_call_id=call_id))
