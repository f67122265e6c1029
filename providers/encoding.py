"""What both wire formats need to write a request; pure."""

import hashlib
import re
from collections.abc import Sequence
from typing import Final

from pydantic import JsonValue

from providers.errors import IllegalRequest
from providers.model import (
    Block,
    Content,
    FileBlock,
    ImageBlock,
    Message,
    ModelProfile,
    Request,
    Role,
    TextBlock,
)

_DATA_URL = re.compile(r"data:(?P<media_type>[\w.+-]+/[\w.+-]+);base64,(?P<data>[A-Za-z0-9+/=]+)")
_DATA_HEAD = re.compile(r"data:(?P<media_type>[\w.+-]+/[\w.+-]+);base64,")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")
_NOT_VISIBLE = re.compile(r"[^!-~]")
_N_DIGEST = 12
IMAGE_TYPES: Final = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})


def blocks_of(content: Content) -> tuple[Block, ...]:
    """The blocks of a content, empty texts left out: no provider takes them."""
    blocks = (TextBlock(content),) if isinstance(content, str) else content or ()
    return tuple(block for block in blocks if not (isinstance(block, TextBlock) and not block.text))


def texts_of(content: Content, where: str) -> list[str]:
    """The texts of a content that may hold nothing else."""
    texts = []
    for block in blocks_of(content):
        if not isinstance(block, TextBlock):
            raise IllegalRequest(f"{where} may hold text only, got {type(block).__name__}")
        texts.append(block.text)
    return texts


def leading_system(messages: Sequence[Message]) -> int:
    """How many system messages the request begins with."""
    return next((i for i, message in enumerate(messages) if message.role is not Role.SYSTEM), len(messages))


def check_system_place(profile: ModelProfile, index: int) -> None:
    """Refuses a system message behind the leading run where the model takes none.

    Raises:
        IllegalRequest: the model takes system messages at the beginning only.
    """
    if not profile.mid_conversation_system:
        raise IllegalRequest(
            f"message {index} is a system message behind the beginning, where {profile.name} takes none"
        )


def check_output(request: Request, profile: ModelProfile) -> None:
    """Refuses an answer by schema where the provider cannot hold one to it.

    Raises:
        IllegalRequest: the profile says that there is no structured output.
    """
    if request.output is not None and not profile.structured_output:
        raise IllegalRequest(
            f"the model {profile.name} cannot hold an answer to the schema {request.output.name!r}"
        )


def data_of(block: ImageBlock | FileBlock) -> tuple[str, str]:
    """Media type and base64 text of a data URL.

    Raises:
        IllegalRequest: it is no data URL with base64 in it.
    """
    match = _DATA_URL.fullmatch(block.data_url or "")
    if match is None:
        got = (block.data_url or "")[:30]
        raise IllegalRequest(f"an attached {block.media_type} needs a data URL with base64, got {got!r}")
    return match["media_type"], match["data"]


def left_out(block: ImageBlock | FileBlock, profile: ModelProfile) -> str:
    """What stands for a block that the model cannot take; a session survives a change of model."""
    name = f" {block.name}" if isinstance(block, FileBlock) and block.name else ""
    return f"[{block.media_type}{name} left out: {profile.name} cannot read it]"


def can_see(block: ImageBlock, profile: ModelProfile) -> bool:
    """Whether the model takes this picture: it has eyes, and the kind is one that both formats know."""
    head = _DATA_HEAD.match(block.data_url)
    return profile.images and (head is None or head["media_type"] in IMAGE_TYPES)


def safe_name(name: str, *, limit: int) -> str:
    """A tool name as it may be sent back; models sometimes call what no tool can be named."""
    return _NOT_IN_NAMES.sub("_", name)[:limit] or "_"


def safe_id(call_id: str, *, limit: int, takes_any: bool = False) -> str:
    """A call id as the format takes it: some servers make ids that others refuse.

    What has to change ends in a digest of the original, so that two ids stay
    two, and call and result the same one. `takes_any`: all visible ASCII may
    stay, not only letters, digits, `_` and `-`.
    """
    cleaned = (_NOT_VISIBLE if takes_any else _NOT_IN_NAMES).sub("_", call_id)
    if cleaned == call_id and 0 < len(call_id) <= limit:
        return call_id
    digest = hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).hexdigest()[:_N_DIGEST]
    return f"{cleaned[: limit - _N_DIGEST - 1]}_{digest}"


def can_be_strict(schema: JsonValue) -> bool:
    """Whether every object in the schema is closed and every property of it required."""
    match schema:
        case dict():
            if schema.get("type") == "object" and not _is_closed(schema):
                return False
            return all(can_be_strict(part) for part in schema.values())
        case list():
            return all(can_be_strict(part) for part in schema)
        case _:
            return True


def _is_closed(schema: dict[str, JsonValue]) -> bool:
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if not isinstance(properties, dict) or not isinstance(required, list):
        return False
    return schema.get("additionalProperties") is False and all(name in required for name in properties)
