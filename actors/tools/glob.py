"""Glob: the files whose path fits a pattern, the newest first."""

import os
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Annotated

import anyio.from_thread
import anyio.to_thread
from pydantic import Field

from actors.errors import BadInput
from actors.permission import PermissionClass
from actors.tools.files import locate, path_subject, shown
from actors.tools.function import tool
from actors.tools.glob_pattern import glob_pattern
from actors.tools.model import Tool, ToolContext
from actors.tools.walk import MAX_ENTRIES, files_below, inside


def glob_tool() -> Tool:
    return tool(name="Glob", permission=PermissionClass.READ, is_read_only=True, subject=path_subject)(glob)


async def glob(
    context: ToolContext,
    pattern: Annotated[
        str, Field(description="`**/` stands for any folders: `**/*.py`, `src/**/test_*.{py,pyi}`.")
    ],
    path: Annotated[str, Field(min_length=1, description="The folder to look in.")] = ".",
    limit: Annotated[int, Field(ge=1, le=2_000, description="How many paths at most.")] = 200,
) -> str:
    """Finds files by the pattern of their path, the most recently changed first.

    What git ignores is left out. `*.py` without folders finds files directly in the folder only.
    """
    return await anyio.to_thread.run_sync(partial(_glob, context, pattern, path, limit))


@dataclass(frozen=True, slots=True)
class _Found:
    modified_ns: int
    path: str


def _glob(context: ToolContext, pattern: str, path: str, limit: int) -> str:
    root = locate(context, path)
    if not root.is_dir():
        raise BadInput(f"{shown(context, root)} is not a folder; `path` names the folder to look in")
    fits = glob_pattern(pattern).fullmatch
    found: list[_Found] = []
    n_seen = 0
    for entry in islice(files_below(root, anyio.from_thread.check_cancelled), MAX_ENTRIES):
        n_seen += 1
        if fits(inside(str(root), entry.path)):
            found.append(_Found(_modified_ns(entry), shown(context, entry.path)))
    found.sort(key=lambda each: (-each.modified_ns, each.path))
    lines = [each.path for each in found[:limit]]
    if len(found) > limit:
        lines.append(f"[cut: {limit:,} of {len(found):,} files shown; narrow the pattern or raise the limit]")
    if n_seen == MAX_ENTRIES:
        lines.append(f"[stopped after {MAX_ENTRIES:,} files; there may be more: name a deeper folder]")
    return "\n".join(lines) or f"No file below {shown(context, root)} fits {pattern!r}."


def _modified_ns(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat().st_mtime_ns
    except OSError:  # gone since it was listed
        return 0
