"""Reads the input items of OpenAI Responses.

What a model answered comes as several items: reasoning, a message, calls.
Neighbouring ones make one assistant message of ours, its parts in their order.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from providers.model import (
    Block,
    Content,
    FileBlock,
    Message,
    ReasoningBlock,
    Role,
    TextBlock,
    ToolCall,
    ToolSpec,
)
from providers.reading import JsonObject
from providers.transcripts.attachments import SOME_FILE, SOME_IMAGE, file_of_url, image_of_url
from providers.transcripts.fields import Notes, kind_of
from providers.transcripts.model import Item, NoteRule, Path, Reading, ReadMessage

ROLES = {
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
}
ITEM_TYPES = frozenset(
    {"function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", "reasoning"}
    | {"item_reference", "compaction", "web_search_call", "file_search_call", "computer_call"}
    | {"computer_call_output", "code_interpreter_call", "image_generation_call", "mcp_call"}
    | {"local_shell_call", "local_shell_call_output", "shell_call", "shell_call_output"}
    | {"apply_patch_call", "apply_patch_call_output"}
    | {"mcp_list_tools", "mcp_approval_request", "mcp_approval_response"}
)
_ENDINGS = ("_output", "_response")  # of the types that answer what the model asked for


def read_openai_responses(items: Sequence[Item], body: JsonObject, base: Path) -> Reading:
    """The messages that the items make, with the instructions and the tools of the body."""
    notes = Notes()
    for key in ("previous_response_id", "conversation"):
        if body.get(key) is not None:
            text = f"{key}: what was said before lies with the provider and cannot be seen here"
            notes.add(NoteRule.KEPT_ELSEWHERE, (*base, key), text, is_refused=False)
    if body.get("previous_response_id") is not None and body.get("conversation") is not None:
        text = "previous_response_id and conversation exclude each other"
        notes.add(NoteRule.CONFLICT, (*base, "conversation"), text, is_whole=True)
    reader = _Items(notes)
    instructions = body.get("instructions")
    if isinstance(instructions, str):
        reader.messages.append(ReadMessage(Message(Role.SYSTEM, instructions), (*base, "instructions")))
    elif instructions is not None:
        text = f"instructions: a text wanted, got {kind_of(instructions)}"
        notes.add(NoteRule.WRONG_TYPE, (*base, "instructions"), text)
    for path, value in items:
        if (item := notes.object(value, path, "an item")) is not None:
            reader.take(item, path)
    reader.flush()
    tools = _tools(body.get("tools"), (*base, "tools"), notes)
    return Reading(tuple(reader.messages), tools, notes.all())


def _tools(value: JsonValue, path: Path, notes: Notes) -> tuple[ToolSpec, ...]:
    tools = []
    for at, tool in notes.objects(value, path, "a tool"):
        if (kind := notes.type_of(tool, at)) == "function":
            tools.append(notes.tool(tool, "parameters", at))
        else:
            notes.unknown_type(kind, at)
    return tuple(tools)


@dataclass(slots=True)
class _Answer:
    """The items of one answer so far."""

    path: Path
    blocks: list[Block] = field(default_factory=list)
    block_paths: list[Path] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    call_paths: list[Path] = field(default_factory=list)

    def message(self) -> ReadMessage:
        content = None if self.calls and not self.blocks else tuple(self.blocks)
        message = Message(Role.ASSISTANT, content, tuple(self.calls))
        return ReadMessage(message, self.path, tuple(self.call_paths), tuple(self.block_paths))


class _Items:
    """Makes messages of items, one after the other."""

    def __init__(self, notes: Notes) -> None:
        self.messages: list[ReadMessage] = []
        self._notes = notes
        self._answer: _Answer | None = None

    def flush(self) -> None:
        if self._answer is not None:
            self.messages.append(self._answer.message())
            self._answer = None

    def take(self, item: JsonObject, path: Path) -> None:
        kind = "message" if "type" not in item and "role" in item else self._notes.type_of(item, path)
        match kind:
            case "message":
                self._message(item, path)
            case "function_call":
                self._call(item, self._notes.arguments(item, "arguments", path), path)
            case "custom_tool_call":
                self._call(item, {"input": self._notes.text(item, "input", path)}, path)
            case "function_call_output" | "custom_tool_call_output":
                self._output(item, path)
            case "reasoning":
                answer = self._open(path)
                answer.blocks.append(_reasoning(item, path, self._notes))
                answer.block_paths.append(path)
            case "item_reference":
                text = "item_reference: the item lies with the provider and cannot be seen here"
                self._notes.add(NoteRule.KEPT_ELSEWHERE, path, text, is_refused=False)
                self._stand_in("[an item was here]", path)
            case "":
                pass  # noted as missing
            case _:
                text = self._notes.unknown_type(kind, path)
                if kind.endswith(_ENDINGS):
                    self.flush()
                    block = TextBlock(text)
                    self.messages.append(ReadMessage(Message(Role.USER, (block,)), path, block_paths=(path,)))
                else:
                    self._stand_in(text, path)

    def _stand_in(self, text: str, path: Path) -> None:
        """For an item of the answer that is not read here: those around it are neither last nor alone."""
        answer = self._open(path)
        answer.blocks.append(TextBlock(text))
        answer.block_paths.append(path)

    def _open(self, path: Path) -> _Answer:
        if self._answer is None:
            self._answer = _Answer(path)
        return self._answer

    def _message(self, item: JsonObject, path: Path) -> None:
        role = self._notes.role(item, path, ROLES)
        content, paths = _content(item.get("content"), (*path, "content"), self._notes)
        _note_parts_of_others(item.get("content"), role, (*path, "content"), self._notes)
        if role is Role.ASSISTANT:
            answer = self._open(path)
            answer.blocks += (TextBlock(content),) if isinstance(content, str) else content or ()
            answer.block_paths += (path,) if isinstance(content, str) else paths
        else:
            self.flush()
            self.messages.append(ReadMessage(Message(role, content), path, block_paths=paths))

    def _call(self, item: JsonObject, arguments: JsonValue, path: Path) -> None:
        answer = self._open(path)
        call_id = self._notes.optional_text(item, "call_id", path) or ""  # a rule finds that it is missing
        name = self._notes.text(item, "name", path)
        answer.calls.append(ToolCall(call_id, name, arguments, after_block=len(answer.blocks)))
        answer.call_paths.append(path)

    def _output(self, item: JsonObject, path: Path) -> None:
        self.flush()
        content, paths = _content(item.get("output"), (*path, "output"), self._notes)
        call_id = self._notes.optional_text(item, "call_id", path)
        message = Message(Role.TOOL, content, tool_call_id=call_id)
        self.messages.append(ReadMessage(message, path, block_paths=paths))


def _reasoning(item: JsonObject, path: Path, notes: Notes) -> ReasoningBlock:
    parts = (
        part
        for key in ("summary", "content")
        for part in notes.objects(item.get(key), (*path, key), "a part")
    )
    text = "\n\n".join(notes.text(part, "text", at) for at, part in parts)
    data = notes.optional_text(item, "encrypted_content", path)
    return ReasoningBlock(text, data=data, item_id=notes.optional_text(item, "id", path) or "")


def _content(value: JsonValue, path: Path, notes: Notes) -> tuple[Content, tuple[Path, ...]]:
    """What is said, and the place of each part of it."""
    if value is None or isinstance(value, str):
        return value, ()
    if not isinstance(value, list):
        notes.add(NoteRule.WRONG_TYPE, path, f"a text or a list of parts wanted, got {kind_of(value)}")
        return None, ()
    parts = [(at, _part(part, at, notes)) for at, part in notes.objects(value, path, "a part")]
    return tuple(part for _, part in parts), tuple(at for at, _ in parts)


def _note_parts_of_others(value: JsonValue, role: Role, path: Path, notes: Notes) -> None:
    """OpenAI: "Invalid value: 'input_text'. Supported values are: 'output_text' …" of an answer."""
    wrong = _GIVEN if role is Role.ASSISTANT else _ANSWERED
    for at, part in enumerate(value if isinstance(value, list) else ()):
        if isinstance(part, dict) and part.get("type") in wrong:
            text = f"a part of type {part['type']} stands in a message of role {role}"
            notes.add(NoteRule.WRONG_PLACE, (*path, at), text)


_ANSWERED = ("output_text", "refusal")
_GIVEN = ("input_text",)  # of attachments a rule finds it


def _part(part: JsonObject, path: Path, notes: Notes) -> Block:
    match kind := notes.type_of(part, path):
        case "input_text" | "output_text" | "text":
            return TextBlock(notes.text(part, "text", path))
        case "refusal":
            return TextBlock(notes.text(part, "refusal", path))
        case "input_image":
            return image_of_url(_where(part, "image_url", path, notes) or SOME_IMAGE)
        case "input_file":
            name = notes.optional_text(part, "filename", path)
            url = _where(part, "file_url", path, notes) or notes.optional_text(part, "file_data", path)
            return file_of_url(url, name) if url else FileBlock(SOME_FILE, data_url="", name=name)
        case _:
            return TextBlock(notes.unknown_type(kind, path))


def _where(part: JsonObject, key: str, path: Path, notes: Notes) -> str | None:
    """A URL, or the id of an uploaded file."""
    file_id = notes.optional_text(part, "file_id", path)
    return f"file_id:{file_id}" if file_id else notes.optional_text(part, key, path)
