"""What both wire formats need to write a request; pure."""

import re
from collections.abc import Sequence

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
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")


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


def safe_name(name: str, *, limit: int = 64) -> str:
    """A tool name as it may be sent back; models sometimes call what no tool can be named."""
    return _NOT_IN_NAMES.sub("_", name)[:limit] or "_"


def safe_id(call_id: str) -> str:
    """A call id as every provider takes it: some servers make ids that others refuse."""
    return _NOT_IN_NAMES.sub("_", call_id) or "_"
