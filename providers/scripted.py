"""A model that follows a script, and is stricter than any real one.

    provider = ScriptedProvider([
        [say("I will look."), call("Read", {"path": "a.md"})],
        "It says hello.",
    ])

Each request takes the next answer; a request that breaks a wire rule of any
format is refused, and so is one that sends its thinking back behind something
else than what it was thought behind. Where several agents share the provider, `routes` gives
each a script of its own:

    provider = ScriptedProvider(routes(
        ("You coordinate", [[call("Agent", {…}), call("Agent", {…})], "Both are done."]),
        ("Read the page on doors", ["Doors open."]),
        (otherwise, always("Yes.")),
    ))
"""

import copy
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Final

import anyio
import anyio.lowlevel

from providers.errors import IllegalRequest, ScriptExhausted
from providers.estimate import estimate_message, estimate_tools
from providers.legality import check
from providers.model import Answered, Dialect, ModelEvent, ModelProfile, Request
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
from providers.script_routes import Replier, Script, always, next_answers, otherwise, routes
from providers.script_thinking import SealedThinking

__all__ = [
    "SCRIPTED_PROFILE",
    "Answer",
    "Piece",
    "Replier",
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
        IllegalRequest: the request breaks a rule of one of `dialects`; or it
            has, in Anthropic's, thinking of this provider in a wrong place.
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
        self._answer = next_answers(script)
        self._name = name
        self._dialects = tuple(dialects)
        self._requests: list[Request] = []
        self._thinking = SealedThinking()
        self._was_asked = anyio.Event()
        self.profile = profile
        self.n_open = 0

    @property
    def name(self) -> str:
        return self._name

    @property
    def requests(self) -> tuple[Request, ...]:
        return tuple(self._requests)

    async def until_asked(self, n_requests: int = 1) -> Request:
        """Waits until so many requests have come, and gives the last of them."""
        while len(self._requests) < n_requests:
            await self._was_asked.wait()
        return self._requests[n_requests - 1]

    def stream(self, request: Request) -> AbstractAsyncContextManager[AsyncIterator[ModelEvent]]:
        return _Opening(self, request)

    def take(self, request: Request) -> tuple[Action, ...]:
        """Records and checks a request and plans its answer; `stream` does this on entering."""
        self._requests.append(request)
        self._was_asked.set()
        self._was_asked = anyio.Event()
        number = len(self._requests)
        self._refuse_illegal(request, number)
        try:
            answer = self._answer(request)
        except ScriptExhausted as exc:
            raise ScriptExhausted(f"{self._name}: {exc} (request {number})") from exc
        tokens = sum(map(estimate_message, request.messages)) + estimate_tools(request.tools)
        actions = plan(answer, Stamp(number, request), tokens)
        if isinstance(actions[-1], Answered):
            self._thinking.remember(request, actions[-1].message)
        return actions

    def _refuse_illegal(self, request: Request, number: int) -> None:
        problems = [
            f"{dialect}: {finding.rule} at {_place(finding.message_index)}: {finding.text}"
            for dialect in self._dialects
            for finding in check(request, dialect, self.profile)
        ]
        if Dialect.ANTHROPIC in self._dialects and (problem := self._thinking.problem(request)):
            problems.append(f"{Dialect.ANTHROPIC}: {problem}")
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
