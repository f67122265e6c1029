"""Read: a file as numbered lines, or an image as an image."""

import base64
import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, BinaryIO

import anyio.to_thread
from pydantic import Field

from actors.errors import BadInput
from actors.permission import PermissionClass
from actors.reminders import escape, wrap
from actors.tools.files import (
    BINARY_SNIFF_BYTES,
    FilePath,
    Stamp,
    is_binary,
    locate,
    path_subject,
    refuse,
    require_regular,
    shown,
    stamp_of,
)
from actors.tools.function import tool
from actors.tools.model import Tool, ToolContext, ToolOutput
from providers.model import ImageBlock, TextBlock

MAX_LINES = 2_000
MAX_LINE_CHARACTERS = 2_000
# Below the limit of results, or what was read would be cut a second time.
MAX_CHARACTERS = 28_000
MAX_IMAGE_BYTES = 5_000_000

_LINE_BYTES = 4 * MAX_LINE_CHARACTERS
_SKIP_BYTES = 1 << 16


def read_tool() -> Tool:
    return tool(name="Read", permission=PermissionClass.READ, is_read_only=True, subject=path_subject)(read)


async def read(
    context: ToolContext,
    path: FilePath,
    offset: Annotated[int, Field(ge=1, description="The first line to read, counted from 1.")] = 1,
    limit: Annotated[int, Field(ge=1, le=MAX_LINES, description="How many lines at most.")] = MAX_LINES,
) -> ToolOutput:
    """Reads a file: text as numbered lines (number, tab, line), or an image (png, jpeg, gif, webp).

    Long files come in parts; the end of the answer says how to go on. A file must be read before it
    is changed.
    """
    seen = await anyio.to_thread.run_sync(
        partial(_look, context, path, offset, limit), abandon_on_cancel=True
    )
    context.files_read[seen.real] = seen.stamp
    return seen.output


@dataclass(frozen=True, slots=True)
class _Seen:
    output: ToolOutput
    real: Path
    stamp: Stamp


def _look(context: ToolContext, path: str, offset: int, limit: int) -> _Seen:
    place = locate(context, path)
    name = shown(context, place)
    require_regular(place, name)
    try:
        with place.open("rb") as file:
            # Taken before the content: a change while reading makes the stamp stale, not the content.
            stamp = stamp_of(os.fstat(file.fileno()))
            output = _output(file, name, stamp[1], offset, limit)
        return _Seen(output, Path(os.path.realpath(place)), stamp)
    except OSError as exc:
        refuse(f"cannot read {name}", exc)


def _output(file: BinaryIO, name: str, size: int, offset: int, limit: int) -> ToolOutput:
    head = file.read(BINARY_SNIFF_BYTES)
    media_type = _image_type(head)
    if media_type is not None:
        return _image(head + file.read(MAX_IMAGE_BYTES), media_type, name, size)
    if is_binary(head):
        raise BadInput(
            f"{name} is binary ({size:,} bytes); Read shows text and images (png, jpeg, gif, webp)"
        )
    if not head:
        return ToolOutput(_warning(f"The file {name!r} exists but is empty."))
    file.seek(0)
    return ToolOutput(_numbered(file, name, size, offset, limit))


def _image_type(head: bytes) -> str | None:
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return None


def _image(data: bytes, media_type: str, name: str, size: int) -> ToolOutput:
    if len(data) > MAX_IMAGE_BYTES:
        raise BadInput(f"{name} is an image of {size:,} bytes; at most {MAX_IMAGE_BYTES:,} can be shown")
    url = f"data:{media_type};base64,{base64.b64encode(data).decode()}"
    return ToolOutput((TextBlock(f"{name} ({media_type}, {len(data):,} bytes)"), ImageBlock(media_type, url)))


def _numbered(file: BinaryIO, name: str, size: int, offset: int, limit: int) -> str:
    lines: list[str] = []
    n_characters = 0
    number = 0
    while (line := _next_line(file, is_wanted=number + 1 >= offset)) is not None:
        number += 1
        if number < offset:
            continue
        text = f"{number:>6}\t{line}"
        n_characters += len(text) + 1
        if len(lines) == limit or n_characters > MAX_CHARACTERS:
            return "\n".join((*lines, _warning(_cut(name, size, offset, number - 1))))
        lines.append(text)
    if not lines:
        raise BadInput(f"{name} has {number:,} lines; there is no line {offset:,}")
    return "\n".join(lines)


def _next_line(file: BinaryIO, *, is_wanted: bool) -> str | None:
    """The next line without its end, cut if it is very long; None at the end of the file."""
    start = file.readline(_LINE_BYTES)
    if not start:
        return None
    last, n_skipped = start, 0
    while not last.endswith(b"\n") and (last := file.readline(_SKIP_BYTES)):
        n_skipped += len(last.removesuffix(b"\n"))
    if not is_wanted:
        return ""
    text = start.decode("utf-8-sig", "replace").rstrip("\r\n")
    if not n_skipped and len(text) <= MAX_LINE_CHARACTERS:
        return text
    n_cut = n_skipped + len(text[MAX_LINE_CHARACTERS:].encode())
    return f"{text[:MAX_LINE_CHARACTERS]}… [line cut, {n_cut:,} more bytes]"


def _cut(name: str, size: int, first: int, last: int) -> str:
    return (
        f"Only lines {first:,} to {last:,} of {name!r} are shown; the file ({size:,} bytes) goes on."
        f" Read more of it with offset={last + 1}."
    )


def _warning(text: str) -> str:
    return wrap("tool_result_warning", escape(text))
