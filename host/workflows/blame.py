"""Errors of a script in words, with the line of the script where they came from."""

import traceback
from collections.abc import Iterator
from pathlib import Path

_MAX_LEAVES = 5


def blamed(error: BaseException, file: str) -> str:
    """What was raised, and where in the script; of a group, the group's text and its members."""
    if not isinstance(error, BaseExceptionGroup):
        return _one(error, file)
    leaves = list(_leaves(error))
    lines = [f"- {_one(leaf, file)}" for leaf in leaves[:_MAX_LEAVES]]
    if len(leaves) > _MAX_LEAVES:
        lines.append(f"- … and {len(leaves) - _MAX_LEAVES} more")
    return "\n".join((error.message, *lines))


def _one(error: BaseException, file: str) -> str:
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f"{text} ({Path(file).name}, line {lines[-1]})" if lines else text


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error
