"""What is asked of a model."""

from dataclasses import dataclass
from enum import IntEnum, StrEnum

from pydantic import JsonValue

from providers.model.messages import Message


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model sees it; `input_schema` is a JSON schema of type object."""

    name: str
    description: str
    input_schema: dict[str, JsonValue]


class ToolChoice(StrEnum):
    AUTO = "auto"
    ANY = "any"
    NONE = "none"


class Priority(IntEnum):
    """Who waits for the answer; the gate lets lower numbers go first."""

    HUMAN = 0
    BACKGROUND = 1


@dataclass(frozen=True, slots=True)
class OutputSchema:
    """A JSON schema that the whole answer must follow (native structured output)."""

    name: str
    schema: dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Request:
    """One call of a model.

    `messages` begin with the leading run of system messages. `model` is the
    provider's own name of the model, without the `provider:` in front.
    `max_output_tokens` None leaves the limit to the model's profile.
    """

    model: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    max_output_tokens: int | None = None
    tool_choice: ToolChoice = ToolChoice.AUTO
    output: OutputSchema | None = None
    priority: Priority = Priority.HUMAN
