"""Fresh ids: the time and enough randomness to be unique for ever."""

import secrets
import time
from itertools import count


class RandomIds:
    """`prefix_` and 22 hexadecimal digits, sorted by time of making."""

    def new(self, prefix: str) -> str:
        return f"{prefix}_{time.time_ns() // 1_000_000:012x}{secrets.token_hex(5)}"


class CountingIds:
    """`prefix_1`, `prefix_2`, …: for tests that compare whole logs."""

    def __init__(self) -> None:
        self._next = count(1)

    def new(self, prefix: str) -> str:
        return f"{prefix}_{next(self._next)}"
