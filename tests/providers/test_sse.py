from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.errors import ProtocolMismatch
from providers.sse import ServerSentEvent, SseDecoder
from tests.providers.streams import decoded


def feed_all(sse: SseDecoder, chunks: list[bytes]) -> None:
    for chunk in chunks:
        sse.feed(chunk)


STREAM = (
    "\ufeff: a comment\r\n"
    "event: first\r\ndata: one\u2028line \u0085 \u2029 still\r\n\r\n"
    "data: 👩‍🚀 grüße\ndata:  two\ndata\n\n"
    "id: 7\nretry: 10\nunknown: x\ndata: third\r\r"
    ": only a comment\n\n"
    "event: nothing\n\n"
    'data: {"last": true}'
).encode()
EVENTS = [
    ServerSentEvent("first", "one\u2028line \u0085 \u2029 still"),
    ServerSentEvent("message", "👩‍🚀 grüße\n two\n"),
    ServerSentEvent("message", "third"),
    ServerSentEvent("message", '{"last": true}'),
]


def test_a_stream_in_one_piece_gives_its_events() -> None:
    assert decoded([STREAM]) == EVENTS


def test_a_stream_byte_by_byte_gives_the_same_events() -> None:
    assert decoded(STREAM[i : i + 1] for i in range(len(STREAM))) == EVENTS


@given(st.lists(st.integers(0, len(STREAM))))
def test_no_cut_changes_the_events(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(STREAM)]
    assert decoded(STREAM[a:b] for a, b in pairwise(places)) == EVENTS


@pytest.mark.parametrize("line_end", [b"\n", b"\r", b"\r\n"])
def test_every_line_end_of_the_standard_ends_a_line(line_end: bytes) -> None:
    stream = line_end.join([b"data: a", b"data: b", b"", b"data: c", b"", b""])
    want = [ServerSentEvent("message", "a\nb"), ServerSentEvent("message", "c")]
    assert decoded([stream]) == want
    assert decoded(stream[i : i + 1] for i in range(len(stream))) == want


def test_an_event_comes_out_with_the_byte_that_completes_it() -> None:
    sse = SseDecoder()
    assert sse.feed(b"data: a\n") == ()
    assert sse.feed(b"\n") == (ServerSentEvent("message", "a"),)
    assert sse.close() == ()


def test_a_byte_order_mark_is_skipped_at_the_beginning_only() -> None:
    assert decoded([b"\xef\xbb", b"\xbfdata: a\n\n\xef\xbb\xbfdata: b\n\n"]) == [
        ServerSentEvent("message", "a")
    ]


def test_bytes_that_are_no_utf8_become_the_replacement_character() -> None:
    assert decoded([b"data: a\xffb\n\n"]) == [ServerSentEvent("message", "a\ufffdb")]


def test_a_name_does_not_leak_into_the_next_event() -> None:
    assert decoded([b"event: x\n\ndata: a\n\n"]) == [ServerSentEvent("message", "a")]


def test_an_event_of_ten_megabytes_comes_through() -> None:
    data = b"x" * 10_000_000
    stream = b"data: " + data + b"\n\n"
    events = decoded(stream[i : i + 65_536] for i in range(0, len(stream), 65_536))
    assert [len(event.data) for event in events] == [10_000_000]


@pytest.mark.parametrize(
    "stream", [b"data: " + b"x" * 200, b"data: 1234567\n" * 20, b":" + b"c" * 200 + b"\n"]
)
def test_an_event_over_the_bound_is_refused(stream: bytes) -> None:
    for size in (1, 7, len(stream)):
        sse = SseDecoder(max_event_bytes=100)
        with pytest.raises(ProtocolMismatch, match="100 bytes"):
            feed_all(sse, [stream[i : i + size] for i in range(0, len(stream), size)])


def test_many_small_events_in_one_chunk_stay_under_the_bound() -> None:
    sse = SseDecoder(max_event_bytes=100)
    assert len(sse.feed(b"data: 12345\n\n" * 1000)) == 1000


@given(st.lists(st.binary(max_size=40), max_size=20))
def test_garbage_never_does_more_than_the_bound_says(chunks: list[bytes]) -> None:
    assert decoded(chunks) == decoded([b"".join(chunks)])
