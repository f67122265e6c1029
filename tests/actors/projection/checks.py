"""What must hold of every projection, told without knowledge of how it is made."""

from actors.history import Entry, MessageEntry
from actors.projection import Projection, RepairRule
from providers.legality import Finding, check
from providers.model import Content, Dialect, FileBlock, Message, ModelProfile, Request, Role, TextBlock

_LOST = (RepairRule.RESULT_WITHOUT_CALL, RepairRule.RESULT_DUPLICATE)


def profile(*, mid_conversation_system: bool) -> ModelProfile:
    return ModelProfile(
        "reader-model",
        200_000,
        8_000,
        mid_conversation_system=mid_conversation_system,
        images=True,
        cache_marks=True,
    )


def refusals(
    messages: tuple[Message, ...], *, mid_conversation_system: bool
) -> list[tuple[Dialect, Finding]]:
    """What the three dialects find in the messages; conditions on whole requests aside."""
    request = Request("reader-model", messages)
    return [
        (dialect, finding)
        for dialect in Dialect
        for finding in check(request, dialect, profile(mid_conversation_system=mid_conversation_system))
        if finding.kind == "history"
    ]


def lost_texts(entries: tuple[Entry, ...], projection: Projection) -> list[str]:
    """Texts of the history that are nowhere in the messages; dropped results aside."""
    dropped = {repair.entry for repair in projection.repaired if repair.rule in _LOST}
    sent = _plain("\0".join(text for message in projection.messages for text in texts(message.content)))
    return [
        text
        for at, entry in enumerate(entries)
        if at not in dropped
        for text in (texts(entry.message.content) if isinstance(entry, MessageEntry) else [entry.body])
        if text.strip() and _plain(text) not in sent
    ]


def wrongly_dropped(entries: tuple[Entry, ...], projection: Projection) -> list[int]:
    """Dropped results that a call waited for, or that are not there a second time."""
    called = {
        call.id for entry in entries if isinstance(entry, MessageEntry) for call in entry.message.tool_calls
    }
    sent = {index for sources in projection.sources for index in sources}
    kept = {
        entry.message.tool_call_id
        for at, entry in enumerate(entries)
        if isinstance(entry, MessageEntry) and entry.message.role is Role.TOOL and at in sent
    }
    wrong = []
    for repair in projection.repaired:
        entry = entries[repair.entry]
        call_id = entry.message.tool_call_id if isinstance(entry, MessageEntry) else None
        if (repair.rule is RepairRule.RESULT_WITHOUT_CALL and call_id in called) or (
            repair.rule is RepairRule.RESULT_DUPLICATE and call_id not in kept
        ):
            wrong.append(repair.entry)
    return wrong


def texts(content: Content) -> list[str]:
    if content is None or isinstance(content, str):
        return [content or ""]
    return [
        block.text or ""
        for block in content
        if isinstance(block, TextBlock) or (isinstance(block, FileBlock) and block.text)
    ]


def _plain(text: str) -> str:
    """A text without what escaping and replacing change in it."""
    return text.replace("&lt;", "<").encode("utf-8", "replace").decode().replace("\ufffd", "?")
