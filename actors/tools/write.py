"""Write: a whole file, new or in place of one that was read."""

import os
from functools import partial
from pathlib import Path
from typing import Annotated

import anyio.to_thread
from pydantic import Field

from actors.errors import BadInput
from actors.permission import PermissionClass
from actors.tools.checkpoint import Change, put_in_place, seen_file
from actors.tools.files import (
    FilePath,
    locate,
    missing_folders,
    path_subject,
    refuse,
    require_regular,
    require_writable,
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
    change = await anyio.to_thread.run_sync(partial(_prepared, context, path, content))
    context.files_read[change.real] = await put_in_place(context, change)
    if not change.is_change:
        return f"{change.name} has exactly this content already; nothing was changed."
    n_lines = content.count("\n") + (not content.endswith("\n") and content != "")
    verb = "Created" if change.old is None else "Replaced"
    return f"{verb} {change.name} ({n_lines:,} lines, {len(change.data):,} bytes)."


def _prepared(context: ToolContext, path: str, content: str) -> Change:
    place = locate(context, path)
    name = shown(context, place)
    data = encoded(content, "content")
    try:
        # A link is kept: what it points to is replaced.
        real = Path(os.path.realpath(place))
        if not real.exists():
            require_writable(real)
            return Change(real, name, "overwrite", data, None, missing_folders(real))
        require_regular(real, name)
        return Change(real, name, "overwrite", data, seen_file(context, real, name, "overwrite"))
    except OSError as exc:
        refuse(f"cannot write {name}", exc)


def encoded(text: str, what: str) -> bytes:
    """The text as UTF-8.

    Raises:
        BadInput: it holds half of a surrogate pair.
    """
    try:
        return text.encode()
    except UnicodeEncodeError as exc:
        raise BadInput(f"{what} is no valid Unicode text: lone surrogate at character {exc.start:,}") from exc
