"""Facts about one model that a request has to respect."""

from dataclasses import dataclass
from enum import StrEnum


class Dialect(StrEnum):
    """The wire format in which a provider is spoken to."""

    ANTHROPIC = "anthropic"
    OPENAI_CHAT = "openai_chat"
    OPENAI_RESPONSES = "openai_responses"


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars for a million tokens."""

    input_usd: float
    output_usd: float
    cache_read_usd: float
    cache_write_usd: float


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """Window and output limit in tokens, and what the model accepts.

    `mid_conversation_system`: system messages behind the first user message.
    `tools`: whether tool schemas are sent at all. `structured_output`: the
    provider can hold an answer to a JSON schema. `max_prefix_tokens`: a small
    model gets a short prefix; None sets no bound. `repeat_penalty` is sent
    only where a compatible server knows it. `is_assumed`: nothing is known of
    this model, the figures are a cautious guess for its wire format.
    """

    name: str
    window_tokens: int
    max_output_tokens: int
    mid_conversation_system: bool = False
    tools: bool = True
    structured_output: bool = True
    images: bool = False
    cache_marks: bool = False
    max_tokens_field: str = "max_tokens"
    system_role: str = "system"
    repeat_penalty: float | None = None
    max_prefix_tokens: int | None = None
    prices: Prices | None = None
    is_assumed: bool = False
