"""Counting tokens: by the ranks of `o200k_base`, by estimate, and corrected by what providers report.

The ranks are package data. Loading them takes most of a second of computing,
so it happens once, when first wanted, in a worker thread (`ensure_ranks`).
"""

import base64
import gzip
import hashlib
import math
import threading
from binascii import Error as Base64Error
from collections import OrderedDict
from collections.abc import Callable
from importlib import resources
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from anyio import to_thread

from providers.errors import RanksUnavailable
from providers.estimate import (
    attachment_tokens,
    estimate_message,
    estimate_text,
    estimate_tools,
    message_texts,
    tool_text,
)
from providers.model import Message, Request, ToolSpec, Usage
from providers.ports import TokenCounter

if TYPE_CHECKING:  # importing tiktoken costs more than all of this room
    import tiktoken

_RANKS_FILE: Final = "o200k_base.tiktoken.gz"
_RANKS_SHA256: Final = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
_SPECIAL_TOKENS: Final = {"<|endoftext|>": 199_999, "<|endofprompt|>": 200_018}
_ENDING: Final = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_UPPER: Final = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}"
_LOWER: Final = r"\p{Ll}\p{Lm}\p{Lo}\p{M}"
_PATTERN: Final = "|".join(
    [
        rf"[^\r\n\p{{L}}\p{{N}}]?[{_UPPER}]*[{_LOWER}]+{_ENDING}",
        rf"[^\r\n\p{{L}}\p{{N}}]?[{_UPPER}]+[{_LOWER}]*{_ENDING}",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)
# A run of blanks of several hundred thousand overflows the stack of tiktoken's
# regex engine and panics; counting in chunks is off by a token a border at most.
_CHUNK: Final = 50_000


class _Loaded:
    """The one encoding of the process; ranks take 60 MB, so nobody gets a second copy."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.encoding: tiktoken.Encoding | None = None

    def get(self) -> "tiktoken.Encoding":
        with self._lock:
            if self.encoding is None:
                self.encoding = _build(
                    resources.files("providers").joinpath("data", _RANKS_FILE).read_bytes()
                )
            return self.encoding


_LOADED: Final = _Loaded()


def _build(compressed: bytes) -> "tiktoken.Encoding":
    import tiktoken

    return tiktoken.Encoding(
        "o200k_base",
        pat_str=_PATTERN,
        mergeable_ranks=parse_ranks(compressed),
        special_tokens=_SPECIAL_TOKENS,
    )


def parse_ranks(compressed: bytes, sha256: str = _RANKS_SHA256) -> dict[bytes, int]:
    """Token bytes to rank, of a gzipped rank file.

    Raises:
        RanksUnavailable: it is not gzip, or not the file that the hash is of.
    """
    try:
        plain = gzip.decompress(compressed)
    except (OSError, EOFError, ValueError) as exc:
        raise RanksUnavailable(f"the token ranks ({_RANKS_FILE}) are damaged: {exc}") from exc
    got = hashlib.sha256(plain).hexdigest()
    if got != sha256:
        raise RanksUnavailable(f"the token ranks ({_RANKS_FILE}) have SHA-256 {got}; wanted {sha256}")
    try:
        return {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, plain.splitlines())}
    except (ValueError, Base64Error) as exc:
        raise RanksUnavailable(f"the token ranks ({_RANKS_FILE}) have a line that is not one: {exc}") from exc


def load_ranks() -> "tiktoken.Encoding":
    """The encoding `o200k_base`; the first call computes for most of a second, so call it in a thread.

    Raises:
        RanksUnavailable: the package data is missing or damaged.
    """
    try:
        return _LOADED.get()
    except OSError as exc:
        raise RanksUnavailable(f"the token ranks ({_RANKS_FILE}) cannot be read: {exc}") from exc


async def ensure_ranks() -> "tiktoken.Encoding":
    """`load_ranks` in a worker thread, or at once where it has been done."""
    if _LOADED.encoding is not None:
        return _LOADED.encoding
    return await to_thread.run_sync(load_ranks)


def ranks_if_loaded() -> "tiktoken.Encoding | None":
    """The encoding where someone has loaded it; never waits."""
    return _LOADED.encoding


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

    @property
    def is_exact(self) -> bool:
        return False

    def count_text(self, text: str) -> int:
        return estimate_text(text)

    def count_message(self, message: Message) -> int:
        return self._messages(message)

    def count_tools(self, tools: tuple[ToolSpec, ...]) -> int:
        return estimate_tools(tools)


def count_request(counter: TokenCounter, request: Request) -> int:
    """The tokens of a request's messages and tools, without the provider's framing."""
    return sum(map(counter.count_message, request.messages)) + counter.count_tools(request.tools)


class CorrectedCounter:
    """Another counter times what one model was seen to count more or less.

    One of these per provider and model. `ratio` is the smoothed quotient of
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

    def observe(self, request: Request, usage: Usage) -> None:
        """Learns from a provider's report on a request; its own estimates teach nothing."""
        counted = count_request(self._counter, request)
        reported = usage.total_input_tokens
        if usage.is_estimated or counted < self._MIN_TOKENS or reported <= 0:
            return
        seen = min(self._MAX_RATIO, max(self._MIN_RATIO, reported / counted))
        self._ratio = (
            seen if self._ratio is None else self._ratio + self._WEIGHT_OF_NEWEST * (seen - self._ratio)
        )

    def count_text(self, text: str) -> int:
        return self._corrected(self._counter.count_text(text))

    def count_message(self, message: Message) -> int:
        return self._corrected(self._counter.count_message(message))

    def count_tools(self, tools: tuple[ToolSpec, ...]) -> int:
        return self._corrected(self._counter.count_tools(tools))

    def _corrected(self, n_tokens: int) -> int:
        return math.ceil(n_tokens * self.ratio)
