"""A model that follows a script, and is stricter than any real one.

    provider = ScriptedProvider([
        [say("I will look."), call("Read", {"path": "a.md"})],
        "It says hello.",
    ])

Each request takes the next answer; a request that breaks a wire rule of any
format is refused. Where several agents share the provider, `routes` gives
each a script of its own:

    provider = ScriptedProvider(routes(
        ("You coordinate", [[call("Agent", {…}), call("Agent", {…})], "Both are done."]),
        ("Read the page on doors", ["Doors open."]),
        (otherwise, always("Yes.")),
    ))
"""

import copy
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Final, TypeAlias

import anyio.lowlevel

from providers.errors import IllegalRequest, ScriptExhausted
from providers.estimate import estimate_message, estimate_tools
from providers.legality import check
from providers.model import Dialect, ModelEvent, ModelProfile, Request, Role, text_of
from providers.script import (
    Answer,
    Fail,
    Piece,
    Wait,
    WaitFor,
    begin,
    call,
    cut_call,
    fail,
    record,
    report,
    say,
    stop,
    think,
    wait,
    wait_for,
)
from providers.script_plan import Action, Stamp, plan

__all__ = [
    "SCRIPTED_PROFILE",
    "Answer",
    "Piece",
    "Script",
    "ScriptedProvider",
    "always",
    "begin",
    "call",
    "cut_call",
    "fail",
    "otherwise",
    "record",
    "report",
    "routes",
    "say",
    "stop",
    "think",
    "wait",
    "wait_for",
]

Script: TypeAlias = Sequence[Answer] | Callable[[Request], Answer]
"""Answers in order, or a function that makes one for each request."""

SCRIPTED_PROFILE: Final = ModelProfile(
    "scripted",
    window_tokens=200_000,
    max_output_tokens=32_000,
    mid_conversation_system=True,
    images=True,
    cache_marks=True,
)


class ScriptedProvider:
    """A `Provider` whose answers are written down beforehand.

    Answers are taken in the order in which requests arrive. `requests` holds
    every request, refused ones too; `n_open` counts the streams that are
    being read.

    Raises (from `stream`, while entering):
        IllegalRequest: the request breaks a rule of one of `dialects`.
        ScriptExhausted: there is no answer left, or no route fits.
    """

    def __init__(
        self,
        script: Script,
        *,
        name: str = "scripted",
        profile: ModelProfile = SCRIPTED_PROFILE,
        dialects: Sequence[Dialect] = tuple(Dialect),
    ) -> None:
        self._answer = _as_function(script)
        self._name = name
        self._dialects = tuple(dialects)
        self._requests: list[Request] = []
        self.profile = profile
        self.n_open = 0

    @property
    def name(self) -> str:
        return self._name

    @property
    def requests(self) -> tuple[Request, ...]:
        return tuple(self._requests)

    def stream(self, request: Request) -> AbstractAsyncContextManager[AsyncIterator[ModelEvent]]:
        return _Opening(self, request)

    def take(self, request: Request) -> tuple[Action, ...]:
        """Records and checks a request and plans its answer; `stream` does this on entering."""
        self._requests.append(request)
        number = len(self._requests)
        self._refuse_illegal(request, number)
        try:
            answer = self._answer(request)
        except ScriptExhausted as exc:
            raise ScriptExhausted(f"{self._name}: {exc} (request {number})") from exc
        tokens = sum(map(estimate_message, request.messages)) + estimate_tools(request.tools)
        return plan(answer, Stamp(number, request.model), tokens)

    def _refuse_illegal(self, request: Request, number: int) -> None:
        problems = [
            f"{dialect}: {finding.rule} at {_place(finding.message_index)}: {finding.text}"
            for dialect in self._dialects
            for finding in check(request, dialect, self.profile)
        ]
        if problems:
            raise IllegalRequest(f"{self._name} refuses request {number}; " + "; ".join(problems))


def _place(message_index: int | None) -> str:
    return "the request" if message_index is None else f"message {message_index}"


class _Opening:
    """One request: accepted or failed on entering, read as a stream, closed on leaving."""

    def __init__(self, provider: ScriptedProvider, request: Request) -> None:
        self._provider = provider
        self._request = request

    async def __aenter__(self) -> AsyncIterator[ModelEvent]:
        self._stream = _Stream(self._provider.take(self._request))
        self._provider.n_open += 1
        try:
            await self._stream.reach_next_event()
        except BaseException:
            self._provider.n_open -= 1
            raise
        return self._stream

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stream.close()
        self._provider.n_open -= 1


class _Stream:
    def __init__(self, actions: tuple[Action, ...]) -> None:
        self._left = list(reversed(actions))

    def __aiter__(self) -> AsyncIterator[ModelEvent]:
        return self

    async def __anext__(self) -> ModelEvent:
        await self.reach_next_event()
        if not self._left:
            raise StopAsyncIteration
        event = self._left.pop()
        assert not isinstance(event, Wait | WaitFor | Fail), "waits and failures were carried out before"
        return event

    async def reach_next_event(self) -> None:
        """Carries out what stands before the next event."""
        await anyio.lowlevel.checkpoint()
        while self._left:
            match self._left[-1]:
                case Wait(seconds):
                    await anyio.sleep(seconds)
                case WaitFor(event):
                    await event.wait()
                case Fail(error):
                    self._left.clear()
                    raise copy.copy(error)  # one script may be raised in many tasks
                case _:
                    return
            if self._left:
                self._left.pop()

    def close(self) -> None:
        self._left.clear()


def always(answer: Answer) -> Callable[[Request], Answer]:
    """A script without an end: the same answer to every request."""
    return lambda request: answer


Key: TypeAlias = str | Callable[[Request], bool]


def otherwise(request: Request) -> bool:
    """The key of a route for every request that no route before it took."""
    return True


def routes(*pairs: tuple[Key, Script]) -> Callable[[Request], Answer]:
    """A script that many agents share: the first route whose key fits gives the answer.

    A key is a text that stands in a system or user message of the request, or
    a function that says whether it wants the request.
    """
    branches = [(key, _as_function(script)) for key, script in pairs]

    def answer(request: Request) -> Answer:
        for key, branch in branches:
            if _fits(key, request):
                try:
                    return branch(request)
                except ScriptExhausted as exc:
                    raise ScriptExhausted(f"route {_named(key)}: {exc}") from exc
        known = ", ".join(_named(key) for key, _ in branches)
        raise ScriptExhausted(f"no route fits {_described(request)}; routes: {known}")

    return answer


def _fits(key: Key, request: Request) -> bool:
    if not isinstance(key, str):
        return key(request)
    heard = (Role.SYSTEM, Role.USER)
    return any(key in text_of(m.content) for m in request.messages if m.role in heard)


def _named(key: Key) -> str:
    return repr(key) if isinstance(key, str) else getattr(key, "__name__", "a function")


def _described(request: Request) -> str:
    texts = (f"{message.role}: {text_of(message.content)[:200]!r}" for message in request.messages)
    return "the request (" + ("; ".join(texts) or "without messages") + ")"


def _as_function(script: Script) -> Callable[[Request], Answer]:
    if callable(script):
        return script
    if isinstance(script, str):
        raise TypeError(f"a script is a sequence of answers; for one answer write [{script!r}]")
    answers = iter(tuple(script))
    n_answers = len(script)

    def next_answer(request: Request) -> Answer:
        for answer in answers:
            return answer
        raise ScriptExhausted(f"the script has {n_answers} answers, all of them given")

    return next_answer
