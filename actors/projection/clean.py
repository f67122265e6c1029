"""Stage 5, first part: every message by itself.

Nothing empty goes out, nor what the role may not hold, nor reasoning that
only its author may read. Most messages pass untouched, so each check comes
before the change that it asks for.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from actors.projection.model import Piece, ProjectionOptions, RepairRule, Report
from actors.projection.sendable import as_sendable, is_data_url, is_sendable, sendable_object
from providers.model import Block, FileBlock, ImageBlock, Message, ReasoningBlock, Role, TextBlock, ToolCall

EMPTY_RESULT_TEXT = "(the tool returned nothing)"


def clean(pieces: list[Piece], options: ProjectionOptions, report: Report) -> list[Piece]:
    """The pieces with everything in them that may be sent, and nothing else."""
    cleaner = _Cleaner(options.model, options.as_recorded, report)
    kept = []
    for piece in pieces:
        cleaned = piece if _is_plain(piece) else cleaner.clean(piece)
        if cleaned is not None:
            kept.append(cleaned)
    return kept


def _is_plain(piece: Piece) -> bool:
    """Texts of simple characters and nothing else: what most pieces are, found out fast."""
    message = piece.message
    if message is None:
        return all(map(str.isascii, piece.bodies)) and not (piece.is_made and _is_blank(piece.bodies[0]))
    text = message.content
    return type(text) is str and text.isascii() and not message.tool_calls and not _is_blank(text)


def _is_blank(text: str) -> bool:
    return not text or text.isspace()


@dataclass(frozen=True, slots=True)
class _Cleaner:
    """`keeps_blank`: only a text of no characters is empty. Blanks are refused by one provider alone."""

    model: str | None
    keeps_blank: bool
    report: Report

    def clean(self, piece: Piece) -> Piece | None:
        message = piece.message
        if message is None:
            return self._clean_bodies(piece)
        if message.tool_calls and message.role is not Role.ASSISTANT:
            # First of all: whether a message is empty depends on its calls.
            self.report.repair(RepairRule.BLOCK_KIND, piece)
            message = replace(message, tool_calls=())
        content = message.content
        if isinstance(content, str):
            if self._is_empty(content):
                return self._without_content(piece, message)
            if not is_sendable(content):
                self.report.repair(RepairRule.UNICODE, piece)
                message = replace(message, content=as_sendable(content))
        elif content is not None:
            return self._clean_blocks(piece, message, content)
        elif not message.tool_calls:
            return self._without_content(piece, message)
        return self._clean_calls(piece, message)

    def _is_empty(self, text: str) -> bool:
        return not text if self.keeps_blank else _is_blank(text)

    def _clean_bodies(self, piece: Piece) -> Piece | None:
        """A reminder is wrapped or, when empty, refused; a system message made here is just left out."""
        if piece.is_made and all(map(self._is_empty, piece.bodies)):
            self.report.repair(RepairRule.EMPTY_MESSAGE, piece)
            return None
        if all(map(is_sendable, piece.bodies)):
            return piece
        self.report.repair(RepairRule.UNICODE, piece)
        return replace(piece, bodies=tuple(map(as_sendable, piece.bodies)))

    def _without_content(self, piece: Piece, message: Message, *, is_told: bool = False) -> Piece | None:
        if message.role is Role.TOOL:
            self.report.repair(RepairRule.EMPTY_RESULT, piece)
            return replace(piece, message=replace(message, content=EMPTY_RESULT_TEXT))
        if not message.tool_calls:
            self.report.repair(RepairRule.EMPTY_MESSAGE, piece)
            return None
        if not is_told:
            self.report.repair(RepairRule.EMPTY_TEXT, piece)
        calls = recounted(message.tool_calls, ())
        return self._clean_calls(piece, replace(message, content=None, tool_calls=calls))

    def _clean_blocks(self, piece: Piece, message: Message, blocks: tuple[Block, ...]) -> Piece | None:
        faults = {at: fault for at, block in enumerate(blocks) if (fault := self._fault(block, piece))}
        kept = [_instead(block, faults[at]) if at in faults else block for at, block in enumerate(blocks)]
        if ends := _trailing_reasoning(kept, message.tool_calls):
            faults |= dict.fromkeys(ends, RepairRule.LONE_REASONING)
            kept = [None if at in ends else block for at, block in enumerate(kept)]
        for rule in sorted(set(faults.values())):
            self.report.repair(rule, piece)
        if not any(kept):
            return self._without_content(piece, message, is_told=bool(faults))
        if faults:
            calls = recounted(message.tool_calls, [block is not None for block in kept])
            content = tuple(block for block in kept if block is not None)
            message = replace(message, content=content, tool_calls=calls)
        return self._clean_calls(piece, message)

    def _fault(self, block: Block, piece: Piece) -> RepairRule | None:
        match block:
            case TextBlock(text):
                if self._is_empty(text):
                    return RepairRule.EMPTY_TEXT
                return None if is_sendable(text) else RepairRule.UNICODE
            case ReasoningBlock():
                return self._reasoning_fault(block, piece)
            case ImageBlock() | FileBlock():
                if piece.role not in (Role.USER, Role.TOOL):
                    return RepairRule.BLOCK_KIND
                return self._attachment_fault(block)

    def _reasoning_fault(self, block: ReasoningBlock, piece: Piece) -> RepairRule | None:
        if piece.role is not Role.ASSISTANT:
            return RepairRule.BLOCK_KIND if block.text else RepairRule.EMPTY_TEXT
        if is_foreign(block, piece.written_by, self.model):
            return RepairRule.FOREIGN_REASONING
        if block.signature == "":
            return RepairRule.EMPTY_SIGNATURE
        parts = (block.text, block.signature, block.data, block.item_id)
        return None if all(is_sendable(part) for part in parts if part) else RepairRule.UNICODE

    def _attachment_fault(self, block: ImageBlock | FileBlock) -> RepairRule | None:
        has_text = isinstance(block, FileBlock) and block.text is not None
        if not is_sendable(block.media_type) or not (has_text or is_data_url(block.data_url or "")):
            return RepairRule.ATTACHMENT
        words = (block.text, block.name) if isinstance(block, FileBlock) else ()
        return None if all(is_sendable(text) for text in words if text) else RepairRule.UNICODE

    def _clean_calls(self, piece: Piece, message: Message) -> Piece:
        """Calls have an object of arguments, whatever an import brought."""
        calls = message.tool_calls
        objects = [sendable_object(call.input) for call in calls]
        if any(new is not call.input for call, new in zip(calls, objects, strict=True)):
            self.report.repair(RepairRule.ARGUMENTS, piece)
            repaired = (replace(call, input=new) for call, new in zip(calls, objects, strict=True))
            message = replace(message, tool_calls=tuple(repaired))
        return piece if message is piece.message else replace(piece, message=message)


_LEFT_OUT = frozenset({RepairRule.EMPTY_TEXT, RepairRule.FOREIGN_REASONING, RepairRule.EMPTY_SIGNATURE})


def is_foreign(block: ReasoningBlock, written_by: str | None, reader: str | None) -> bool:
    """Was it thought by another model than the one that will read it, as far as both are known?

    The entry's name of the model is the host's own; a provider may report a dated alias.
    """
    author = written_by or block.model
    return reader is not None and author not in (None, reader)


def _instead(block: Block, fault: RepairRule) -> Block | None:
    """What goes out instead of a block that may not. Reasoning goes as it is or not at all."""
    if fault in _LEFT_OUT or (fault is RepairRule.UNICODE and isinstance(block, ReasoningBlock)):
        return None
    if fault is RepairRule.UNICODE and isinstance(block, FileBlock):
        return replace(
            block, text=block.text and as_sendable(block.text), name=block.name and as_sendable(block.name)
        )
    return _in_place_of(block)


def _in_place_of(block: Block) -> TextBlock:
    """What cannot be sent as it is, said in words: the text where there is one."""
    match block:
        case TextBlock(text) | ReasoningBlock(text) | FileBlock(text=str(text)) if text:
            return TextBlock(as_sendable(text))
        case FileBlock(name=name):
            return TextBlock(f"[a file was here: {as_sendable(name or block.media_type)}]")
        case _:
            return TextBlock("[an image was here]")


def _trailing_reasoning(kept: list[Block | None], calls: tuple[ToolCall, ...]) -> list[int]:
    """The places of reasoning that nothing follows: no provider takes it at the end of an answer."""
    ends: list[int] = []
    for at in range(len(kept) - 1, -1, -1):
        if any(call.after_block is None or call.after_block > at for call in calls):
            break
        if isinstance(kept[at], ReasoningBlock):
            ends.append(at)
        elif kept[at] is not None:
            break
    return ends


def recounted(calls: tuple[ToolCall, ...], is_kept: Iterable[bool]) -> tuple[ToolCall, ...]:
    """The calls behind as many of the kept blocks as they stood behind before."""
    marks = list(is_kept)
    return tuple(
        call if call.after_block is None else replace(call, after_block=sum(marks[: call.after_block]))
        for call in calls
    )
