"""The first and the last bytes of a stream of any length, in bounded memory."""

from collections import deque
from dataclasses import dataclass, field

_CONTINUATION = 0b10


@dataclass(slots=True)
class HeadAndTail:
    """Takes bytes; keeps the first `head_bytes` and the last `tail_bytes` of them."""

    head_bytes: int
    tail_bytes: int
    n_bytes: int = 0
    _head: bytearray = field(default_factory=bytearray)
    _tail: deque[bytes] = field(default_factory=deque)
    _n_tail: int = 0

    def add(self, data: bytes) -> None:
        self.n_bytes += len(data)
        n_free = self.head_bytes - len(self._head)
        self._head += data[:n_free]
        rest = data[n_free:] if n_free else data
        if rest:
            self._tail.append(rest)
            self._n_tail += len(rest)
        while self._tail and self._n_tail - len(self._tail[0]) >= self.tail_bytes:
            self._n_tail -= len(self._tail.popleft())

    def text(self) -> str:
        """What was kept, with a line that says how much was not."""
        tail = b"".join(self._tail)
        n_left_out = self.n_bytes - len(self._head) - min(len(tail), self.tail_bytes)
        if not n_left_out:
            return (bytes(self._head) + tail).decode("utf-8", "replace")
        head = _without_open_end(bytes(self._head)).decode("utf-8", "replace")
        end = _without_open_start(tail[len(tail) - self.tail_bytes :]).decode("utf-8", "replace")
        return f"{head}\n[… {n_left_out:,} of {self.n_bytes:,} bytes left out here …]\n{end}"


def _without_open_end(data: bytes) -> bytes:
    """Up to the last whole UTF-8 character."""
    for n_back in range(1, min(4, len(data)) + 1):
        byte = data[-n_back]
        if byte >> 6 != _CONTINUATION:
            is_open = byte >= 0xC0 and n_back < _length(byte)
            return data[:-n_back] if is_open else data
    return data


def _without_open_start(data: bytes) -> bytes:
    """From the first byte that can begin a UTF-8 character."""
    n_open = next((n for n, byte in enumerate(data[:3]) if byte >> 6 != _CONTINUATION), min(3, len(data)))
    return data[n_open:]


def _length(first_byte: int) -> int:
    return 4 if first_byte >= 0xF0 else 3 if first_byte >= 0xE0 else 2
