"""The ranks of `o200k_base`: package data, loaded once, when first wanted, in a worker thread.

Loading takes most of a second of computing.
"""

import base64
import gzip
import hashlib
import threading
from binascii import Error as Base64Error
from importlib import resources
from typing import TYPE_CHECKING, Final

from anyio import to_thread

from providers.errors import RanksUnavailable

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
