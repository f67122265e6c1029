"""Results that would fill the window: the history keeps both ends, the artifact store the whole."""

from typing import Annotated

from pydantic import Field

from actors.errors import BadInput
from actors.permission import PermissionClass
from actors.ports import Artifacts
from actors.tools.function import tool
from actors.tools.model import Tool, ToolContext
from actors.tools.services import services_of
from providers.model import Block, FileBlock, TextBlock

LIMIT_CHARACTERS = 30_000
READER_NAME = "ReadArtifact"
# Below the limit, or what is read would be cut again.
MAX_READ_CHARACTERS = 25_000

_KEPT_SHARE = 3


async def bounded(
    content: str | tuple[Block, ...], artifacts: Artifacts, *, limit_characters: int = LIMIT_CHARACTERS
) -> str | tuple[Block, ...]:
    """The content as it stands if its text is within the limit, else head, tail and a reference.

    Only for an agent that has ReadArtifact: others could not open the
    reference. The texts of blocks are taken together; images stay.
    """
    if isinstance(content, str):
        return await _bounded(content, artifacts, limit_characters)
    texts = [text for block in content if (text := _text_of(block)) is not None]
    if sum(map(len, texts)) <= limit_characters:
        return content
    short = TextBlock(await _bounded("\n".join(texts), artifacts, limit_characters))
    return (short, *(block for block in content if _text_of(block) is None))


def read_artifact_tool() -> Tool:
    return tool(name=READER_NAME, permission=PermissionClass.READ, is_read_only=True, subject="id")(
        read_artifact
    )


async def read_artifact(
    context: ToolContext,
    id: Annotated[  # noqa: A002 - as the reference in a shortened result calls it
        str, Field(min_length=1, description="The id that the shortened result names.")
    ],
    offset: Annotated[int, Field(ge=0, description="The first character, counted from 0.")] = 0,
    limit: Annotated[
        int, Field(ge=1, le=MAX_READ_CHARACTERS, description="How many characters at most.")
    ] = MAX_READ_CHARACTERS,
) -> str:
    """Reads a part of a stored result that was too long to be shown whole."""
    data = await services_of(context, READER_NAME).artifacts.get(id)
    if data is None:
        raise BadInput(f"there is no artifact {id!r}; its id stands in the result that was shortened")
    text = data.decode("utf-8", "replace")
    part = text[offset : offset + limit]
    if not part:
        raise BadInput(f"artifact {id} has {len(text):,} characters; there is nothing at offset {offset:,}")
    end = offset + len(part)
    go_on = f"; go on with offset={end}" if end < len(text) else ", to its end"
    return f"{part}\n[characters {offset:,} to {end:,} of {len(text):,} of artifact {id}{go_on}]"


async def _bounded(text: str, artifacts: Artifacts, limit_characters: int) -> str:
    if len(text) <= limit_characters:
        return text
    artifact_id = await artifacts.put(text.encode("utf-8", "replace"))
    n_kept = limit_characters // _KEPT_SHARE
    n_head = n_kept - n_kept // 2
    n_left_out = len(text) - n_kept
    return (
        f"{text[:n_head]}\n\n"
        f"[… {n_left_out:,} of {len(text):,} characters left out here. The whole is stored as artifact"
        f" {artifact_id}; to go on here: {READER_NAME}(id={artifact_id!r}, offset={n_head}) …]\n\n"
        f"{text[len(text) - n_kept // 2 :]}"
    )


def _text_of(block: Block) -> str | None:
    return block.text if isinstance(block, TextBlock | FileBlock) else None
