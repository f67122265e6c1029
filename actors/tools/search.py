"""Searches files for a regular expression; run as a program, it reads its order from stdin.

A pattern can be of the kind that takes for ever, and Python's `re` holds the
interpreter all that time: no thread could run on and no time limit would
fire. So Grep runs this file in a process that can be killed. It imports
nothing but the standard library to start fast.
"""

import json
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypedDict

MAX_FILE_BYTES = 20_000_000
MAX_LINE_CHARACTERS = 500
_SNIFF_BYTES = 8_192


class Order(TypedDict):
    """`files` pairs the path to open with the name to show; `mode` is content, files or count."""

    pattern: str
    ignore_case: bool
    mode: str
    n_context: int
    limit: int
    files: list[tuple[str, str]]


class Findings(TypedDict):
    """`lines` are the answer; the counts say what was not searched; `error` is a bad pattern."""

    lines: list[str]
    is_cut: bool
    n_searched: int
    n_binary: int
    too_large: list[str]
    unreadable: list[str]
    error: str | None


def search(order: Order) -> Findings:
    """What the pattern finds, line by line, up to the limit."""
    found = Findings(
        lines=[], is_cut=False, n_searched=0, n_binary=0, too_large=[], unreadable=[], error=None
    )
    try:
        pattern = re.compile(order["pattern"], re.IGNORECASE if order["ignore_case"] else 0)
    except (re.error, OverflowError, RecursionError) as exc:
        found["error"] = str(exc)
        return found
    n_left = order["limit"]
    for path, name in order["files"]:
        text = _text(path, name, found)
        if text is None:
            continue
        lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
        hits = [number for number, line in enumerate(lines) if pattern.search(line)]
        if not hits:
            continue
        if n_left == 0:
            found["is_cut"] = True
            break
        shown = hits[:n_left] if order["mode"] == "content" else hits
        found["is_cut"] = len(shown) < len(hits)
        n_left -= len(shown) if order["mode"] == "content" else 1
        found["lines"].extend(_answer(order, name, lines, shown, pattern))
        if found["is_cut"]:
            break
    return found


def _answer(
    order: Order, name: str, lines: list[str], hits: list[int], pattern: re.Pattern[str]
) -> Iterable[str]:
    if order["mode"] == "files":
        return [name]
    if order["mode"] == "count":
        return [f"{name}:{len(hits)}"]
    return _with_context(name, lines, hits, order["n_context"], pattern)


def _with_context(
    name: str, lines: list[str], hits: list[int], n_context: int, pattern: re.Pattern[str]
) -> Iterator[str]:
    is_hit = set(hits)
    last_shown = -1
    for hit in hits:
        first = max(hit - n_context, last_shown + 1)
        if n_context and first > last_shown + 1:
            yield "--"
        for number in range(first, min(hit + n_context + 1, len(lines))):
            mark = ":" if number in is_hit else "-"
            yield f"{name}{mark}{number + 1}{mark}{_cut(lines[number], pattern)}"
            last_shown = number


def _cut(line: str, pattern: re.Pattern[str]) -> str:
    """The line, or of a very long one the part around what was found."""
    if len(line) <= MAX_LINE_CHARACTERS:
        return line
    match = pattern.search(line)
    middle = match.start() if match else 0
    start = max(0, min(middle - MAX_LINE_CHARACTERS // 2, len(line) - MAX_LINE_CHARACTERS))
    part = line[start : start + MAX_LINE_CHARACTERS]
    return f"{'…' if start else ''}{part}… [line of {len(line):,} characters cut]"


def _text(path: str, name: str, found: Findings) -> str | None:
    try:
        status = Path(path).stat()
        if not stat.S_ISREG(status.st_mode):  # opening a pipe would wait for its other end
            return None
        if status.st_size > MAX_FILE_BYTES:
            found["too_large"].append(name)
            return None
        with open(path, "rb") as file:
            head = file.read(_SNIFF_BYTES)
            if b"\0" in head:
                found["n_binary"] += 1
                return None
            data = head + file.read(MAX_FILE_BYTES)
    except OSError:
        found["unreadable"].append(name)
        return None
    found["n_searched"] += 1
    return data.decode("utf-8", "replace")


if __name__ == "__main__":
    json.dump(search(json.load(sys.stdin)), sys.stdout)
