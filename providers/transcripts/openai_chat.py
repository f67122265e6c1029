"""Reads the messages of OpenAI's Chat Completions, and of servers that speak like it."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from providers.model import (
    Block,
    CacheMark,
    Content,
    Dialect,
    FileBlock,
    Message,
    ReasoningBlock,
    Role,
    TextBlock,
    ToolCall,
    ToolSpec,
)
from providers.reading import JsonObject
from providers.transcripts.attachments import SOME_FILE, file_of_url, image_of_url
from providers.transcripts.fields import Notes, kind_of, shown
from providers.transcripts.formats import BLOCK_TYPES
from providers.transcripts.model import Item, NoteRule, Path, Reading, ReadMessage

ROLES = {
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": Role.TOOL,
}
_KEYS = frozenset(
    {
        *("role", "content", "name", "refusal", "audio", "annotations", "tool_calls", "tool_call_id"),
        *("function_call", "cache_control"),
        # Only compatible servers know these.
        *("reasoning_content", "reasoning", "reasoning_details"),
    }
)


def read_openai_chat(items: Sequence[Item], body: JsonObject, base: Path) -> Reading:
    """The messages among `items`, with the tools of the body."""
    notes = Notes()
    messages = [
        _message(fields, path, notes)
        for path, value in items
        if (fields := notes.object(value, path, "a message")) is not None
    ]
    tools = _tools(body.get("tools"), (*base, "tools"), notes)
    if body.get("functions"):
        notes.add(NoteRule.UNKNOWN_KEY, (*base, "functions"), _OLD_FORM, is_refused=False)
    return Reading(tuple(messages), tools, notes.all())


_OLD_FORM = "functions are the form before tools; they were not judged"


def _tools(value: JsonValue, path: Path, notes: Notes) -> tuple[ToolSpec, ...]:
    tools = []
    for at, tool in notes.objects(value, path, "a tool"):
        if (kind := notes.type_of(tool, at)) != "function":
            notes.unknown_type(kind, at)
        elif (function := notes.object(tool.get("function"), (*at, "function"), "a function")) is not None:
            tools.append(notes.tool(function, "parameters", (*at, "function")))
    return tuple(tools)


def _message(fields: JsonObject, path: Path, notes: Notes) -> ReadMessage:
    notes.known_keys(fields, path, _KEYS, is_refused=False)
    if fields.get("function_call") is not None or fields.get("role") == "function":
        notes.add(NoteRule.UNKNOWN_KEY, path, _OLD_FORM, is_refused=False)
    role = notes.role(fields, path, ROLES if fields.get("role") != "function" else {"function": Role.USER})
    said = _content(fields, path, notes)
    calls = _calls(fields.get("tool_calls"), (*path, "tool_calls"), notes)
    # Null and an empty text are the same beside calls: servers write either.
    message = Message(
        role,
        None if said.content == "" and calls and role is Role.ASSISTANT else said.content,
        tuple(call for _, call in calls),
        notes.optional_text(fields, "tool_call_id", path) if role is Role.TOOL else None,
        cache=notes.cache_mark(fields, path) or said.mark,
    )
    return ReadMessage(message, path, tuple(at for at, _ in calls), said.paths)


@dataclass(frozen=True, slots=True)
class _Said:
    """A content, the place of each of its blocks, and the mark that one of them carries."""

    content: Content
    paths: tuple[Path, ...] = ()
    mark: CacheMark | None = None


def _content(fields: JsonObject, path: Path, notes: Notes) -> _Said:
    """What the message says: refusals are words too, and open reasoning comes before them."""
    is_result = fields.get("role") == "tool"
    said = _said(fields.get("content"), (*path, "content"), notes, is_result=is_result)
    refusal = notes.optional_text(fields, "refusal", path)
    thoughts = notes.optional_text(fields, "reasoning_content", path)
    unread = _unread(fields, path, notes)
    if not refusal and not thoughts and not unread:
        return said
    blocks: list[tuple[Path, Block]] = []
    if thoughts:
        blocks.append(((*path, "reasoning_content"), ReasoningBlock(thoughts)))
    if isinstance(said.content, tuple):
        blocks += zip(said.paths, said.content, strict=True)
    elif said.content:
        blocks.append(((*path, "content"), TextBlock(said.content)))
    if refusal:
        blocks.append(((*path, "refusal"), TextBlock(refusal)))
    blocks += unread
    return _Said(tuple(block for _, block in blocks), tuple(at for at, _ in blocks), said.mark)


def _unread(fields: JsonObject, path: Path, notes: Notes) -> list[tuple[Path, Block]]:
    """Texts that stand for what an assistant says in forms that are not read here: it is not empty."""
    if fields.get("role") != "assistant":
        return []
    if fields.get("audio") is not None:
        notes.add(NoteRule.UNKNOWN_TYPE, (*path, "audio"), "audio was not judged", is_refused=False)
    return [
        ((*path, key), TextBlock(f"[{key} was here]"))
        for key in ("audio", "function_call")
        if fields.get(key) is not None
    ]


_ATTACHED = ("image_url", "input_audio", "file")


def _said(value: JsonValue, path: Path, notes: Notes, *, is_result: bool) -> _Said:
    """OpenAI: "Image URLs are only allowed for messages with role 'user'", so a result has none."""
    if value is None or isinstance(value, str):
        return _Said(value)
    if not isinstance(value, list):
        text = f"content: a text or a list of parts wanted, got {kind_of(value)}"
        notes.add(NoteRule.WRONG_TYPE, path, text)
        return _Said(None)
    blocks: list[Block] = []
    paths: list[Path] = []
    mark: CacheMark | None = None
    for at, part in notes.objects(value, path, "a part"):
        if is_result and part.get("type") in _ATTACHED:
            text = f"a tool message holds only texts, not {shown(part.get('type'))}"
            notes.add(NoteRule.WRONG_PLACE, at, text)
        blocks.append(_part(part, at, notes))
        paths.append(at)
        mark = notes.cache_mark(part, at) or mark
    return _Said(tuple(blocks), tuple(paths), mark)


def _part(part: JsonObject, path: Path, notes: Notes) -> Block:
    match kind := notes.type_of(part, path):
        case "text":
            return TextBlock(notes.text(part, "text", path))
        case "refusal":
            return TextBlock(notes.text(part, "refusal", path))
        case "image_url":
            return _image(part, (*path, "image_url"), notes)
        case "file":
            return _file(part, (*path, "file"), notes)
        case _:
            is_of_others = BLOCK_TYPES.get(kind, Dialect.OPENAI_CHAT) is not Dialect.OPENAI_CHAT
            return TextBlock(notes.unknown_type(kind, path, is_refused=is_of_others))


def _image(part: JsonObject, path: Path, notes: Notes) -> Block:
    image = notes.object(part.get("image_url"), path, "an object with a url")
    return image_of_url("" if image is None else notes.text(image, "url", path))


def _file(part: JsonObject, path: Path, notes: Notes) -> Block:
    file = notes.object(part.get("file"), path, "a file")
    if file is None:
        return FileBlock(SOME_FILE, data_url="")
    name = notes.optional_text(file, "filename", path)
    if (file_id := notes.optional_text(file, "file_id", path)) is not None:
        return FileBlock(SOME_FILE, data_url=f"file_id:{file_id}", name=name)
    return file_of_url(notes.text(file, "file_data", path), name)


def _calls(value: JsonValue, path: Path, notes: Notes) -> list[tuple[Path, ToolCall]]:
    if value == []:
        notes.add(NoteRule.WRONG_TYPE, path, "tool_calls: at least one call wanted where the field stands")
    return [(at, _call(call, at, notes)) for at, call in notes.objects(value, path, "a call")]


def _call(call: JsonObject, path: Path, notes: Notes) -> ToolCall:
    call_id = notes.optional_text(call, "id", path) or ""  # a rule finds that it is missing
    if call.get("type") == "custom":
        custom = notes.object(call.get("custom"), (*path, "custom"), "a custom call") or {}
        text = notes.text(custom, "input", (*path, "custom"))
        return ToolCall(call_id, notes.text(custom, "name", (*path, "custom")), {"input": text})
    if call.get("type") != "function":
        notes.unknown_type(notes.type_of(call, path), path)
    function = notes.object(call.get("function"), (*path, "function"), "a function")
    if function is None:
        return ToolCall(call_id, "", {})
    at = (*path, "function")
    return ToolCall(call_id, notes.text(function, "name", at), notes.arguments(function, "arguments", at))
