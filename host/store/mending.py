"""A whole log out of what is left of one: what is gone becomes a marker at its place."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from actors.envelope import EnvelopeId
from actors.history import EntryId
from actors.records import (
    AgentOpened,
    EntriesAppended,
    EnvelopesTaken,
    ModeChanged,
    Record,
    RecordsSkipped,
    TurnId,
)
from actors.state import AgentFold
from host.permissions.modes import PermissionMode
from host.store.codec import EncodedRecord, encode_record
from host.store.verdicts import Gap, Kept, Verdict

_MOST_REASONS = 3
_FREE_MODES = {PermissionMode.ACCEPT_EDITS, PermissionMode.BYPASS}
_MODE_KIND = "mode_changed"


@dataclass(slots=True)
class MendedLog:
    """The records of a mended log, in order; `n_skipped` are lost, `n_unchecked` kept on trust."""

    records: list[Record] = field(default_factory=list)
    encoded: list[EncodedRecord] = field(default_factory=list)
    n_kept: int = 0
    n_skipped: int = 0
    n_unchecked: int = 0


def mend(
    verdict: Verdict, opened: AgentOpened, new_entry_id: Callable[[], EntryId], now_s: float
) -> MendedLog:
    """The log of this agent, which begins with `opened`, its own or one made again."""
    return _Mending(opened, new_entry_id, now_s).mended(verdict)


@dataclass(slots=True)
class _Mending:
    opened: AgentOpened
    new_entry_id: Callable[[], EntryId]
    now_s: float
    log: MendedLog = field(default_factory=MendedLog)
    fold: AgentFold = field(default_factory=AgentFold)
    may_lack_mode: bool = False

    def mended(self, verdict: Verdict) -> MendedLog:
        runs = list(_runs(verdict))
        if not _begins_with(runs, self.opened):
            self._add(self.opened)
            self.may_lack_mode = True
            if not runs or isinstance(runs[0], Kept):
                self._mark(1, ("what stood at its beginning is lost",))
        for run in runs:
            if isinstance(run, Kept):
                self._keep(run)
            else:
                self._skip(run)
        self._take_freedom_back()
        return self.log

    def _keep(self, kept: Kept) -> None:
        record = kept.record
        if isinstance(record, EntriesAppended):
            self._add_taken(record)
        if isinstance(record, ModeChanged):
            self.may_lack_mode = False
        self._add(record, kept.encoded)
        self.log.n_kept += 1

    def _skip(self, run: "_Run") -> None:
        reasons = list(dict.fromkeys(gap.reason for gap in run.gaps))
        if run.has_unchecked_behind:
            self.log.n_unchecked += 1
            reasons.append("the record behind it could not be checked")
        self._mark(sum(gap.n_records for gap in run.gaps), reasons)
        self.may_lack_mode = self.may_lack_mode or any(g.kind in (None, _MODE_KIND) for g in run.gaps)

    def _mark(self, n_records: int, reasons: Sequence[str]) -> None:
        shown = [*reasons[:_MOST_REASONS], *(["and more"] if len(reasons) > _MOST_REASONS else [])]
        self._add(RecordsSkipped(n_records, "; ".join(shown), self.new_entry_id(), self.now_s))
        self.log.n_skipped += n_records

    def _add_taken(self, record: EntriesAppended) -> None:
        """A message that stands in the history must not wait any more, or the model would get it twice."""
        ids = [EnvelopeId(entry.envelope_id) for entry in record.entries if entry.envelope_id is not None]
        waiting = tuple(one for one in ids if one in self.fold.waiting)
        if waiting:
            turn_id = self.fold.turn.turn_id if self.fold.turn is not None else TurnId("lost")
            self._add(EnvelopesTaken(waiting, turn_id))

    def _take_freedom_back(self) -> None:
        """Where a change to a stricter mode may be lost, the agent asks from now on."""
        mode = self.fold.mode or self.opened.spec.get("permission_mode")
        is_unknown = mode is None and not self.opened.spec
        if self.may_lack_mode and (mode in _FREE_MODES or is_unknown):
            self._add(ModeChanged(PermissionMode.DEFAULT, self.now_s))

    def _add(self, record: Record, encoded: EncodedRecord | None = None) -> None:
        self.log.records.append(record)
        self.log.encoded.append(encoded or encode_record(record))
        self.fold.apply(record)


@dataclass(frozen=True, slots=True)
class _Run:
    """Gaps without a record between them."""

    gaps: tuple[Gap, ...]
    has_unchecked_behind: bool = False


def _runs(verdict: Verdict) -> Iterator[Kept | _Run]:
    gaps: list[Gap] = []
    for part in verdict.parts:
        if isinstance(part, Gap):
            gaps.append(part)
            continue
        if gaps:
            # Where no record has a hash, that is no news of this one.
            yield _Run(tuple(gaps), verdict.has_hashes and not part.is_checked)
            gaps = []
        yield part
    if gaps:
        yield _Run(tuple(gaps))


def _begins_with(runs: Sequence[Kept | _Run], opened: AgentOpened) -> bool:
    return bool(runs) and isinstance(first := runs[0], Kept) and first.record == opened
