"""Stage 5, second part: every call has exactly one result, right behind it."""

from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

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


def pair_results(pieces: list[Piece], call_status: Mapping[str, ResultStatus], report: Report) -> list[Piece]:
    """Calls and results side by side, in the order in which the results came in.

    A missing result is made up truthfully from what the log knows; a result
    that belongs to no call, or comes a second time, is dropped and counted.
    """
    answers = [at for at, piece in enumerate(pieces) if piece.role is Role.ASSISTANT]
    matches = _match(pieces)
    for at, rule in matches.dropped:
        report.repair(rule, pieces[at])
    ids = _Ids()
    out: list[Piece] = []
    for at, piece in enumerate(pieces):
        if piece.role is Role.TOOL:
            continue
        if not _calls(piece):
            out.append(piece)
            continue
        results = sorted(matches.of_caller[at])
        _note_moves(pieces, answers, at, results, report)
        out.extend(_group(piece, [(pieces[r], n) for r, n in results], ids, call_status, report))
    return out


def _calls(piece: Piece) -> tuple[ToolCall, ...]:
    if piece.role is Role.ASSISTANT and piece.message is not None:
        return piece.message.tool_calls
    return ()


@dataclass(frozen=True, slots=True)
class _Matches:
    """For every caller its results as (place, number of the call); and what belongs to none."""

    of_caller: dict[int, list[tuple[int, int]]]
    dropped: list[tuple[int, RepairRule]]


def _match(pieces: list[Piece]) -> _Matches:
    """A result belongs to the latest open call of its id before it, else to the first open one behind."""
    open_calls: defaultdict[str, list[deque[tuple[int, int]]]] = defaultdict(list)
    early: defaultdict[str, list[int]] = defaultdict(list)
    matches = _Matches(defaultdict(list), [])
    for at, piece in enumerate(pieces):
        if piece.role is Role.TOOL:
            _match_result(at, piece, open_calls, early, matches)
        elif calls := _calls(piece):
            of_this: dict[str, deque[tuple[int, int]]] = {}
            for number, call in enumerate(calls):
                of_this.setdefault(call.id, deque()).append((at, number))
            for call_id, slots in of_this.items():
                open_calls[call_id].append(slots)
    for call_id, places in early.items():
        still_open = [slot for group in open_calls.get(call_id, ()) for slot in group]
        rule = RepairRule.RESULT_DUPLICATE if call_id in open_calls else RepairRule.RESULT_WITHOUT_CALL
        for place, (caller, number) in zip(places, still_open, strict=False):
            matches.of_caller[caller].append((place, number))
        matches.dropped.extend((place, rule) for place in places[len(still_open) :])
    matches.dropped.sort()
    return matches


def _match_result(
    at: int,
    piece: Piece,
    open_calls: Mapping[str, list[deque[tuple[int, int]]]],
    early: defaultdict[str, list[int]],
    matches: _Matches,
) -> None:
    call_id = piece.message.tool_call_id if piece.message is not None else None
    if call_id is None:
        matches.dropped.append((at, RepairRule.RESULT_WITHOUT_CALL))
        return
    groups = open_calls.get(call_id)
    if groups is None:
        early[call_id].append(at)
        return
    while len(groups) > 1 and not groups[-1]:
        groups.pop()
    if groups[-1]:
        caller, number = groups[-1].popleft()
        matches.of_caller[caller].append((at, number))
    else:
        matches.dropped.append((at, RepairRule.RESULT_DUPLICATE))


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
    """Call ids given out so far. Only those: what comes later must not change what went before."""

    used: set[str] = field(default_factory=set)
    _n_of: dict[str, int] = field(default_factory=dict)

    def take(self, wanted: str) -> str:
        fresh = wanted
        while not fresh or fresh in self.used:
            # Counted on from the last one of this id: a thousand calls of one id stay linear.
            self._n_of[wanted] = n = self._n_of.get(wanted, 1) + 1
            fresh = f"{wanted or 'call'}_{n}"
        self.used.add(fresh)
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
    fresh = [ids.take(call.id) for call in calls]
    group = [_renamed_caller(caller, fresh, report)]
    group.extend(_renamed_result(result, fresh[number]) for result, number in results)
    answered = {number for _, number in results}
    for number, call in enumerate(calls):
        if number not in answered:
            report.repair(RepairRule.RESULT_MISSING, caller)
            text = MISSING_RESULT_TEXTS.get(call_status.get(call.id, ResultStatus.OK), _UNKNOWN)
            message = Message(Role.TOOL, text, tool_call_id=fresh[number], tool_name=call.name, is_error=True)
            group.append(Piece((), Role.TOOL, message))
    return group


def _renamed_caller(caller: Piece, ids: list[str], report: Report) -> Piece:
    calls = _calls(caller)
    if caller.message is None or all(call.id == new for call, new in zip(calls, ids, strict=True)):
        return caller
    report.repair(RepairRule.CALL_ID_REUSED, caller)
    renamed = tuple(replace(call, id=new) for call, new in zip(calls, ids, strict=True))
    return replace(caller, message=replace(caller.message, tool_calls=renamed))


def _renamed_result(result: Piece, call_id: str) -> Piece:
    if result.message is None or result.message.tool_call_id == call_id:
        return result
    return replace(result, message=replace(result.message, tool_call_id=call_id))
