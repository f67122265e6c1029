"""Whatever became of an export on its way is noticed, and said."""

import base64
import gzip
import hashlib
import io
import json

import anyio
import pytest

from host.store.memory import MemoryStore
from host.transfer import ExportInvalid, seekable_copy
from host.transfer.checking import Checking
from host.transfer.lines import lines_of
from tests.host.store.samples import OTHER, ROOT, accepted, said
from tests.host.transfer.exports import checked, exported, filled


def made() -> bytes:
    """An export with two agents and an artifact."""

    async def scenario() -> bytes:
        async with MemoryStore(now_s=lambda: 1.0) as store:
            artifact = await store.put_artifact(b"a large text")
            await filled(store, accepted("Größe?"), *said(artifact), child=said("b\ud800"))
            return await exported(store)

    return anyio.run(scenario)


WHOLE = made()
LINES = WHOLE.splitlines(keepends=True)


def ended(lines: list[bytes]) -> bytes:
    """These lines with an end that fits them, as a program of somebody else may write them."""
    body = b"".join(lines)
    end = {"end": True, "lines": len(lines), "sha256": hashlib.sha256(body).hexdigest()}
    return body + json.dumps(end).encode() + b"\n"


def line(number: int, **fields: object) -> bytes:
    """A line of the export with other fields."""
    return json.dumps({**json.loads(LINES[number]), **fields}).encode() + b"\n"


def test_the_export_of_these_tests_is_whole() -> None:
    assert checked(WHOLE).artifact_lines == {7}
    assert len(LINES) == 8


def test_an_artifact_comes_once() -> None:
    with pytest.raises(ExportInvalid, match="wanted once, got it twice"):
        checked(ended([*LINES[:7], LINES[6]]))


def test_lines_that_another_program_wrote_with_blanks_are_taken() -> None:
    assert checked(ended([line(number) for number in range(7)])) == checked(WHOLE)


def test_one_bit_flipped_anywhere_is_noticed() -> None:
    for place in range(len(WHOLE)):
        for bit in range(8):
            flipped = bytearray(WHOLE)
            flipped[place] ^= 1 << bit
            with pytest.raises(ExportInvalid):
                checked(bytes(flipped))


@pytest.mark.parametrize("n_lines", range(len(LINES)))
def test_a_file_cut_behind_any_line_is_noticed(n_lines: int) -> None:
    wanted = "empty file" if n_lines == 0 else f"cut off behind line {n_lines}:"
    with pytest.raises(ExportInvalid, match=wanted):
        checked(b"".join(LINES[:n_lines]))


def test_a_file_cut_at_any_byte_is_noticed() -> None:
    for n_bytes in range(len(WHOLE)):
        with pytest.raises(ExportInvalid):
            checked(WHOLE[:n_bytes])


@pytest.mark.parametrize("number", range(len(LINES)))
def test_a_line_that_is_missing_doubled_or_moved_is_noticed(number: int) -> None:
    others = [*LINES[:number], *LINES[number + 1 :]]
    for altered in (others, [*LINES[:number], *LINES[number : number + 1] * 2, *LINES[number + 1 :]]):
        with pytest.raises(ExportInvalid):
            checked(b"".join(altered))
    for place in range(len(LINES)):
        if place != number:
            with pytest.raises(ExportInvalid):
                checked(b"".join([*others[:place], LINES[number], *others[place:]]))


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (b"", "got an empty file"),
        (b"\n", "the bytes 0a"),
        (b"Dear diary,\n", "begins with 'Dear diary,'"),
        (bytes(range(200, 256)), "the bytes c8 c9"),
        (b"\0" * 1000, "the bytes 00 00"),
        (b'{"name": "main"}\n', "no field 'callboard_export'"),
        (b"[1, 2]\n", "begins with"),
        (gzip.compress(WHOLE, mtime=0), "a gzip file"),
        (gzip.compress(WHOLE, mtime=0)[:50], "a gzip file"),
        (b"SQLite format 3\0" + bytes(100), "an SQLite file"),
        ("\ufeff".encode() + WHOLE, "a byte order mark"),
        (WHOLE.decode().encode("utf-16"), "UTF-16"),
        (WHOLE.replace(b"\n", b"\r\n"), "CR LF"),
        (WHOLE.replace(b"\n", b"\r"), "line 1: JSON wanted|middle of this line"),
        (LINES[0].rstrip(), "line 1: the file is cut off in the middle"),
        (WHOLE + b"\n", "line 9: nothing wanted behind the end"),
        (WHOLE * 2, "line 9: nothing wanted behind the end"),
        (LINES[0] + b"\xff\n", "line 2: JSON wanted, but 'utf-8' codec"),
        (LINES[0] + b"[" * 100_000 + b"\n", "line 2: JSON wanted"),
        (LINES[0] + b"NaN\n", "line 2: JSON wanted, but NaN is no JSON number"),
        (LINES[0] + b"9" * 5000 + b"\n", "line 2: JSON wanted"),
        (LINES[0] + b"3\n", "line 2: a JSON object wanted, got int"),
        (LINES[0] + b"{}\n", "line 2: .*, got the fields none"),
        (LINES[0] + b'{"who": 1}\n', "line 2: .*, got the fields 'who'"),
    ],
)
def test_what_is_no_export_is_called_by_its_name(data: bytes, wanted: str) -> None:
    with pytest.raises(ExportInvalid, match=wanted):
        checked(data)


