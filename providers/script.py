"""The words of a script: what a scripted model says, calls and suffers, piece by piece.

    [think("Which file?"), say("I will ", "look."), wait(2.0), call("Read", {"path": "a.md"})]

is one answer. Pieces are plain values; `providers.script_plan` turns an answer
into the events that a real adapter would give.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

import anyio
from pydantic import JsonValue

from providers.errors import ProviderError
from providers.model import StopReason, Usage


@dataclass(frozen=True, slots=True)
class Say:
    pieces: tuple[str, ...]


class Seal(Enum):
    """A signature that the model makes up, another one for every thought."""

    FRESH = "fresh"


@dataclass(frozen=True, slots=True)
class Think:
    pieces: tuple[str, ...]
    signature: str | Seal | None


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    input: JsonValue
    call_id: str | None
    raw: str | None
    takes_s: float
    is_cut: bool


@dataclass(frozen=True, slots=True)
class Wait:
    seconds: float


@dataclass(frozen=True, slots=True)
class WaitFor:
    event: anyio.Event


@dataclass(frozen=True, slots=True)
class Fail:
    error: ProviderError


@dataclass(frozen=True, slots=True)
class Begin:
    pass


@dataclass(frozen=True, slots=True)
class Report:
    usage: Usage


@dataclass(frozen=True, slots=True)
class Stop:
    reason: StopReason


Piece: TypeAlias = Say | Think | Call | Wait | WaitFor | Fail | Begin | Report | Stop
Answer: TypeAlias = str | Piece | Sequence[str | Piece]
"""One answer: a text, a piece, or pieces in order. A plain string is `say` of it."""


def say(*pieces: str) -> Say:
    """Text, streamed in as many pieces as are given. Neighbouring texts are one block."""
    return Say(pieces)


def record(value: JsonValue) -> Say:
    """A structured answer: the value as JSON text."""
    return Say((json.dumps(value, ensure_ascii=False),))


def think(*pieces: str, signature: str | Seal | None = Seal.FRESH) -> Think:
    """Visible thinking, kept with a signature as a real model's is; None leaves it without one.

    Sealed thinking can be sent back only behind what it stood behind.
    """
    return Think(pieces, signature)


def call(
    name: str,
    arguments: JsonValue = None,
    *,
    call_id: str | None = None,
    raw: str | None = None,
    takes_s: float = 0.0,
) -> Call:
    """A tool call; no arguments are an empty object, and the id is made up if none is given.

    `takes_s` passes between the begin and the end of the arguments. `raw` is
    argument text as it stood on the wire, for arguments that do not parse.
    """
    return Call(name, {} if arguments is None else arguments, call_id, raw, takes_s, is_cut=False)


def cut_call(name: str, raw: str = '{"', *, call_id: str | None = None) -> Call:
    """A tool call in whose middle the output limit struck; the answer stops by `max_tokens`."""
    return Call(name, {}, call_id, raw, 0.0, is_cut=True)


def wait(seconds: float) -> Wait:
    """Time that passes. At the head of an answer: before the provider accepts the request."""
    return Wait(seconds)


def wait_for(event: anyio.Event) -> WaitFor:
    """Stands still until the test sets the event."""
    return WaitFor(event)


def fail(error: ProviderError) -> Fail:
    """The end by an error: at the head of an answer instead of one, else in its middle."""
    return Fail(error)


def begin() -> Begin:
    """The request is accepted now, before anything is said; else that happens with the first piece."""
    return Begin()


def report(
    input_tokens: int, output_tokens: int, *, cache_read_tokens: int = 0, cache_write_tokens: int = 0
) -> Report:
    """The usage that the provider reports, instead of the estimate of request and answer."""
    return Report(Usage(input_tokens, cache_read_tokens, cache_write_tokens, output_tokens))


def stop(reason: StopReason) -> Stop:
    """Why the answer ends, where calls or no calls do not say it."""
    return Stop(reason)
