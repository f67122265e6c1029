"""One request to a model and its answer, as far as it comes."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import assert_never

from providers.errors import StreamBroken
from providers.model import (
    Answered,
    AnswerStarted,
    CallCompleted,
    CallStarted,
    ModelEvent,
    ReasoningDelta,
    Request,
    RetryScheduled,
    TextDelta,
)
from providers.ports import Provider


@dataclass(slots=True)
class Exchange:
    """Runs one request. `text` is what was shown so far, also after a failure or cancellation."""

    provider: Provider
    request: Request
    on_event: Callable[[ModelEvent], None]
    pieces: list[str] = field(default_factory=list)
    is_shown: bool = False

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    async def run(self) -> Answered:
        """The whole answer.

        Cancelling closes the connection; `text` then holds what had come.

        Raises:
            ProviderError: and `is_shown` says whether anything had been shown.
        """
        async with self.provider.stream(self.request) as events:
            async for event in events:
                self._note(event)
                self.on_event(event)
                if isinstance(event, Answered):
                    return event
        raise StreamBroken(f"{self.provider.name}: the stream ended without an answer")

    def _note(self, event: ModelEvent) -> None:
        match event:
            case TextDelta():
                self.pieces.append(event.text)
                self.is_shown = True
            case ReasoningDelta() | CallStarted() | CallCompleted():
                self.is_shown = True
            case AnswerStarted() | RetryScheduled() | Answered():
                pass
            case _:
                assert_never(event)