@pytest.mark.parametrize(
    ("number", "fields", "wanted"),
    [
        (0, {"callboard_export": 2}, "version 2 of the format, this program knows up to 1"),
        (0, {"callboard_export": 0}, "version 1 of the format wanted, got 0"),
        (0, {"callboard_export": True}, "version 1 of the format wanted, got True"),
        (0, {"callboard_export": "1"}, "version 1 of the format wanted, got '1'"),
        (0, {"more": 1}, "more: Extra"),
        (0, {"exact": 1}, "exact: "),
        (0, {"agents": []}, "'a-root' wanted as the first agent"),
        (0, {"session": "other"}, "'other' wanted as the first agent"),
        (0, {"agents": [{"agent": ROOT, "name": "a", "records": 1}] * 2}, "once"),
        (0, {"agents": [{"agent": ROOT, "name": "a", "records": 0}]}, "at least one record"),
        (0, {"session": "\x07", "agents": [{"agent": "\x07", "name": "a", "records": 1}]}, "printable"),
        (1, {"version": 2}, "kind 'agent_opened' version 2 is not known here"),
        (1, {"kind": "told"}, "kind 'told' version 1 is not known here"),
        (1, {"kind": "state_changed"}, "no state_changed in its data"),
        (1, {"seq": 1}, "record 0 of agent a-root wanted, got record 1 of agent 'a-root'"),
        (1, {"agent": OTHER}, "record 0 of agent a-root wanted, got record 0 of agent 'a-other'"),
        (1, {"data": {**json.loads(LINES[1])["data"], "root_id": "x"}}, "of session 'x'"),
        (1, {"data": {**json.loads(LINES[1])["data"], "name": "no name!"}}, "no name!"),
        (1, {"data": {**json.loads(LINES[1])["data"], "parent_id": OTHER}}, "no agent wanted above"),
        (1, {"data": json.loads(LINES[3])["data"], "kind": "state_changed"}, "agent_opened wanted"),
        (2, {"seq": "1"}, "seq: "),
        (2, {"data": 3}, "data: "),
        (2, {"data": {}}, "no envelope_accepted in its data"),
        (4, {"data": {**json.loads(LINES[4])["data"], "parent_id": None}}, "an agent of this export wanted"),
        (4, {"data": {**json.loads(LINES[4])["data"], "parent_id": "x"}}, "an agent of this export wanted"),
        (5, {"text": "{"}, "no state_changed in its data"),
        (6, {"base64": "!"}, "base64 of artifact"),
        (6, {"base64": base64.b64encode(b"another").decode()}, "has bytes with the hash"),
        (6, {"artifact": "0" * 64}, "has bytes with the hash"),
    ],
)
def test_a_line_that_says_something_wrong_is_named(
    number: int, fields: dict[str, object], wanted: str
) -> None:
    altered = ended([*LINES[:number], line(number, **fields), *LINES[number + 1 : -1]])
    with pytest.raises(ExportInvalid, match=f"line {number + 1}: .*{wanted}"):
        checked(altered)


def test_a_line_of_any_length_does_not_fill_the_memory() -> None:
    zeros = io.BytesIO(WHOLE[: len(LINES[0])] + b"0" * 10_000)
    with pytest.raises(ExportInvalid, match="line 2: at most 5,000 bytes wanted, got more"):
        list(lines_of(zeros, limit_bytes=5000))
    with pytest.raises(ExportInvalid, match="line 1: at most 20 bytes wanted, got more"):
        list(lines_of(io.BytesIO(WHOLE), first_limit_bytes=20))


def test_a_stream_of_garbage_is_not_read_to_its_end() -> None:
    garbage = io.BytesIO(b"\0" * 10_000_000)
    with pytest.raises(ExportInvalid, match="the bytes 00"), seekable_copy(garbage):
        pass
    assert garbage.tell() < 1_000_000
    with seekable_copy(io.BytesIO(WHOLE)) as copy:
        assert copy.read() == WHOLE


def test_a_check_that_has_not_ended_gives_nothing() -> None:
    checking = Checking()
    for one in LINES[:-1]:
        checking.take(one)
    with pytest.raises(ExportInvalid, match="its end is missing"):
        checking.finish()
