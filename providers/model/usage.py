"""Tokens that a provider reported for one request."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of one request, or sums of several.

    `input_tokens` are the uncached ones; what was read from and written to
    the provider's cache stands beside them, so the three add up to the whole
    input. `reasoning_tokens` are part of `output_tokens`. `is_estimated` says
    that a provider reported nothing and the host counted by itself.
    """

    input_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    is_estimated: bool = False

    @property
    def total_input_tokens(self) -> int:
        """What the request filled of the window before the answer."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input_tokens + other.input_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            self.output_tokens + other.output_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            self.is_estimated or other.is_estimated,
        )
