"""What the other rooms need of a model."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from providers.model import Message, ModelEvent, Request, ToolSpec


class Provider(Protocol):
    """A model that can be asked.

    `stream` opens one request. The events end with exactly one `Answered`,
    or an error of `providers.errors` is raised: while entering, or while
    iterating. Leaving the block early, by cancellation too, closes the
    connection at once.
    """

    @property
    def name(self) -> str: ...

    def stream(self, request: Request) -> AbstractAsyncContextManager[AsyncIterator[ModelEvent]]: ...


class TokenCounter(Protocol):
    """Counts the tokens of messages and tools.

    Exact where the ranks of the model are known, else an estimate; `is_exact`
    says which.
    """

    @property
    def is_exact(self) -> bool: ...

    def count_text(self, text: str) -> int: ...

    def count_message(self, message: Message) -> int: ...

    def count_tools(self, tools: tuple[ToolSpec, ...]) -> int: ...
