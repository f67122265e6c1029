"""Server-sent events out of bytes, however the network cut them.

Lines end at CR, LF or CRLF and nowhere else: U+2028 and its like are
ordinary characters inside a JSON string. Bytes become text only when an
event is whole, so no character is ever cut in two.
"""

import re
from dataclasses import dataclass

from providers.errors import ProtocolMismatch

MAX_EVENT_BYTES = 16 * 1024 * 1024

_LINE_END = re.compile(rb"\r\n|\n|\r")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    """One event; `event` is "message" where the server named none."""

    event: str
    data: str


class SseDecoder:
    """Fed with chunks, gives the events that became whole with each.

    An event without data is none, comments and unknown fields are skipped,
    and bytes that are no UTF-8 become U+FFFD, as the standard says. Unlike
    the standard, `close` gives an event whose last blank line is missing.
    """

    def __init__(self, *, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._max_event_bytes = max_event_bytes
        self._line = bytearray()
        self._data: list[bytes] = []
        self._n_data_bytes = 0
        self._event = b""
        self._is_first_line = True
        self._ended_with_cr = False

    def feed(self, chunk: bytes) -> tuple[ServerSentEvent, ...]:
        """The events that this chunk completes.

        Raises:
            ProtocolMismatch: an event is larger than `max_event_bytes`.
        """
        if not chunk:
            return ()
        if self._ended_with_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        self._ended_with_cr = chunk.endswith(b"\r")
        head, *rest = _LINE_END.split(chunk)
        self._line += head
        self._check_size()
        if not rest:
            return ()
        lines = [bytes(self._line), *rest[:-1]]
        self._line = bytearray(rest[-1])
        events = [event for line in lines if (event := self._take(line)) is not None]
        self._check_size()
        return tuple(events)

    def close(self) -> tuple[ServerSentEvent, ...]:
        """What the end of the input completes."""
        events = [self._take(bytes(self._line)), self._take(b"")]
        self._line.clear()
        return tuple(event for event in events if event is not None)

    def _take(self, line: bytes) -> ServerSentEvent | None:
        if self._is_first_line:
            self._is_first_line = False
            line = line.removeprefix(_BYTE_ORDER_MARK)
        if not line:
            return self._dispatch()
        field, _, value = line.partition(b":")
        if field == b"data":
            self._data.append(value.removeprefix(b" "))
            self._n_data_bytes += len(value)
            self._check_size()
        elif field == b"event":
            self._event = value.removeprefix(b" ")
        return None

    def _dispatch(self) -> ServerSentEvent | None:
        data, event = self._data, self._event
        self._data, self._event, self._n_data_bytes = [], b"", 0
        if not data:
            return None
        text = data[0] if len(data) == 1 else b"\n".join(data)
        return ServerSentEvent(event.decode("utf-8", "replace") or "message", text.decode("utf-8", "replace"))

    def _check_size(self) -> None:
        size = self._n_data_bytes + len(self._line)
        if size > self._max_event_bytes:
            raise ProtocolMismatch(f"one event of the stream is larger than {self._max_event_bytes:,} bytes")
