"""Write: a whole file, new or in place of one that was read."""

import os
from functools import partial
from pathlib import Path
from typing import Annotated

import anyio.to_thread
from pydantic import Field

from actors.errors import BadInput
from actors.permission import PermissionClass
from actors.tools.files import (
    FilePath,
    Stamp,
    locate,
    path_subject,
    refuse,
    replace_file,
    require_regular,
    require_seen,
    shown,
)
from actors.tools.function import tool
from actors.tools.model import Tool, ToolContext


def write_tool() -> Tool:
    return tool(name="Write", permission=PermissionClass.EDIT, subject=path_subject)(write)


async def write(
    context: ToolContext,
    path: FilePath,
    content: Annotated[str, Field(description="The whole new content.")],
) -> str:
    """Writes a whole file and makes the folders above it. An existing file must have been read before.

    For changing a part of a file, Edit is the better tool.
    """
    answer, real, stamp = await anyio.to_thread.run_sync(partial(_write, context, path, content))
    context.files_read[real] = stamp
    return answer


def _write(context: ToolContext, path: str, content: str) -> tuple[str, Path, Stamp]:
    place = locate(context, path)
    name = shown(context, place)
    data = encoded(content, "content")
    try:
        # A link is kept: what it points to is replaced.
        real = Path(os.path.realpath(place))
        is_new = not real.exists()
        if is_new:
            real.parent.mkdir(parents=True, exist_ok=True)
        else:
            require_regular(real, name)
            require_seen(context.files_read, real, name, "overwrite")
        stamp = replace_file(real, data)
    except OSError as exc:
        refuse(f"cannot write {name}", exc)
    n_lines = content.count("\n") + (not content.endswith("\n") and content != "")
    answer = f"{'Created' if is_new else 'Replaced'} {name} ({n_lines:,} lines, {len(data):,} bytes)."
    return answer, real, stamp


def encoded(text: str, what: str) -> bytes:
    """The text as UTF-8.

    Raises:
        BadInput: it holds half of a surrogate pair.
    """
    try:
        return text.encode()
    except UnicodeEncodeError as exc:
        raise BadInput(f"{what} is no valid Unicode text: lone surrogate at character {exc.start:,}") from exc
