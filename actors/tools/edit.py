"""Edit: one text in a file replaced by another, exactly."""

import os
import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import anyio.to_thread
from pydantic import Field

from actors.errors import BadInput
from actors.permission import PermissionClass
from actors.tools.checkpoint import MAX_KEPT_BYTES, Change, put_in_place, seen_file
from actors.tools.files import (
    FilePath,
    is_binary,
    locate,
    path_subject,
    refuse,
    require_regular,
    shown,
)
from actors.tools.function import tool
from actors.tools.model import Tool, ToolContext
from actors.tools.write import encoded

# What can be edited can be kept whole.
MAX_FILE_BYTES = MAX_KEPT_BYTES
_SHOWN_LINES = 5


def edit_tool() -> Tool:
    return tool(name="Edit", permission=PermissionClass.EDIT, subject=path_subject)(edit)


async def edit(
    context: ToolContext,
    path: FilePath,
    old_string: Annotated[
        str, Field(min_length=1, description="The text to replace, exactly as in the file, no line numbers.")
    ],
    new_string: Annotated[str, Field(description="The text to put there.")],
    replace_all: Annotated[bool, Field(description="Replace every occurrence.")] = False,
) -> str:
    """Replaces a text in a file that was read before.

    The old text must occur exactly once, unless replace_all is set.
    The line ends of the file stay as they are, whichever the new text uses.
    """
    prepare = partial(_prepared, context, path, old_string, new_string, replace_all)
    change, line_numbers = await anyio.to_thread.run_sync(prepare)
    context.files_read[change.real] = await put_in_place(context, change)
    places = _places(line_numbers)
    if not change.is_change:
        return f"{change.name} has the new text already, at {places}; nothing was changed."
    return f"Edited {change.name}: {len(line_numbers):,} replaced, at {places}."


def _prepared(
    context: ToolContext, path: str, old: str, new: str, replace_all: bool
) -> tuple[Change, tuple[int, ...]]:
    place = locate(context, path)
    name = shown(context, place)
    encoded(old, "old_string")
    encoded(new, "new_string")
    if old == new:
        raise BadInput("old_string and new_string are the same; nothing would change")
    size = require_regular(place, name).st_size
    if size > MAX_FILE_BYTES:
        raise BadInput(f"{name} has {size:,} bytes; Edit takes files up to {MAX_FILE_BYTES:,}")
    real = Path(os.path.realpath(place))
    try:
        file = seen_file(context, real, name, "edit")
    except OSError as exc:
        refuse(f"cannot edit {name}", exc)
    content = file.content or b""
    if is_binary(content):
        raise BadInput(f"{name} is binary; Edit changes text")
    # Bytes that are not UTF-8 go through unchanged.
    changed = replaced(content.decode("utf-8", "surrogateescape"), old, new, replace_all, name)
    data = changed.text.encode("utf-8", "surrogateescape")
    return Change(real, name, "edit", data, file), changed.line_numbers


@dataclass(frozen=True, slots=True)
class Replaced:
    """The new text, and the lines of the old one where something was replaced."""

    text: str
    line_numbers: tuple[int, ...]


def replaced(text: str, old: str, new: str, replace_all: bool, name: str) -> Replaced:
    """The text with the old string replaced; a line end in it matches either kind.

    Raises:
        BadInput: it does not occur, or more than once without replace_all.
    """
    line_end = _line_end(text)
    pattern = re.compile("\r?\n".join(re.escape(part) for part in old.replace("\r\n", "\n").split("\n")))
    line_numbers = _line_numbers(text, pattern)
    if not line_numbers:
        raise BadInput(
            f"old_string occurs 0 times in {name}.{_hint(text, old)} Read it again and copy exactly."
        )
    if len(line_numbers) > 1 and not replace_all:
        raise BadInput(
            f"old_string occurs {len(line_numbers):,} times in {name}, at {_places(line_numbers)};"
            " take in more of the lines around it, or set replace_all"
        )
    put = new.replace("\r\n", "\n").replace("\n", line_end)
    return Replaced(pattern.sub(lambda _: put, text), line_numbers)


def _line_end(text: str) -> str:
    n_crlf = text.count("\r\n")
    return "\r\n" if n_crlf * 2 > text.count("\n") else "\n"


def _line_numbers(text: str, pattern: re.Pattern[str]) -> tuple[int, ...]:
    numbers: list[int] = []
    number, position = 1, 0
    for match in pattern.finditer(text):
        number += text.count("\n", position, match.start())
        position = match.start()
        numbers.append(number)
    return tuple(numbers)


def _places(line_numbers: tuple[int, ...]) -> str:
    first = ", ".join(f"{number}" for number in line_numbers[:_SHOWN_LINES])
    more = len(line_numbers) - _SHOWN_LINES
    word = "line" if len(line_numbers) == 1 else "lines"
    return f"{word} {first}" + (f" and {more:,} more" if more > 0 else "")


def _hint(text: str, old: str) -> str:
    if " ".join(old.split()) in " ".join(text.split()):
        return " It does occur with other white space."
    if old.casefold() in text.casefold():
        return " It does occur with other upper and lower case."
    return ""
