"""Grep: the lines that a regular expression finds, in files that git does not ignore."""

import json
import sys
from functools import partial
from itertools import islice
from typing import Annotated, Literal

import anyio
import anyio.from_thread
import anyio.to_thread
from pydantic import Field

from actors.errors import BadInput
from actors.permission import PermissionClass
from actors.tools import search
from actors.tools.files import locate, path_subject, shown
from actors.tools.function import tool
from actors.tools.glob_pattern import glob_pattern
from actors.tools.model import Tool, ToolContext
from actors.tools.walk import MAX_ENTRIES, files_below, inside

TIME_LIMIT_S = 20.0
_SHOWN_NAMES = 3


def grep_tool(time_limit_s: float = TIME_LIMIT_S) -> Tool:
    """`time_limit_s` is for the search itself, after which its process is killed."""

    async def grep(
        context: ToolContext,
        pattern: Annotated[str, Field(min_length=1, description="A regular expression of Python's `re`.")],
        path: Annotated[str, Field(min_length=1, description="The file or folder to search.")] = ".",
        glob: Annotated[
            str | None,
            Field(description="Only files that fit: `*.py` in any folder, `src/**/*.py` from `path`."),
        ] = None,
        mode: Annotated[
            Literal["content", "files", "count"],
            Field(description="The lines, the files that have any, or how many each file has."),
        ] = "content",
        context_lines: Annotated[
            int, Field(ge=0, le=50, description="Lines around each, with `content`.")
        ] = 0,
        ignore_case: bool = False,
        limit: Annotated[int, Field(ge=1, le=5_000, description="How many lines or files at most.")] = 200,
    ) -> str:
        """Searches the text of files, line by line, with a regular expression.

        Answers `path:line:text`, and `path-line-text` for the lines around. Left out: what git ignores,
        binary files, files over 20 MB. A search that takes over 20 s is stopped and gives nothing.
        """
        files = await anyio.to_thread.run_sync(partial(_files, context, path, glob))
        order = search.Order(
            pattern=pattern,
            ignore_case=ignore_case,
            mode=mode,
            n_context=context_lines,
            limit=limit,
            files=files,
        )
        return _answer(await _searched(order, time_limit_s), order)

    return tool(name="Grep", permission=PermissionClass.READ, is_read_only=True, subject=path_subject)(grep)


def _files(context: ToolContext, path: str, glob: str | None) -> list[tuple[str, str]]:
    root = locate(context, path)
    if not root.exists():
        raise BadInput(f"there is no {shown(context, root)} to search (from {context.cwd})")
    if not root.is_dir():
        return [(str(root), shown(context, root))]
    in_any_folder = "" if glob is None or "/" in glob else "**/"
    fits = glob_pattern(in_any_folder + (glob or "**")).fullmatch
    return [
        (entry.path, shown(context, entry.path))
        for entry in islice(files_below(root, anyio.from_thread.check_cancelled), MAX_ENTRIES)
        if fits(inside(str(root), entry.path))
    ]


async def _searched(order: search.Order, time_limit_s: float) -> search.Findings:
    command = [sys.executable, "-I", "-S", str(search.__file__)]
    sent = json.dumps(order).encode()
    with anyio.move_on_after(time_limit_s):
        done = await anyio.run_process(command, input=sent, check=False)
        if done.returncode:
            raise BadInput(f"the search failed: {done.stderr.decode(errors='replace')[-500:]}")
        findings: search.Findings = json.loads(done.stdout)
        return findings
    raise BadInput(
        f"the search took over {time_limit_s:g} s and was stopped; nothing of it is kept. Narrow `path`"
        " or `glob`, or simplify the pattern: a repetition in a repetition, as in (a+)+, can take for ever"
    )


def _answer(found: search.Findings, order: search.Order) -> str:
    if found["error"] is not None:
        raise BadInput(f"{order['pattern']!r} is no valid regular expression: {found['error']}")
    lines = found["lines"]
    notes: list[str] = []
    if found["is_cut"]:
        unit = "lines" if order["mode"] == "content" else "files"
        notes.append(f"[cut after {order['limit']:,} {unit} with matches; there are more]")
    if found["too_large"]:
        notes.append(f"[not searched, over {search.MAX_FILE_BYTES:,} bytes: {_names(found['too_large'])}]")
    if found["unreadable"]:
        notes.append(f"[not readable: {_names(found['unreadable'])}]")
    if len(order["files"]) == MAX_ENTRIES:
        notes.append(f"[stopped after {MAX_ENTRIES:,} files; there may be more: name a deeper folder]")
    if not lines:
        binary = f", {found['n_binary']:,} binary ones left out" if found["n_binary"] else ""
        lines = [f"No match in {found['n_searched']:,} files{binary}."]
    return "\n".join((*lines, *notes))


def _names(names: list[str]) -> str:
    more = len(names) - _SHOWN_NAMES
    return ", ".join(names[:_SHOWN_NAMES]) + (f" and {more:,} more" if more > 0 else "")
