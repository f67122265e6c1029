"""A report on a history, as lines for a person and as JSON values for a program."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from pydantic import JsonValue

from actors.checking import Complaint, Place, RepairLine, Report
from host.cli.output import one_line
from host.cli.view import Line, Tone
from providers.model import Dialect

_Item: TypeAlias = Complaint | RepairLine

_TEXT_CHARACTERS = 300
_AROUND = -1  # what is about no single message stands in front
_FORMATS = {
    Dialect.ANTHROPIC: "Anthropic Messages",
    Dialect.OPENAI_CHAT: "OpenAI Chat Completions",
    Dialect.OPENAI_RESPONSES: "OpenAI Responses",
    None: "a case of ours",
}


def report_lines(report: Report, file: str) -> Iterator[Line]:
    """What is wrong message by message, then what it comes to."""
    name = file if report.name is None else f"{file}, {report.name}"
    yield Line(f"{_line(name)}: {_FORMATS[report.format]}, {_count(report.n_messages, 'message')}")
    yield Line(f"judged as {_names(report.dialects)} for {_line(', '.join(report.models))}", Tone.QUIET)
    yield Line("")
    by_entry: defaultdict[int, list[_Item]] = defaultdict(list)
    items: tuple[_Item, ...] = (*report.complaints, *report.repairs)
    for item in items:
        by_entry[_AROUND if item.at is None else item.at].append(item)
    for at in sorted(by_entry):
        yield from _group(by_entry[at], report)
    yield from map(Line, _summary(report))


def _group(items: Sequence[_Item], report: Report) -> Iterator[Line]:
    """All about one message, under its place; what repair does to it stands at the end."""
    heading: Place | None = None
    for item in items:
        whole = item.within or item.place if isinstance(item, Complaint) else item.place
        if whole != heading:
            heading = whole
            yield Line(_heading(whole, item.role), Tone.PERSON)
        part = _part(item.place, whole) if item.place != whole else ""
        yield Line(f"    {part}{_told(item, report)}", _tone(item, report))
    yield Line("")


def _tone(item: _Item, report: Report) -> Tone:
    if isinstance(item, RepairLine):
        return Tone.GOOD
    return Tone.BAD if report.counts(item) else Tone.QUIET


def _heading(place: Place, role: str | None) -> str:
    where = " ".join(filter(None, (f"line {place.line}:", place.path)))
    return _line(f"{where} ({role})" if role else where)


def _part(place: Place, whole: Place) -> str:
    return f"line {place.line}, {place.path.removeprefix(whole.path).removeprefix('.')}: "


def _told(item: _Item, report: Report) -> str:
    if isinstance(item, RepairLine):
        times = f" ({item.n_times} times)" if item.n_times > 1 else ""
        only = "" if item.dialects == report.dialects else f" for {_names(item.dialects)}"
        return f"repair{only}: {item.text}{times} [{item.rule}]"
    told = f"{_line(item.text)} [{item.rule}]"
    if not item.dialects:
        return f"noted: {told}"
    if not report.counts(item):
        return f"as a request of its own refused by {_names(item.dialects)}: {told}"
    return f"refused by {_names(item.dialects)}: {told}"


def _summary(report: Report) -> Iterator[str]:
    counted = [complaint for complaint in report.complaints if report.counts(complaint)]
    by_dialect = Counter(dialect for complaint in counted for dialect in complaint.dialects)
    findings = ", ".join(f"{dialect} {by_dialect[dialect]}" for dialect in report.dialects)
    others = len(report.complaints) - len(counted)
    yield f"{_count(report.n_messages, 'message')}; refused: {findings}" + (
        f"; noted: {others}" if others else ""
    )
    if report.failure is not None:
        yield f"it cannot be repaired: {_line(report.failure)}"
        return
    if report.repairs:
        done = ", ".join(f"{n} {rule}" for rule, n in _repairs(report).items())
        yield f"repair changes {_count(report.n_repaired, 'message')}: {done}"
    else:
        yield "repair changes nothing"
    yield from _outcome(report)


def _outcome(report: Report) -> Iterator[str]:
    legal = [dialect for dialect in report.dialects if _is_legal(report, dialect)]
    if legal:
        yield f"{'repaired' if report.repairs else 'as it is'}, its messages are legal for {_names(legal)}"
    for left in report.remaining:
        whose = "left to whoever sends it" if left.kind == "request" else "still refused"
        place = f"line {left.place.line}: " if left.at is not None else ""
        yield f"{whose} ({_names(left.dialects)}): {place}{_line(left.text)} [{left.rule}]"
    if unread := _unread(report):
        yield f"not repaired, since it is not what it has to be in the file: {_count(len(unread), 'place')}"


def _is_legal(report: Report, dialect: Dialect) -> bool:
    """Of the messages; conditions on the whole request are its sender's. What is unread stays as it is."""
    left = (*report.remaining, *_unread(report))
    return report.failure is None and not any(
        one.kind != "request" and dialect in one.dialects for one in left
    )


def _unread(report: Report) -> list[Complaint]:
    return [c for c in report.complaints if c.kind == "reading" and report.counts(c)]


def _repairs(report: Report) -> Counter[str]:
    counts: Counter[str] = Counter()
    for line in report.repairs:
        counts[line.rule.value] += line.n_times
    return counts


def total_line(n_histories: int, n_refused: int) -> str:
    return f"{n_histories:,} histories; {n_refused:,} with something that would be refused"


def report_values(report: Report) -> Iterator[dict[str, JsonValue]]:
    """Findings, then repairs, then the summary."""
    for complaint in report.complaints:
        yield {"type": "finding", "history": report.name, **_complaint(complaint, report)}
    for line in report.repairs:
        yield {
            "type": "repair",
            "history": report.name,
            **_place(line.place, line.role),
            "dialects": _listed(line.dialects),
            "rule": line.rule.value,
            "text": line.text,
            "times": line.n_times,
        }
    counted = [complaint for complaint in report.complaints if report.counts(complaint)]
    by_dialect = Counter(dialect for complaint in counted for dialect in complaint.dialects)
    yield {
        "type": "summary",
        "history": report.name,
        "line": report.place.line,
        "format": None if report.format is None else report.format.value,
        "dialects": _listed(report.dialects),
        "models": list(report.models),
        "messages": report.n_messages,
        "refused": report.is_refused,
        "findings": {dialect.value: by_dialect[dialect] for dialect in report.dialects},
        "repairs": dict(_repairs(report)),
        "messages_repaired": report.n_repaired,
        "legal_when_repaired": {d.value: _is_legal(report, d) for d in report.dialects},
        "remaining": [_complaint(left, report) for left in report.remaining],
        "failure": report.failure,
    }


def _complaint(complaint: Complaint, report: Report) -> dict[str, JsonValue]:
    return {
        **_place(complaint.place, complaint.role),
        "kind": complaint.kind,
        "dialects": _listed(complaint.dialects),
        "refused": report.counts(complaint),
        "rule": complaint.rule,
        "text": complaint.text,
    }


def _place(place: Place, role: str | None) -> dict[str, JsonValue]:
    return {"line": place.line, "path": place.path, "role": role}


def _listed(dialects: Sequence[Dialect]) -> list[JsonValue]:
    return [dialect.value for dialect in dialects]


def _names(dialects: Sequence[Dialect]) -> str:
    return ", ".join(dialects)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _line(text: str) -> str:
    return one_line(text, _TEXT_CHARACTERS)
