"""Scripts: answers in order, by a function, or by routes that many agents share."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from providers.errors import ScriptExhausted
from providers.model import Request, Role, text_of
from providers.script import Answer

Replier: TypeAlias = Callable[[Request], Answer]
Script: TypeAlias = Sequence[Answer | Replier] | Replier
"""Answers in order, some made from the request by a function, or one function for every request."""


def always(answer: Answer) -> Replier:
    """A script without an end: the same answer to every request."""
    return lambda request: answer


Key: TypeAlias = str | Callable[[Request], bool]


def otherwise(request: Request) -> bool:
    """The key of a route for every request that no route before it took."""
    return True


def routes(*pairs: tuple[Key, Script]) -> Replier:
    """A script that many agents share: the first route whose key fits gives the answer.

    A key is a text that stands in a system or user message of the request, or
    a function that says whether it wants the request.
    """
    branches = [(key, next_answers(script)) for key, script in pairs]

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


def next_answers(script: Script) -> Replier:
    """A script as a function; it raises `ScriptExhausted` when its answers are used up."""
    if callable(script):
        return script
    if isinstance(script, str):
        raise TypeError(f"a script is a sequence of answers; for one answer write [{script!r}]")
    answers = iter(tuple(script))
    n_answers = len(script)

    def next_answer(request: Request) -> Answer:
        for answer in answers:
            return answer(request) if callable(answer) else answer
        raise ScriptExhausted(f"the script has {n_answers} answers, all of them given")

    return next_answer
