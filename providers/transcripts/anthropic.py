"""Reads the messages of Anthropic's Messages interface.

A user message holds results and words; here each result is a message of its
own, and what stands between results stays between them. A cache mark ends a
user message, since ours have one mark at most.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from pydantic import JsonValue

from providers.model import Block, CacheMark, Content, Message, ReasoningBlock, Role, TextBlock, ToolCall
from providers.reading import JsonObject
from providers.transcripts.anthropic_wire import (
    note_body,
    note_call_id,
    note_error_content,
    note_first_systems,
    note_marks,
)
from providers.transcripts.attachments import anthropic_document, anthropic_image
from providers.transcripts.fields import Notes, kind_of
from providers.transcripts.model import Item, NoteRule, Path, Reading, ReadMessage

ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM}
_KEYS = frozenset({"role", "content", "clear_at"})
_Fields = JsonObject


def read_anthropic(items: Sequence[Item], body: _Fields, base: Path) -> Reading:
    """The messages among `items`, with the system prompt and the tools of the body around them."""
    notes = Notes()
    note_body(body, base, notes)
    note_first_systems(items, notes)
    messages = list(_system(body.get("system"), (*base, "system"), notes))
    for path, value in items:
        if (fields := notes.object(value, path, "a message")) is not None:
            messages.extend(_message(fields, path, notes))
    tools = list(notes.objects(body.get("tools"), (*base, "tools"), "a tool"))
    for path, tool in tools:
        notes.cache_mark(tool, path)
    note_marks(items, body, base, sum(read.message.cache is not None for read in messages), notes)
    specs = [notes.tool(tool, "input_schema", path) for path, tool in tools if _is_own(tool, path, notes)]
    return Reading(tuple(messages), tuple(specs), notes.all())


def _is_own(tool: _Fields, path: Path, notes: Notes) -> bool:
    """Tools that the provider runs itself have a type and no schema."""
    if tool.get("type") in (None, "custom"):
        return True
    notes.unknown_type(notes.type_of(tool, path), path)
    return False


def _system(value: JsonValue, path: Path, notes: Notes) -> Iterator[ReadMessage]:
    if isinstance(value, str):
        yield ReadMessage(Message(Role.SYSTEM, value), path)
        return
    for at, block in notes.objects(value, path, "a text block"):
        kind = notes.type_of(block, at)
        if kind == "text":
            text = notes.text(block, "text", at)
            yield ReadMessage(Message(Role.SYSTEM, text, cache=notes.cache_mark(block, at)), at)
        elif kind:
            notes.unknown_type(kind, at, is_refused=True)


def _message(fields: _Fields, path: Path, notes: Notes) -> list[ReadMessage]:
    notes.known_keys(fields, path, _KEYS, is_refused=True)
    role = notes.role(fields, path, ROLES)
    content = fields.get("content")
    if isinstance(content, list):
        return _Blocks(role, path, notes).read(content)
    if content is not None and not isinstance(content, str):
        text = f"content: a text or a list of blocks wanted, got {kind_of(content)}"
        notes.add(NoteRule.WRONG_TYPE, (*path, "content"), text)
        content = None
    return [ReadMessage(Message(role, content), path)]


@dataclass(slots=True)
class _Run:
    """Neighbouring blocks that make one message of ours."""

    path: Path
    blocks: list[Block] = field(default_factory=list)
    block_paths: list[Path] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    call_paths: list[Path] = field(default_factory=list)
    cache: CacheMark | None = None

    def message(self, role: Role) -> ReadMessage:
        content = None if self.calls and not self.blocks else tuple(self.blocks)
        message = Message(role, content, tuple(self.calls), cache=self.cache)
        return ReadMessage(message, self.path, tuple(self.call_paths), tuple(self.block_paths))


class _Blocks:
    """Cuts the blocks of one message into messages of ours."""

    def __init__(self, role: Role, path: Path, notes: Notes) -> None:
        self._role = role
        self._path = path
        self._notes = notes
        self._run: _Run | None = None
        self._messages: list[ReadMessage] = []

    def read(self, content: list[JsonValue]) -> list[ReadMessage]:
        for at, block in self._notes.objects(content, (*self._path, "content"), "a block"):
            self._take(block, at)
        self._flush()
        if not self._messages:
            return [ReadMessage(Message(self._role, ()), self._path)]
        only = self._messages[0]
        if len(self._messages) == 1 and only.message.role is not Role.TOOL:
            return [replace(only, path=self._path)]
        return self._messages

    def _take(self, block: _Fields, path: Path) -> None:
        kind = self._notes.type_of(block, path)
        if kind == "tool_result":
            self._flush()
            self._messages.append(self._result(block, path))
            return
        run = self._run = self._run or _Run(path)
        if kind == "tool_use":
            run.calls.append(_call(block, path, len(run.blocks), self._notes))
            run.call_paths.append(path)
        else:
            run.blocks.append(_block(kind, block, path, self._notes))
            run.block_paths.append(path)
        if (mark := self._mark(kind, block, path)) is not None:
            run.cache = mark
            if self._role is not Role.ASSISTANT:
                self._flush()

    def _flush(self) -> None:
        if self._run is not None:
            self._messages.append(self._run.message(self._role))
            self._run = None

    def _mark(self, kind: str, block: _Fields, path: Path) -> CacheMark | None:
        mark = self._notes.cache_mark(block, path)
        if mark is not None and kind in ("thinking", "redacted_thinking"):
            self._notes.add(NoteRule.CACHE_MARK, path, f"a block of type {kind} carries no cache mark")
            return None
        return mark

    def _result(self, block: _Fields, path: Path) -> ReadMessage:
        if self._role is not Role.USER:
            text = f"a tool_result stands in a message of role {self._role}; only a user's holds results"
            self._notes.add(NoteRule.WRONG_PLACE, path, text)
        call_id = self._notes.optional_text(block, "tool_use_id", path)
        note_call_id(call_id, path, "tool_use_id", self._notes)
        content, inner, inner_mark = _result_content(block.get("content"), (*path, "content"), self._notes)
        mark = self._notes.cache_mark(block, path) or inner_mark
        is_error = self._notes.flag(block, "is_error", path)
        if is_error:
            note_error_content(block.get("content"), (*path, "content"), self._notes)
        message = Message(Role.TOOL, content, tool_call_id=call_id, is_error=is_error, cache=mark)
        return ReadMessage(message, path, block_paths=inner)


def _result_content(
    value: JsonValue, path: Path, notes: Notes
) -> tuple[Content, tuple[Path, ...], CacheMark | None]:
    if value is None or isinstance(value, str):
        return value, (), None
    blocks: list[Block] = []
    paths: list[Path] = []
    mark: CacheMark | None = None
    for at, block in notes.objects(value, path, "a block"):
        blocks.append(_block(notes.type_of(block, at), block, at, notes))
        paths.append(at)
        mark = notes.cache_mark(block, at) or mark
    return tuple(blocks), tuple(paths), mark


def _call(block: _Fields, path: Path, n_before: int, notes: Notes) -> ToolCall:
    if "input" not in block:
        notes.add(NoteRule.MISSING, path, "input is missing")
    call_id = notes.optional_text(block, "id", path)
    note_call_id(call_id, path, "id", notes)
    return ToolCall(
        call_id or "",  # a rule finds that it is missing
        notes.text(block, "name", path),
        block.get("input", {}),
        after_block=n_before,
    )


def _block(kind: str, block: _Fields, path: Path, notes: Notes) -> Block:
    """A block of ours; a type that is not known here stands as a text that names it."""
    match kind:
        case "text":
            return TextBlock(notes.text(block, "text", path))
        case "thinking":
            # Missing is noted here; empty is what the rule about thinking finds.
            signature = notes.text(block, "signature", path)
            is_there = isinstance(block.get("signature"), str)
            return ReasoningBlock(notes.text(block, "thinking", path), signature if is_there else None)
        case "redacted_thinking":
            return ReasoningBlock("", data=notes.text(block, "data", path))
        case "image":
            return anthropic_image(block, path, notes)
        case "document":
            return anthropic_document(block, path, notes)
        case _:
            return TextBlock(notes.unknown_type(kind, path))
