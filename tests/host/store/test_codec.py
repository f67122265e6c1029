"""Records and events as JSON, there and back."""

import json
from contextlib import suppress
from dataclasses import asdict
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.address import Address
from actors.envelope import MAX_BODY_BYTES
from actors.errors import LogFailed
from actors.events import SessionEvent, TextArrived, ToolBegan
from actors.history import Authority, EntryId, MessageEntry, Origin
from actors.records import EntriesAppended, Record, SnapshotTaken
from host.errors import StoreDamaged
from host.store.codec import (
    EVENT_KINDS,
    RECORD_KINDS,
    EncodedRecord,
    decode_log,
    decode_record,
    encode_record,
    event_to_json,
)
from providers.model import (
    Block,
    FileBlock,
    ImageBlock,
    Message,
    ReasoningBlock,
    Role,
    TextBlock,
    ToolCall,
)
from tests.host.store.anything import any_of
from tests.host.store.samples import ROOT, accepted, opened, said


def there_and_back(record: Record) -> Record:
    return decode_record(encode_record(record), agent_id=ROOT, seq=0)


def holding(*blocks: Block, call_input: Any = None) -> EntriesAppended:
    """A record with these blocks and one tool call."""
    message = Message(Role.ASSISTANT, blocks, (ToolCall("c", "Tool", call_input),))
    return EntriesAppended((MessageEntry(EntryId("m"), message, Origin.MODEL, Authority.DATA),))


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("kind", get_args(Record), ids=lambda kind: kind.__name__)
def test_every_kind_of_record_comes_back_as_it_was(kind: type[Record]) -> None:
    @settings(max_examples=60, deadline=None)
    @given(record=any_of(kind))
    def check(record: Record) -> None:
        # By repr: NaN is not equal to itself, and 1 is equal to True and 1.0.
        assert repr(there_and_back(record)) == repr(record)

    check()


@settings(max_examples=150, deadline=None)
@given(blocks=st.lists(any_of(Block), max_size=4))
def test_blocks_keep_their_kind(blocks: list[Block]) -> None:
    assert there_and_back(holding(*blocks)) == holding(*blocks)


def test_blocks_that_share_fields_are_told_apart() -> None:
    blocks = (
        TextBlock("t"),
        ReasoningBlock("t"),
        ImageBlock("image/png", "data:"),
        FileBlock("image/png", data_url="data:"),
        FileBlock("text/plain", text="t"),
    )
    assert there_and_back(holding(*blocks)) == holding(*blocks)


def test_the_names_of_kinds_stay_what_old_stores_hold() -> None:
    assert set(RECORD_KINDS) >= {
        "agent_opened",
        "snapshot_taken",
        "envelope_accepted",
        "envelopes_taken",
        "envelopes_presented",
        "envelope_dropped",
        "entries_appended",
        "turn_started",
        "calls_started",
        "turn_ended",
        "state_changed",
        "mode_changed",
    }
    assert set(RECORD_KINDS.values()) == set(get_args(Record))
    assert set(EVENT_KINDS.values()) == set(get_args(SessionEvent))


def test_data_are_one_json_object_of_the_fields() -> None:
    encoded = encode_record(opened())
    assert (encoded.kind, encoded.version) == ("agent_opened", 1)
    assert json.loads(encoded.data) == asdict(opened())


@pytest.mark.parametrize("levels", [150, 190, 200, 230, 240])
def test_deep_input_comes_back(levels: int) -> None:
    assert there_and_back(holding(call_input=nested(levels))) == holding(call_input=nested(levels))


@pytest.mark.parametrize(
    "value",
    [nested(255), nested(5000), 10**4300, -(10**9000), object(), {"a": [object()]}],
    ids=["deep", "very deep", "long number", "longer number", "object", "object inside"],
)
def test_what_could_not_be_read_back_is_refused(value: Any) -> None:
    with pytest.raises(LogFailed, match="entries_appended cannot be stored"):
        encode_record(holding(call_input=value))


def test_a_long_row_of_digits_in_a_text_is_no_number() -> None:
    record = holding(TextBlock("7" * 10_000))
    assert there_and_back(record) == record


