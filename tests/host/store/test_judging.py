"""What of damaged rows is taken for the log that was written."""

from actors.records import Record
from host.store.chain import first_link, link
from host.store.codec import EncodedRecord, encode_record
from host.store.judging import judge
from host.store.verdicts import Claim, Gap, Kept, Verdict
from host.store.wreck import Row
from tests.host.store.samples import ROOT, accepted, opened

RECORDS: tuple[Record, ...] = (opened(), *(accepted(f"message {n}") for n in range(4)))


def row(seq: int, encoded: EncodedRecord, stored: bytes) -> Row:
    return {
        "agent_id": ROOT,
        "seq": seq,
        "kind": encoded.kind,
        "version": encoded.version,
        "data": encoded.data,
        "hash": stored,
    }


def whole() -> list[Row]:
    rows: list[Row] = []
    last = first_link(ROOT)
    for seq, record in enumerate(RECORDS):
        encoded = encode_record(record)
        last = link(last, encoded)
        rows.append(row(seq, encoded, last))
    return rows


def another(seq: int) -> Row:
    """A row of this place that is readable and was never written: left over from another log, for one."""
    return row(seq, encode_record(accepted("never said")), b"x" * 32)


def judged(rows: list[Row], *carved: Row) -> Verdict:
    return judge(ROOT, rows, {}, Claim(len(RECORDS)), has_hashes=True, carved=carved)


def kept(verdict: Verdict) -> dict[int, bool]:
    """The places of what is kept, and whether the chain proves it."""
    assert all(part.record == RECORDS[part.seq] for part in verdict.kept)
    return {part.seq: part.is_checked for part in verdict.kept}


def test_a_whole_log_is_kept_and_proven() -> None:
    verdict = judged(whole())
    assert kept(verdict) == dict.fromkeys(range(5), True)
    assert (verdict.gaps, verdict.complaints) == ((), ())


def test_what_was_carved_out_fills_its_place_where_the_chain_proves_it() -> None:
    rows = whole()
    carved = rows.pop(2)
    assert kept(judged(rows, another(2), carved)) == dict.fromkeys(range(5), True)


def test_what_was_carved_out_and_cannot_be_proven_is_not_taken() -> None:
    rows = whole()
    del rows[1:3]
    verdict = judged(rows, another(2))
    assert kept(verdict) == {0: True, 3: False, 4: True}
    assert verdict.gaps == (Gap(1, 2, "not there"),)


def test_behind_what_was_carved_out_and_proven_a_changed_record_is_found() -> None:
    rows = whole()
    rows[3] = {**rows[3], "data": encode_record(accepted("never said")).data}
    carved = rows.pop(2)
    verdict = judged(rows, carved)
    assert kept(verdict) == {0: True, 1: True, 2: True, 4: True}
    assert "was changed" in verdict.gaps[0].reason


def test_a_row_of_the_tree_stands_against_what_was_carved_out_at_its_place() -> None:
    rows = whole()
    del rows[1]
    assert kept(judged(rows, another(2))) == {0: True, 2: False, 3: True, 4: True}


def test_what_was_carved_out_does_not_stand_in_for_a_row_that_cannot_be_read() -> None:
    rows = whole()
    rows[2] = {**rows[2], "data": b"{}"}
    del rows[1]
    assert kept(judged(rows, another(2))) == {0: True, 3: True, 4: True}


def test_of_two_rows_of_the_tree_that_nothing_proves_none_is_taken() -> None:
    rows = whole()
    del rows[1]
    verdict = judged([*rows, another(2)])
    assert 2 not in kept(verdict)
    assert verdict.gaps[-1].reason == "several rows claim this place and none can be checked"


def test_a_changed_record_is_a_gap_that_tells_its_kind() -> None:
    rows = whole()
    rows[2] = {**rows[2], "data": b"{}"}
    (gap,) = judged(rows).gaps
    assert (gap.seq, gap.kind) == (2, "envelope_accepted")
    assert "was changed" in gap.reason


def test_a_record_whose_hash_alone_is_damaged_is_kept_and_told() -> None:
    rows = whole()
    rows[2] = {**rows[2], "hash": b"y" * 32}
    verdict = judged(rows)
    part = verdict.parts[2]
    assert part == Kept(2, encode_record(RECORDS[2]), RECORDS[2], is_checked=True, has_hash=False)
    assert verdict.complaints == ("record 2 is as it was written, but its hash is damaged",)
