"""Counting tokens: by ranks, or by estimate."""

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from providers.estimate import (
    attachment_tokens,
    estimate_message,
    estimate_text,
    estimate_tools,
    message_texts,
    tool_text,
)
from providers.model import Message, ToolSpec
from providers.ports import TokenCounter
from providers.ranks import ensure_ranks, load_ranks, ranks_if_loaded

if TYPE_CHECKING:  # importing tiktoken costs more than all of this room
    import tiktoken

__all__ = [
    "CountCache",
    "EstimateCounter",
    "TiktokenCounter",
    "counter_for",
    "ensure_ranks",
    "load_ranks",
    "ranks_if_loaded",
]

# A run of blanks of several hundred thousand overflows the stack of tiktoken's
# regex engine and panics; counting in chunks is off by a token a border at most.
_CHUNK: Final = 50_000


def counter_for(model: str, encoding: "tiktoken.Encoding | None") -> TokenCounter:
    """The best counter for a model: by ranks, exact only for models known to use them; else the estimate."""
    if encoding is None:
        return EstimateCounter()
    return TiktokenCounter(encoding, is_exact=_uses_o200k(model))


def _uses_o200k(model: str) -> bool:
    from tiktoken.model import encoding_name_for_model

    try:
        return encoding_name_for_model(model) == "o200k_base"
    except KeyError:
        return False


T = TypeVar("T")


class CountCache(Generic[T]):
    """Counts by identity of the counted value, the ones used longest ago dropped first.

    Values must not change. Each is kept alive while its count is, so an id is
    never reused; that is why the bound is in tokens and not only in entries.
    """

    def __init__(
        self, count: Callable[[T], int], *, max_tokens: int = 8_000_000, max_entries: int = 65_536
    ) -> None:
        self._count = count
        self._max_tokens = max_tokens
        self._max_entries = max_entries
        self._known: OrderedDict[int, tuple[T, int]] = OrderedDict()
        self._n_tokens = 0

    def __len__(self) -> int:
        return len(self._known)

    def __call__(self, value: T) -> int:
        known = self._known.get(id(value))
        if known is not None:
            self._known.move_to_end(id(value))
            return known[1]
        n_tokens = self._count(value)
        self._known[id(value)] = (value, n_tokens)
        self._n_tokens += n_tokens
        self._shrink()
        return n_tokens

    def _shrink(self) -> None:
        while self._known and (self._n_tokens > self._max_tokens or len(self._known) > self._max_entries):
            _, (_, n_tokens) = self._known.popitem(last=False)
            self._n_tokens -= n_tokens


class TiktokenCounter:
    """Counts by token ranks; `is_exact` only for models that use these ranks."""

    def __init__(self, encoding: "tiktoken.Encoding", *, is_exact: bool = False) -> None:
        self._encoding = encoding
        self._is_exact = is_exact
        self._messages = CountCache(self._message)
        self._tools = CountCache(self._tool)

    @property
    def is_exact(self) -> bool:
        return self._is_exact

    def count_text(self, text: str) -> int:
        # never `encode`: it raises on "<|endoftext|>" in a text
        encode = self._encoding.encode_ordinary
        return sum(len(encode(text[at : at + _CHUNK])) for at in range(0, len(text), _CHUNK))

    def count_message(self, message: Message) -> int:
        return self._messages(message)

    def count_tools(self, tools: tuple[ToolSpec, ...]) -> int:
        return sum(map(self._tools, tools))

    def _message(self, message: Message) -> int:
        return sum(map(self.count_text, message_texts(message))) + attachment_tokens(message)

    def _tool(self, tool: ToolSpec) -> int:
        return self.count_text(tool_text(tool))


class EstimateCounter:
    """Counts characters; for want of ranks."""

    def __init__(self) -> None:
        self._messages = CountCache(estimate_message)
        self._tools = CountCache(_estimate_tool)

    @property
    def is_exact(self) -> bool:
        return False

    def count_text(self, text: str) -> int:
        return estimate_text(text)

    def count_message(self, message: Message) -> int:
        return self._messages(message)

    def count_tools(self, tools: tuple[ToolSpec, ...]) -> int:
        return sum(map(self._tools, tools))


def _estimate_tool(tool: ToolSpec) -> int:
    return estimate_tools((tool,))
