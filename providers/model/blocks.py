"""What a message is made of: text, images, reasoning, files, and calls of tools."""

from dataclasses import dataclass
from typing import TypeAlias

from pydantic import JsonValue


@dataclass(frozen=True, slots=True)
class TextBlock:
    text: str


@dataclass(frozen=True, slots=True)
class ImageBlock:
    """An image as a data URL (`data:image/png;base64,…`)."""

    media_type: str
    data_url: str


@dataclass(frozen=True, slots=True)
class ReasoningBlock:
    """What a model thought, kept exactly as its provider wants it back.

    `signature` belongs to visible thinking (Anthropic), `data` to an opaque
    block (redacted thinking; encrypted content of OpenAI Responses), `item_id`
    to a Responses reasoning item. `model` names the model that wrote it: a
    block never goes to another one.
    """

    text: str
    signature: str | None = None
    data: str | None = None
    item_id: str | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class FileBlock:
    """A document: its text where it is text, else a data URL."""

    media_type: str
    text: str | None = None
    data_url: str | None = None
    name: str | None = None


Block: TypeAlias = TextBlock | ImageBlock | ReasoningBlock | FileBlock


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's request to run one tool.

    `invalid_json` holds the argument text when it did not parse; `input` is
    then an empty object, so that the call can still be sent back legally.
    `after_block` is the number of content blocks that stood before the call
    in the answer; None means all of them.
    """

    id: str
    name: str
    input: JsonValue
    invalid_json: str | None = None
    after_block: int | None = None


def text_of(content: str | tuple[Block, ...] | None) -> str:
    """The visible text of a content: its text blocks, joined without anything between."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    return "".join(block.text for block in content if isinstance(block, TextBlock))