def test_a_body_of_the_greatest_size_comes_back() -> None:
    for letter in ("x", "\0", "\ud800", "🙂"):
        size = len(letter.encode("utf-8", "surrogatepass"))
        record = accepted(letter * (MAX_BODY_BYTES // size))
        assert there_and_back(record) == record


@pytest.mark.parametrize(
    "encoded",
    [
        EncodedRecord("nonsense", 1, b"{}"),
        EncodedRecord("turn_started", 2, b"{}"),
        EncodedRecord("turn_started", 1, b""),
        EncodedRecord("turn_started", 1, b"{"),
        EncodedRecord("turn_started", 1, b"null"),
        EncodedRecord("turn_started", 1, b"[]"),
        EncodedRecord("turn_started", 1, b"{}"),
        EncodedRecord("turn_started", 1, b"\xff\xfe"),
        EncodedRecord("turn_started", 1, b"\0" * 100),
        EncodedRecord("turn_started", 1, b"[" * 100_000),
        EncodedRecord("turn_started", 1, b'{"turn_id": "t", "model": "m", "at": "noon"}'),
        EncodedRecord("snapshot_taken", 1, b'{"snapshot": {"a": ' + b"9" * 5000 + b'}, "at": 1}'),
        EncodedRecord("turn_started", 1, None),  # type: ignore[arg-type]  # a damaged file may hold it
        EncodedRecord(None, "1", b"{}"),  # type: ignore[arg-type]  # as above
    ],
)
def test_a_damaged_record_is_named(encoded: EncodedRecord) -> None:
    with pytest.raises(StoreDamaged, match=f"record 7 of agent {ROOT}") as damaged:
        decode_record(encoded, agent_id=ROOT, seq=7)
    assert (damaged.value.agent_id, damaged.value.seq) == (ROOT, 7)


def test_an_envelope_over_the_limit_is_damage_and_no_crash() -> None:
    encoded = encode_record(accepted("x"))
    larger = encoded.data.replace(b'"body":"x"', b'"body":"' + b"x" * (MAX_BODY_BYTES + 1) + b'"')
    with pytest.raises(StoreDamaged, match="200,000"):
        decode_record(EncodedRecord(encoded.kind, 1, larger), agent_id=ROOT, seq=0)


@settings(max_examples=300, deadline=None)
@given(
    cut=st.integers(0, 400), flips=st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=4)
)
def test_no_garbling_of_the_bytes_crashes_the_reader(cut: int, flips: list[tuple[int, int]]) -> None:
    data = bytearray(encode_record(holding(TextBlock("text"), call_input={"a": 1})).data)
    for place, byte in flips:
        data[place % len(data)] = byte
    with suppress(StoreDamaged):
        decode_record(EncodedRecord("entries_appended", 1, bytes(data[: cut or None])), agent_id=ROOT, seq=3)


@pytest.mark.parametrize("seqs", [[1, 2], [0, 2], [0, 1], [0, 0, 1], []])
def test_a_log_with_a_gap_names_the_first_missing_record(seqs: list[int]) -> None:
    encoded = encode_record(said("x")[0])
    first_missing = next(number for number in range(4) if number >= len(seqs) or seqs[number] != number)
    with pytest.raises(StoreDamaged, match=f"record {first_missing} of agent {ROOT} is missing"):
        decode_log(ROOT, 3, [(seq, encoded) for seq in seqs])


def test_a_log_with_more_records_than_it_should_have_is_damaged() -> None:
    encoded = encode_record(said("x")[0])
    with pytest.raises(StoreDamaged, match="has 2 records, it should have 1"):
        decode_log(ROOT, 1, [(0, encoded), (1, encoded)])


def test_infinities_and_nan_survive() -> None:
    record = SnapshotTaken({"a": [float("inf"), float("-inf"), float("nan"), -0.0]}, float("inf"))
    assert repr(there_and_back(record)) == repr(record)


@pytest.mark.parametrize(
    "value",
    [
        {"\ud800": None},
        {"x\ud800": "\udfff", "x": 1},
        {"a": [{"b\udc80": {}}]},
        {"\ufffd\ufffd\ufffd": "\ufffd\ufffd\ufffd"},
    ],
)
def test_lone_surrogates_survive_in_keys_as_well(value: dict[str, Any]) -> None:
    assert there_and_back(SnapshotTaken(value, 1.0)) == SnapshotTaken(value, 1.0)
    assert there_and_back(holding(call_input=value)) == holding(call_input=value)
    assert event_to_json(ToolBegan(Address("main"), "c1", "Read", value))["input"] == value


def test_an_event_is_its_kind_and_its_fields() -> None:
    event = ToolBegan(Address("main"), "c1", "Read", {"path": "a"})
    assert event_to_json(event) == {
        "event": "tool_began",
        "agent": "main",
        "call_id": "c1",
        "name": "Read",
        "input": {"path": "a"},
    }


@pytest.mark.parametrize("kind", get_args(SessionEvent), ids=lambda kind: kind.__name__)
def test_every_event_can_be_printed_as_json(kind: type[SessionEvent]) -> None:
    assert "event" not in kind.__dataclass_fields__

    @settings(max_examples=30, deadline=None)
    @given(event=any_of(kind))
    def check(event: SessionEvent) -> None:
        printed = json.loads(json.dumps(event_to_json(event)))
        assert set(printed) == {"event", *kind.__dataclass_fields__}

    check()


def test_an_event_with_half_a_surrogate_pair_can_be_printed() -> None:
    printed = json.dumps(event_to_json(TextArrived(Address("main"), "\ud83d")))
    assert json.loads(printed)["text"] == "\ud83d"
