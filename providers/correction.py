"""Counted tokens against what a model was seen to count."""

import math
from typing import Final

from providers.model import Message, ToolSpec, Usage
from providers.ports import TokenCounter


class CorrectedCounter:
    """Another counter, and what one model was seen to count more or less.

    Counts are the other counter's, so that they can be kept and added up;
    `corrected` makes of a sum what the model will. One of these per provider
    and model. `ratio` is the smoothed quotient of
    reported and own count, between 0.5 and 2: what lies beyond is no other
    tokenizer but another request (a cut one, a hidden prompt).
    """

    _MIN_RATIO: Final = 0.5
    _MAX_RATIO: Final = 2.0
    _WEIGHT_OF_NEWEST: Final = 0.3
    # below this, framing outweighs the text and says nothing about the tokenizer
    _MIN_TOKENS: Final = 200

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._ratio: float | None = None

    @property
    def ratio(self) -> float:
        return 1.0 if self._ratio is None else self._ratio

    @property
    def is_exact(self) -> bool:
        return self._counter.is_exact

    def observe(self, n_counted: int, usage: Usage) -> None:
        """Learns from a provider's report on a request of so many counted tokens; estimates teach nothing."""
        reported = usage.total_input_tokens
        if usage.is_estimated or n_counted < self._MIN_TOKENS or reported <= 0:
            return
        seen = min(self._MAX_RATIO, max(self._MIN_RATIO, reported / n_counted))
        self._ratio = (
            seen if self._ratio is None else self._ratio + self._WEIGHT_OF_NEWEST * (seen - self._ratio)
        )

    def count_text(self, text: str) -> int:
        return self._counter.count_text(text)

    def count_message(self, message: Message) -> int:
        return self._counter.count_message(message)

    def count_tools(self, tools: tuple[ToolSpec, ...]) -> int:
        return self._counter.count_tools(tools)

    def corrected(self, n_tokens: int) -> int:
        """What the model is expected to make of so many counted tokens."""
        return math.ceil(n_tokens * self.ratio)
