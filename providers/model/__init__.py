"""Neutral messages in, events out: the words that every provider shares."""

from providers.model.blocks import (
    Block,
    FileBlock,
    ImageBlock,
    ReasoningBlock,
    TextBlock,
    ToolCall,
    text_of,
)
from providers.model.events import (
    Answered,
    AnswerStarted,
    CallCompleted,
    CallStarted,
    ModelEvent,
    ReasoningDelta,
    RetryScheduled,
    StopReason,
    TextDelta,
)
from providers.model.messages import CacheMark, Content, Message, Role
from providers.model.profiles import Dialect, ModelProfile, Prices
from providers.model.requests import (
    OutputSchema,
    Priority,
    Request,
    ToolChoice,
    ToolSpec,
)
from providers.model.usage import Usage

__all__ = [
    "AnswerStarted",
    "Answered",
    "Block",
    "CacheMark",
    "CallCompleted",
    "CallStarted",
    "Content",
    "Dialect",
    "FileBlock",
    "ImageBlock",
    "Message",
    "ModelEvent",
    "ModelProfile",
    "OutputSchema",
    "Prices",
    "Priority",
    "ReasoningBlock",
    "ReasoningDelta",
    "Request",
    "RetryScheduled",
    "Role",
    "StopReason",
    "TextBlock",
    "TextDelta",
    "ToolCall",
    "ToolChoice",
    "ToolSpec",
    "Usage",
    "text_of",
]
