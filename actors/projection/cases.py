"""Projects cases in the format of the test vectors: one JSON object in, one out.

The way to look at a history from a bug report, and to run the vectors.
"""

from dataclasses import asdict

from pydantic import JsonValue

from actors.errors import EmptyReminderBody, UnknownReminderSource
from actors.history import Presentation
from actors.projection.case_format import Case, read_case
from actors.projection.model import Projection, ProjectionOptions
from actors.projection.pipeline import project
from actors.reminders import TextPresenter
from providers.model import Block, CacheMark, Content, Message, ToolCall


class TokenPresenter:
    """Writes the tokens of the vectors where a host writes its own words; it neither escapes nor quotes."""

    def present(self, presentation: Presentation, body: str, sender: str | None) -> str:
        lead = self.lead(presentation, sender)
        return f"{lead}{body}⟦/⟧" if lead else body

    def lead(self, presentation: Presentation, sender: str | None) -> str:
        return "" if presentation is Presentation.COORDINATOR_INPUT else f"⟦{presentation.value}⟧"


def run_case(value: JsonValue, *, tokens: bool) -> dict[str, JsonValue]:
    """The result of one case, or its `name` and the code of the `error`.

    `tokens` presents with the tokens of the vectors instead of the real texts.

    Raises:
        BadInput: the value is not a case; the text says where.
    """
    case = read_case(value)
    try:
        projection = project(case.entries, options_of(case, tokens=tokens))
    except (UnknownReminderSource, EmptyReminderBody) as exc:
        return {"name": case.name, "error": exc.code}
    return {"name": case.name, **_result(projection, case)}


def options_of(case: Case, *, tokens: bool) -> ProjectionOptions:
    """The options that a case asks for; cases show the recorded behaviour where it differs."""
    return ProjectionOptions(
        mid_conversation_system=case.mid_conversation_system,
        peers_may_use_system_role=case.peers_may_use_system_role,
        apply_cache_control=case.apply_cache_control,
        skip_cache_write=case.skip_cache_write,
        presenter=TokenPresenter() if tokens else TextPresenter(),
        as_recorded=True,
    )


def _result(projection: Projection, case: Case) -> dict[str, JsonValue]:
    return {
        "messages": [_message(message, case) for message in projection.messages],
        "latest_real_user_index": projection.latest_real_user_index,
        "cache_control_index": projection.cache_control_index,
        "moved": list(projection.moved),
        "repaired": [{"rule": repair.rule.value, "entry": repair.entry} for repair in projection.repaired],
    }


def _message(message: Message, case: Case) -> dict[str, JsonValue]:
    shown: dict[str, JsonValue] = {"role": message.role.value, "content": _content(message.content, case)}
    if message.tool_calls:
        shown["tool_calls"] = [_call(call) for call in message.tool_calls]
    extras: dict[str, JsonValue] = {
        "tool_call_id": message.tool_call_id,
        "tool_name": message.tool_name,
        "is_error": message.is_error,
        "cache_control": _cache_control(message.cache),
    }
    return shown | {key: value for key, value in extras.items() if value is not None}


def _call(call: ToolCall) -> JsonValue:
    return {"id": call.id, "name": call.name, "input": call.input}


def _cache_control(cache: CacheMark | None) -> JsonValue:
    if cache is None:
        return None
    return {"type": "ephemeral"} if cache.ttl is None else {"type": "ephemeral", "ttl": cache.ttl}


def _content(content: Content, case: Case) -> JsonValue:
    if content is None or isinstance(content, str):
        return content
    return [_block(block, case) for block in content]


def _block(block: Block, case: Case) -> JsonValue:
    """As it stood in the case; a block that the projection made is a text."""
    raw = case.raw_blocks.get(id(block))
    return {"type": "text", **asdict(block)} if raw is None else raw
