"""The conversations of a text: bodies of requests, lists of messages, messages line by line."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

from pydantic import JsonValue

from providers.model import Dialect
from providers.reading import JsonObject
from providers.transcripts.anthropic import read_anthropic
from providers.transcripts.fields import Notes, items_of
from providers.transcripts.formats import format_of
from providers.transcripts.model import Item, Path, Reading, Transcript
from providers.transcripts.openai_chat import read_openai_chat
from providers.transcripts.openai_responses import ITEM_TYPES, read_openai_responses

_WRAPPERS = ("body", "params", "request")  # as batch files have them
_NO_BODY: JsonObject = {}


@dataclass(frozen=True, slots=True)
class Body:
    """A request's body, with the name that a batch file gives it."""

    path: Path
    fields: JsonObject
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Single:
    """One message on its own, as lines of a file hold them."""

    path: Path
    value: JsonValue


@dataclass(frozen=True, slots=True)
class Messages:
    """A bare list of messages."""

    path: Path
    items: tuple[Item, ...]


Part: TypeAlias = Body | Single | Messages


def parts_of(value: JsonValue, path: Path) -> tuple[Part, ...]:
    """What a JSON document is: a body or a message, a list of either; nothing where it is none of them."""
    if isinstance(value, dict):
        part = _part_of(value, path)
        return () if part is None else (part,)
    if not isinstance(value, list):
        return ()
    items = tuple(((*path, at), element) for at, element in enumerate(value))
    kinds = [_part_of(element, at) for at, element in items]
    bodies = tuple(part for part in kinds if isinstance(part, Body))
    if bodies and len(bodies) == len(kinds):
        return bodies
    # A list with one message in it is a list of messages; what else is in it gets a note.
    return (Messages(path, items),) if not kinds or any(isinstance(part, Single) for part in kinds) else ()


def _part_of(value: JsonValue, path: Path) -> Body | Single | None:
    if not isinstance(value, dict):
        return None
    if _is_body(value):
        return Body(path, value)
    for key in _WRAPPERS:
        inner = value.get(key)
        if isinstance(inner, dict) and _is_body(inner):
            name = value.get("custom_id")
            return Body((*path, key), inner, name if isinstance(name, str) else None)
    kind = value.get("type")
    is_message = "role" in value or (isinstance(kind, str) and kind in ITEM_TYPES)
    return Single(path, value) if is_message else None


def _is_body(value: JsonObject) -> bool:
    return "messages" in value or ("input" in value and "type" not in value and "role" not in value)


def transcript_of(part: Body | Messages | Sequence[Single]) -> Transcript:
    """One conversation; several single messages make one."""
    match part:
        case Body(path, fields, name):
            return replace(_of_body(path, fields), name=name)
        case Messages(path, items):
            return _read(items, _NO_BODY, path)
        case _:
            return _read([(single.path, single.value) for single in part], _NO_BODY, part[0].path)


def _of_body(path: Path, fields: JsonObject) -> Transcript:
    key = "messages" if "messages" in fields else "input"
    content = fields[key]
    notes = Notes()
    if key == "input" and isinstance(content, str):
        message: JsonValue = {"role": "user", "content": content}
        items: list[Item] = [((*path, key), message)]
    else:
        items = items_of(content, (*path, key), notes)
    transcript = _read(items, fields, path)
    reading = replace(transcript.reading, notes=(*notes.all(), *transcript.reading.notes))
    return replace(transcript, reading=reading)


def _read(items: Sequence[Item], body: JsonObject, path: Path) -> Transcript:
    dialect, is_certain = format_of(items, body)
    model = body.get("model")
    return Transcript(
        path,
        _reading(dialect, items, body, path),
        dialect,
        is_certain,
        len(items),
        model if isinstance(model, str) else None,
    )


def _reading(dialect: Dialect, items: Sequence[Item], body: JsonObject, path: Path) -> Reading:
    match dialect:
        case Dialect.ANTHROPIC:
            return read_anthropic(items, body, path)
        case Dialect.OPENAI_CHAT:
            return read_openai_chat(items, body, path)
        case Dialect.OPENAI_RESPONSES:
            return read_openai_responses(items, body, path)
        case _:
            assert_never(dialect)
