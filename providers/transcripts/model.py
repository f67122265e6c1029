"""What a reader makes of a transcript: neutral messages, each with its place, and what it could not read."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from pydantic import JsonValue

from providers.model import Dialect, Message, ToolSpec

Path: TypeAlias = tuple[str | int, ...]
"""The number of a document in its text, and from there keys and indices: `(0, "messages", 3)`."""

Item: TypeAlias = tuple[Path, JsonValue]
"""A value and where it stands."""


class NoteRule(StrEnum):
    """What kept a reader from understanding something."""

    NOT_JSON = "not_json"
    NOT_A_MESSAGE = "not_a_message"
    UNKNOWN_ROLE = "unknown_role"
    UNKNOWN_TYPE = "unknown_type"
    UNKNOWN_KEY = "unknown_key"
    MISSING = "missing_field"
    WRONG_TYPE = "wrong_type"
    WRONG_PLACE = "wrong_place"
    CACHE_MARK = "cache_mark"
    ARGUMENTS_TEXT = "arguments_text"
    KEPT_ELSEWHERE = "kept_elsewhere"
    CALL_ID_FORM = "call_id_form"
    MEDIA_TYPE = "media_type"
    CONFLICT = "conflict"


@dataclass(frozen=True, slots=True)
class Note:
    """One thing that could not be read as it stands.

    `is_refused` says that the provider of this format would not take it
    either; else it is only unknown here and was not judged. `is_whole`: it is
    about the request around the messages.
    """

    rule: NoteRule
    path: Path
    text: str
    is_refused: bool
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class ReadMessage:
    """A message as it stands in the transcript, broken rules and all.

    `call_paths` has one path for each call, `block_paths` one for each block
    of a content that is made of blocks.
    """

    message: Message
    path: Path
    call_paths: tuple[Path, ...] = ()
    block_paths: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """What one reader found in one list of messages and what stands around it."""

    messages: tuple[ReadMessage, ...]
    tools: tuple[ToolSpec, ...]
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class Transcript:
    """One conversation of a text.

    `dialect` is the format that it was read as; `is_certain` that it can be no
    other. `n_items` counts the messages or items as they stand in the text; one
    may hold several messages of ours. `model` is the name in the body; a body that names one is a whole
    request, all else is a history. `name` is what a batch file calls it.
    """

    path: Path
    reading: Reading
    dialect: Dialect
    is_certain: bool
    n_items: int
    model: str | None = None
    name: str | None = None

    @property
    def is_request(self) -> bool:
        """Would this be sent as it stands?"""
        return self.model is not None


def shown_path(path: Iterable[str | int]) -> str:
    """A path as a person writes it, from the top of its document: `messages[3].content[0]`."""
    _, *steps = path
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return text.removeprefix(".")
