"""Tells what of a log that may be damaged is as it was written.

A record is good if its hash follows from the one that the record before it
carries, whatever became of that record itself. A changed record does not
become good by being readable.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from actors.address import AgentId
from host.errors import StoreDamaged
from host.store.chain import HASH_BYTES, first_link, link
from host.store.codec import EncodedRecord, decode_record
from host.store.verdicts import Claim, Gap, Kept, Part, Verdict
from host.store.wreck import Row

_NOT_THERE = "not there"
_MOST_BELIEVED = 10_000_000
"""A log that claims more records than this beyond the last one that is there has a damaged count."""

_STRAYING = 1000
"""Without hashes and count, the last record is believed where it lies at most this far behind the others."""


def judge(
    agent_id: AgentId,
    rows: Sequence[Row],
    failures: Mapping[int, str],
    claim: Claim,
    *,
    has_hashes: bool,
    carved: Iterable[Row] = (),
) -> Verdict:
    """The log that these rows are, as `Wreck.records` gave them.

    `carved` rows were found without the tree: only what the chain proves is taken of them.
    """
    candidates, misshapen, n_nowhere = _sorted(rows)
    for seq, more in _sorted(list(carved))[0].items():
        known = candidates.setdefault(seq, [])
        known.extend(replace(one, is_carved=True) for one in dict.fromkeys(more) if one not in known)
    return _Judge(agent_id, failures, claim, has_hashes, candidates, misshapen, n_nowhere).verdict()


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A row that has the form of a record."""

    encoded: EncodedRecord
    hash: bytes
    is_carved: bool = False


