"""Does a request fit the window? Pure; the counts are arguments."""

from dataclasses import dataclass

MAX_RESERVE_TOKENS = 21_000


@dataclass(frozen=True, slots=True)
class RequestSize:
    """Tokens of one request by input, in a window of `window`; `reserve` is kept free for the answer."""

    prefix: int
    tools: int
    conversation: int
    window: int
    reserve: int

    @property
    def total(self) -> int:
        return self.prefix + self.tools + self.conversation

    @property
    def is_fitting(self) -> bool:
        return self.total <= self.window - self.reserve

    @property
    def is_large(self) -> bool:
        """Near enough to the bound that it matters how exactly the tokens were counted."""
        return 2 * self.total > self.window - self.reserve

    def explain(self) -> str:
        """Every figure, for the error that says why a request was not sent."""
        return (
            f"the request needs about {self.total:,} tokens (prefix {self.prefix:,}, tools {self.tools:,}, "
            f"conversation {self.conversation:,}), but of the window of {self.window:,} only "
            f"{max(0, self.window - self.reserve):,} are free ({self.reserve:,} are kept for the answer)"
        )


def reserve_tokens(max_output_tokens: int, window_tokens: int) -> int:
    """What is kept free for the answer: its limit, but at most 21,000 and a quarter of the window."""
    return min(max_output_tokens, MAX_RESERVE_TOKENS, window_tokens // 4)
