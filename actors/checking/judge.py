"""Reads the rules over a history as it was stored, repairs it, and reads them again."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from actors.checking.elsewhere import elsewhere_of
from actors.checking.histories import Found, History
from actors.checking.model import Complaint, Kind, Place, Question, RepairLine, Report
from actors.checking.part import entries_by_path, part_of
from actors.checking.stored import as_stored, judgeable
from actors.errors import EmptyReminderBody, UnknownReminderSource
from actors.history import Entry, MessageEntry, ReminderEntry
from actors.projection import Projection, ProjectionOptions, RepairRule, project
from actors.projection.words import words_of
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
        self._elsewhere = elsewhere_of(history)

    def report(self) -> Report:
        history = self._history
        stored = tuple(map(as_stored, self._entries))
        noted = tuple(self._notes())
        complaints = [
            *noted,
            *map(self._complaint, self._check(dict.fromkeys(self._dialects, stored))),
        ]
        repairs: tuple[RepairLine, ...] = ()
        remaining: tuple[Complaint, ...] = ()
        failure = None
        try:
            projections = self._projections()
        except (UnknownReminderSource, EmptyReminderBody) as error:
            failure = str(error)
            complaints.append(self._unpresentable(error))
        else:
            repairs = self._repairs(projections)
            remaining = (*(note for note in noted if note.kind == "request"), *self._left(projections))
        return Report(
            history.name,
            self._place(history.path),
            history.dialect,
            history.is_request,
            self._dialects,
            tuple(dict.fromkeys(profile.name for profile in self._profiles.values())),
            history.n_items,
            tuple(sorted(complaints, key=_order)),
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

    def _projections(self) -> dict[Dialect, Projection]:
        """For each dialect; models that take system messages in the same places are sent the same."""
        by_places = {
            takes_system: self._project(takes_system)
            for takes_system in {profile.mid_conversation_system for profile in self._profiles.values()}
        }
        return {d: by_places[profile.mid_conversation_system] for d, profile in self._profiles.items()}

    def _project(self, takes_system: bool) -> Projection:
        case = self._history.case
        options = ProjectionOptions(mid_conversation_system=takes_system)
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
                if rule is RepairRule.RESULT_WITHOUT_CALL and at in self._elsewhere.results:
                    continue  # whoever sends it goes on from the call, so there is nothing to repair
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
        entry_at = entries_by_path(self._history.paths)
        for note in self._history.notes:
            dialects = refusing if note.is_refused else ()
            kind: Kind = "request" if note.is_whole else "reading"
            yield self._complain(entry_at(note.path), note.path, kind, dialects, note.rule.value, note.text)

    def _complaint(self, refused: _Refused) -> Complaint:
        finding = refused.finding
        at = finding.message_index
        path: Path | None = None
        if at is not None:
            path = part_of(self._history.entries[at], self._history.paths[at], finding, refused.nth)
        dialects = () if self._elsewhere.has_to_do_with(finding) else refused.dialects
        return self._complain(at, path, finding.kind, dialects, finding.rule, finding.text)

    def _left(self, projections: Mapping[Dialect, Projection]) -> Iterator[Complaint]:
        """What the rules find in the repaired messages."""
        for refused in self._check({d: projection.messages for d, projection in projections.items()}):
            if refused.finding.kind == "history" or not self._elsewhere.has_to_do_with(refused.finding):
                yield self._remaining(refused, projections)

    def _remaining(self, refused: _Refused, projections: Mapping[Dialect, Projection]) -> Complaint:
        """It is about a repaired message; its place is that of the first entry in it."""
        finding = refused.finding
        at: int | None = None
        if finding.message_index is not None:
            sources = projections[refused.dialects[0]].sources[finding.message_index]
            at = sources[0] if sources else None
        return self._complain(at, None, finding.kind, refused.dialects, finding.rule, finding.text)

    def _unpresentable(self, error: UnknownReminderSource | EmptyReminderBody) -> Complaint:
        reminders = [
            at
            for at, entry in enumerate(self._history.entries)
            if isinstance(entry, ReminderEntry) and (entry.source not in REGISTRY or not entry.body)
        ]
        at = reminders[0] if reminders else None
        return self._complain(at, None, "history", self._dialects, error.code, str(error))

    def _complain(
        self,
        at: int | None,
        path: Path | None,
        kind: Kind,
        dialects: tuple[Dialect, ...],
        rule: str,
        text: str,
    ) -> Complaint:
        """About an entry (None: the history), at a part of it (None: all of it)."""
        if at is None:
            place = self._place(path or self._history.path)
            return Complaint(place, None, kind, dialects, rule, text, None, None)
        within = self._history.paths[at].own
        place = self._place(path or within)
        role = _role_of(self._history.entries[at])
        return Complaint(place, role, kind, dialects, rule, text, at, self._place(within))

    def _place(self, path: Path) -> Place:
        return Place(self._lines.line_of(path), shown_path(path))


def _order(complaint: Complaint) -> tuple[int, int]:
    """By message; what is about none stands in front."""
    return -1 if complaint.at is None else complaint.at, complaint.place.line


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


def _role_of(entry: Entry) -> str:
    return entry.message.role.value if isinstance(entry, MessageEntry) else "reminder"