@dataclass(slots=True)
class _Judge:
    agent_id: AgentId
    failures: Mapping[int, str]
    claim: Claim
    has_hashes: bool
    candidates: dict[int, list[_Candidate]]
    misshapen: dict[int, str]
    n_nowhere: int

    def verdict(self) -> Verdict:
        judged = {seq: self._judged(seq) for seq in sorted(self.candidates)}
        end = self._end(judged)
        parts: list[Part] = []
        for seq in sorted({*judged, *self.failures, *self.misshapen}):
            if seq >= end:
                break
            self._add_missing(parts, seq)
            parts.append(judged.get(seq) or Gap(seq, 1, self._failure(seq)))
        self._add_missing(parts, end)
        complaints = tuple(self._complaints(judged, end))
        return Verdict(self.agent_id, tuple(_joined(parts)), complaints, self.has_hashes)

    def _failure(self, seq: int) -> str:
        if seq in self.misshapen:
            return self.misshapen[seq]
        return f"cannot be read: {self.failures[seq]}" if seq in self.failures else _NOT_THERE

    def _add_missing(self, parts: list[Part], before: int) -> None:
        begin = 0 if not parts else _behind(parts[-1])
        if begin < before:
            parts.append(Gap(begin, before - begin, _NOT_THERE))

    # One record

    def _judged(self, seq: int) -> Part:
        """The one row of this place that can be believed."""
        believed: list[Kept] = []
        reasons: list[str] = []
        rows = self.candidates[seq]
        befores = self._befores(seq)
        for row in rows:
            is_checked, has_hash = self._follows(seq, row, befores)
            if not is_checked and row.is_carved:
                continue
            if not is_checked and befores and self._has_neighbour(seq):
                reasons.append("was changed: its hash does not follow from the record before it")
                continue
            try:
                record = decode_record(row.encoded, agent_id=self.agent_id, seq=seq)
            except StoreDamaged as error:
                reasons.append(str(error).partition("cannot be read: ")[2] or str(error))
                continue
            believed.append(Kept(seq, row.encoded, record, is_checked, has_hash))
        checked = [one for one in believed if one.is_checked]
        of_the_tree = [row for row in rows if not row.is_carved]
        if checked or (len(of_the_tree) == 1 and believed):
            return (checked or believed)[0]
        if not of_the_tree:
            return Gap(seq, 1, self._failure(seq))
        reason = reasons[0] if reasons else "several rows claim this place and none can be checked"
        return Gap(seq, 1, reason, of_the_tree[0].encoded.kind if len(of_the_tree) == 1 else None)

    def _follows(self, seq: int, row: _Candidate, befores: set[bytes]) -> tuple[bool, bool]:
        """Whether the chain leads to this row or through it to the next; and whether by its own hash."""
        reached = {link(before, row.encoded) for before in befores}
        if row.hash in reached:
            return True, True
        leads_on = self._head_at(seq) in reached or any(
            link(before, after.encoded) == after.hash
            for before in reached
            for after in self.candidates.get(seq + 1, ())
        )
        return leads_on, False

    def _befores(self, seq: int) -> set[bytes]:
        """What a record here may follow: the hash that its neighbour carries, and the one it should carry."""
        rows = self.candidates.get(seq - 1, ())
        should = {link(before, row.encoded) for row in rows for before in self._stored_before(seq - 1)}
        return self._stored_before(seq) | should

    def _has_neighbour(self, seq: int) -> bool:
        """Whether something stands before this place that can refute a record here.

        What was carved out can where the chain proves it: else it may be of another log.
        """
        if seq == 0:
            return True
        befores = self._befores(seq - 1)
        return any(
            not row.is_carved or self._follows(seq - 1, row, befores)[0]
            for row in self.candidates.get(seq - 1, ())
        )

    def _stored_before(self, seq: int) -> set[bytes]:
        if not self.has_hashes:
            return set()
        if seq == 0:
            return {first_link(self.agent_id)}
        return {row.hash for row in self.candidates.get(seq - 1, ()) if row.hash}

    def _head_at(self, seq: int) -> bytes | None:
        return self.claim.head if self.claim.n_records == seq + 1 else None

    # The whole

    def _end(self, judged: Mapping[int, Part]) -> int:
        """How many records the log had."""
        kept = [part for part in judged.values() if isinstance(part, Kept)]
        end = max((part.seq + 1 for part in kept if part.is_checked), default=0)
        if self._ends_with_head(judged, end):
            return end
        claimed = self.claim.n_records
        if claimed is not None and end <= claimed <= end + _MOST_BELIEVED:
            end = claimed
        elif not self.has_hashes and kept and kept[-1].seq <= 2 * len(kept) + _STRAYING:
            end = kept[-1].seq + 1
        while isinstance(judged.get(end), Kept):
            end += 1
        return end

    def _ends_with_head(self, judged: Mapping[int, Part], end: int) -> bool:
        last = judged.get(end - 1)
        return (
            isinstance(last, Kept)
            and self.claim.head is not None
            and any(link(before, last.encoded) == self.claim.head for before in self._befores(end - 1))
        )

    def _complaints(self, judged: Mapping[int, Part], end: int) -> Iterator[str]:
        claimed = self.claim.n_records
        if claimed is not None and claimed != end:
            yield f"the listing counts {claimed} records, the log has {end}"
        for part in judged.values():
            if isinstance(part, Kept) and part.is_checked and not part.has_hash:
                yield f"record {part.seq} is as it was written, but its hash is damaged"
        is_readable = isinstance(judged.get(end - 1), Kept)
        if is_readable and self.claim.head is not None and not self._ends_with_head(judged, end):
            yield "the hash of the last record is not the one that the listing has"
        n_stray = self.n_nowhere + sum(seq >= end for seq in judged)
        if n_stray:
            yield f"{n_stray} rows claim places that no record has"


def _sorted(rows: Sequence[Row]) -> tuple[dict[int, list[_Candidate]], dict[int, str], int]:
    """The rows by place: those with the form of a record, those without, and how many have no place."""
    candidates: dict[int, list[_Candidate]] = {}
    misshapen: dict[int, str] = {}
    n_nowhere = 0
    for row in rows:
        seq, kind, version, data = (row.get(name) for name in ("seq", "kind", "version", "data"))
        if not isinstance(seq, int) or seq < 0:
            n_nowhere += 1
        elif isinstance(kind, str) and isinstance(version, int) and isinstance(data, bytes):
            found = row.get("hash")
            stored = found if isinstance(found, bytes) and len(found) == HASH_BYTES else b""
            candidates.setdefault(seq, []).append(_Candidate(EncodedRecord(kind, version, data), stored))
        else:
            misshapen[seq] = "has a row without the form of a record"
    return candidates, misshapen, n_nowhere


def _behind(part: Part) -> int:
    return part.seq + (part.n_records if isinstance(part, Gap) else 1)


def _joined(parts: Sequence[Part]) -> list[Part]:
    """Gaps beside each other that have the same reason become one."""
    joined: list[Part] = []
    for part in parts:
        last = joined[-1] if joined else None
        if isinstance(part, Gap) and isinstance(last, Gap) and part.reason == last.reason:
            kind = last.kind if last.kind == part.kind else None
            joined[-1] = Gap(last.seq, last.n_records + part.n_records, part.reason, kind)
        else:
            joined.append(part)
    return joined
