"""Stage 5, first part: every message by itself. Nothing empty goes out, nor what only its author may read."""

from dataclasses import dataclass, replace

from actors.projection.model import Piece, ProjectionOptions, RepairRule, Report
from providers.model import Block, Message, ReasoningBlock, Role, TextBlock, ToolCall

EMPTY_RESULT_TEXT = "(the tool returned nothing)"


def clean(pieces: list[Piece], options: ProjectionOptions, report: Report) -> list[Piece]:
    """The pieces without empty texts, empty messages and reasoning of other models."""
    cleaner = _Cleaner(options.model, options.as_recorded, report)
    return [kept for piece in pieces if (kept := cleaner.clean(piece)) is not None]


@dataclass(frozen=True, slots=True)
class _Cleaner:
    """`keeps_blank`: only a text of no characters is empty. Blanks are refused by one provider alone."""

    model: str | None
    keeps_blank: bool
    report: Report

    def clean(self, piece: Piece) -> Piece | None:
        message = piece.message
        if message is None:
            return self._clean_made(piece)
        content = message.content
        if isinstance(content, str):
            if self._is_empty(content):
                return self._without_content(piece, message)
        elif content is not None:
            return self._clean_blocks(piece, message, content)
        elif not message.tool_calls:
            return self._without_content(piece, message)
        return self._with_arguments(piece, message)

    def _is_empty(self, text: str) -> bool:
        return not text or (text.isspace() and not self.keeps_blank)

    def _clean_made(self, piece: Piece) -> Piece | None:
        """A reminder is wrapped or, when empty, refused; a system message made here is just left out."""
        if piece.is_made and all(self._is_empty(body) for body in piece.bodies):
            self.report.repair(RepairRule.EMPTY_MESSAGE, piece)
            return None
        return piece

    def _without_content(self, piece: Piece, message: Message) -> Piece | None:
        if message.role is Role.TOOL:
            self.report.repair(RepairRule.EMPTY_RESULT, piece)
            return replace(piece, message=replace(message, content=EMPTY_RESULT_TEXT))
        if not message.tool_calls:
            self.report.repair(RepairRule.EMPTY_MESSAGE, piece)
            return None
        if message.content is not None:
            self.report.repair(RepairRule.EMPTY_TEXT, piece)
            message = replace(message, content=None, tool_calls=_behind(message.tool_calls, []))
        return self._with_arguments(piece, message)

    def _clean_blocks(self, piece: Piece, message: Message, blocks: tuple[Block, ...]) -> Piece | None:
        faults = [self._fault(block, piece) for block in blocks]
        kept = tuple(block for block, fault in zip(blocks, faults, strict=True) if fault is None)
        if message.role is Role.ASSISTANT and not message.tool_calls and _is_only_reasoning(kept):
            self.report.repair(RepairRule.LONE_REASONING, piece)
            return None
        if not kept:
            return self._without_content(piece, message)
        if len(kept) != len(blocks):
            for rule in sorted({fault for fault in faults if fault is not None}):
                self.report.repair(rule, piece)
            calls = _behind(message.tool_calls, [fault is None for fault in faults])
            message = replace(message, content=kept, tool_calls=calls)
        return self._with_arguments(piece, message)

    def _fault(self, block: Block, piece: Piece) -> RepairRule | None:
        if isinstance(block, TextBlock):
            return RepairRule.EMPTY_TEXT if self._is_empty(block.text) else None
        if isinstance(block, ReasoningBlock) and self.model is not None:
            # The entry's name of the model is the host's own; a provider may report a dated alias.
            author = piece.written_by or block.model
            return RepairRule.FOREIGN_REASONING if author not in (None, self.model) else None
        return None

    def _with_arguments(self, piece: Piece, message: Message) -> Piece:
        """Arguments are an object, whatever a model wrote or an import brought."""
        if not all(isinstance(call.input, dict) for call in message.tool_calls):
            self.report.repair(RepairRule.ARGUMENTS, piece)
            message = replace(message, tool_calls=tuple(_with_object(call) for call in message.tool_calls))
        return piece if message is piece.message else replace(piece, message=message)


def _is_only_reasoning(blocks: tuple[Block, ...]) -> bool:
    return bool(blocks) and all(isinstance(block, ReasoningBlock) for block in blocks)


def _behind(calls: tuple[ToolCall, ...], is_kept: list[bool]) -> tuple[ToolCall, ...]:
    """The calls behind as many of the kept blocks as they stood behind before."""
    return tuple(
        call if call.after_block is None else replace(call, after_block=sum(is_kept[: call.after_block]))
        for call in calls
    )


def _with_object(call: ToolCall) -> ToolCall:
    if isinstance(call.input, dict):
        return call
    return replace(call, input={} if call.input is None else {"value": call.input})
