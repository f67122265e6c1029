"""Reads the rules over a history as it was stored, repairs it, and reads them again."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from actors.checking.histories import Found, History
from actors.checking.model import Complaint, Place, Question, RepairLine, Report
from actors.checking.part import part_of
from actors.checking.stored import as_stored, judgeable
from actors.checking.words import words_of
from actors.errors import EmptyReminderBody, UnknownReminderSource
from actors.history import Entry, MessageEntry, ReminderEntry
from actors.projection import Projection, ProjectionOptions, RepairRule, project
from actors.reminders import REGISTRY
from providers.legality import Finding, check
from providers.model import Dialect, Message, ModelProfile, Request
from providers.transcripts import LineFinder, Path, shown_path


def judge(found: Found, question: Question) -> Iterable[Report]:
    """A report on every history, made when it is asked for."""
    return (_Judge(history, found.lines, question).report() for history in found.histories)


@dataclass(frozen=True, slots=True)
class _Refused:
    """A finding, the number of the same ones before it, and the dialects that have it."""

    finding: Finding
    nth: int
    dialects: tuple[Dialect, ...]


class _Judge:
    def __init__(self, history: History, lines: LineFinder, question: Question) -> None:
        self._history = history
        self._lines = lines
        self._dialects = dialects_for(history, question)
        self._profiles = {d: self._profile(d, question.profile_of) for d in self._dialects}
        self._entries = tuple(map(judgeable, history.entries))

    def report(self) -> Report:
        history = self._history
        stored = tuple(map(as_stored, self._entries))
        complaints = [
            *self._notes(),
            *map(self._complaint, self._check(dict.fromkeys(self._dialects, stored))),
        ]
        repairs: tuple[RepairLine, ...] = ()
        remaining: tuple[Complaint, ...] = ()
        failure = None
        try:
            projections = {d: self._project(profile) for d, profile in self._profiles.items()}
        except (UnknownReminderSource, EmptyReminderBody) as error:
            failure = str(error)
            complaints.append(self._unpresentable(error))
        else:
            repairs = self._repairs(projections)
            sent = {d: projection.messages for d, projection in projections.items()}
            remaining = tuple(self._remaining(refused, projections) for refused in self._check(sent))
        return Report(
            history.name,
            self._place(history.path),
            history.dialect,
            history.is_request,
            self._dialects,
            tuple(dict.fromkeys(profile.name for profile in self._profiles.values())),
            history.n_items,
            tuple(sorted(complaints, key=self._order)),
            repairs,
            len({line.at for line in repairs}),
            remaining,
            failure,
        )

    def _profile(
        self, dialect: Dialect, profile_of: Callable[[Dialect, str | None], ModelProfile]
    ) -> ModelProfile:
        profile = profile_of(dialect, self._history.model)
        case = self._history.case
        is_told = case is not None and case.mid_conversation_system
        return replace(profile, mid_conversation_system=True) if is_told else profile

    def _check(self, messages: Mapping[Dialect, tuple[Message, ...]]) -> list[_Refused]:
        """What each dialect finds in its messages, the same finding of several as one."""
        by_finding: dict[tuple[Finding, int], list[Dialect]] = {}
        for dialect, profile in self._profiles.items():
            request = Request(profile.name, messages[dialect], self._history.tools)
            seen: Counter[Finding] = Counter()
            for finding in check(request, dialect, profile):
                by_finding.setdefault((finding, seen[finding]), []).append(dialect)
                seen[finding] += 1
        return [_Refused(finding, nth, tuple(dialects)) for (finding, nth), dialects in by_finding.items()]

    def _project(self, profile: ModelProfile) -> Projection:
        case = self._history.case
        options = ProjectionOptions(mid_conversation_system=profile.mid_conversation_system)
        if case is not None:
            options = replace(
                options,
                peers_may_use_system_role=case.peers_may_use_system_role,
                apply_cache_control=case.apply_cache_control,
                skip_cache_write=case.skip_cache_write,
            )
        return project(self._entries, options)

    def _repairs(self, projections: Mapping[Dialect, Projection]) -> tuple[RepairLine, ...]:
        counts: dict[tuple[int, RepairRule], dict[Dialect, int]] = {}
        for dialect, projection in projections.items():
            for (at, rule), n_times in Counter((r.entry, r.rule) for r in projection.repaired).items():
                counts.setdefault((at, rule), {})[dialect] = n_times
        return tuple(
            RepairLine(
                self._place(self._history.paths[at].own),
                _role_of(self._history.entries[at]),
                tuple(by_dialect),
                rule,
                words_of(rule),
                at,
                max(by_dialect.values()),
            )
            for (at, rule), by_dialect in sorted(counts.items(), key=lambda item: item[0][0])
        )

    def _notes(self) -> Iterable[Complaint]:
        """What the reader noted; its own format refuses it, and every one where there is none."""
        own = self._history.dialect if self._history.is_certain else None
        refusing = tuple(d for d in self._dialects if own in (None, d))
        at_path = {paths.own: at for at, paths in enumerate(self._history.paths)}
        for note in self._history.notes:
            at = _entry_at(note.path, at_path)
            role = None if at is None else _role_of(self._history.entries[at])
            dialects = refusing if note.is_refused else ()
            yield Complaint(self._place(note.path), role, "reading", dialects, note.rule.value, note.text, at)

    def _complaint(self, refused: _Refused) -> Complaint:
        finding = refused.finding
        at = finding.message_index
        if at is None:
            path, role = self._history.path, None
        else:
            entry = self._history.entries[at]
            path, role = part_of(entry, self._history.paths[at], finding, refused.nth), _role_of(entry)
        return Complaint(
            self._place(path), role, finding.kind, refused.dialects, finding.rule, finding.text, at
        )

    def _remaining(self, refused: _Refused, projections: Mapping[Dialect, Projection]) -> Complaint:
        """It is about a repaired message; its place is that of the first entry in it."""
        finding = refused.finding
        at: int | None = None
        if finding.message_index is not None:
            sources = projections[refused.dialects[0]].sources[finding.message_index]
            at = sources[0] if sources else None
        path = self._history.path if at is None else self._history.paths[at].own
        role = None if at is None else _role_of(self._history.entries[at])
        return Complaint(
            self._place(path), role, finding.kind, refused.dialects, finding.rule, finding.text, at
        )

    def _unpresentable(self, error: UnknownReminderSource | EmptyReminderBody) -> Complaint:
        reminders = [
            at
            for at, entry in enumerate(self._history.entries)
            if isinstance(entry, ReminderEntry) and (entry.source not in REGISTRY or not entry.body)
        ]
        at = reminders[0] if reminders else None
        path = self._history.path if at is None else self._history.paths[at].own
        role = None if at is None else "reminder"
        return Complaint(self._place(path), role, "history", self._dialects, error.code, str(error), at)

    def _place(self, path: Path) -> Place:
        return Place(self._lines.line_of(path), shown_path(path))

    def _order(self, complaint: Complaint) -> tuple[int, int, int]:
        """By message; what is about none stands in front, what is about the whole request at the end."""
        is_whole = complaint.kind == "request"
        return is_whole, -1 if complaint.at is None else complaint.at, complaint.place.line


def dialects_for(history: History, question: Question) -> tuple[Dialect, ...]:
    """Those that were asked for; else the model's; else the file's own; else all.

    Of several that a model speaks only the file's own counts, if it is one.
    """
    if question.dialects:
        return tuple(dict.fromkeys(question.dialects))
    own = history.dialect if history.is_certain else None
    if question.spoken:
        return (own,) if own in question.spoken and own is not None else question.spoken
    return tuple(Dialect) if own is None else (own,)


def _entry_at(path: Path, at_path: Mapping[Path, int]) -> int | None:
    """The entry that something inside of it belongs to."""
    for n_steps in range(len(path), 0, -1):
        if (at := at_path.get(path[:n_steps])) is not None:
            return at
    return None


def _role_of(entry: Entry) -> str:
    return entry.message.role.value if isinstance(entry, MessageEntry) else "reminder"
