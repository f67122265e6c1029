"""The text of a notification: what became of a background agent, as escaped fields."""

from dataclasses import dataclass
from html import escape

from actors.records import AgentState
from providers.model import Usage

MAX_CHARACTERS = 120_000
MAX_BYTES = 200_000
_CUT = "\n[cut: the rest is in the agent's own session]"


@dataclass(frozen=True, slots=True)
class TaskReport:
    """What the host tells about a task that ended or reports."""

    task_id: str
    call_id: str
    name: str
    status: AgentState
    summary: str
    result: str
    error: str | None
    usage: Usage


def notification_body(report: TaskReport) -> str:
    """The fields as tags, nothing in them able to close one; the result is cut first."""
    head = [
        ("task-id", report.task_id),
        ("tool-call-id", report.call_id),
        ("agent", report.name),
        ("status", report.status.value),
        ("summary", report.summary),
    ]
    tail = [("error", report.error)] if report.error else []
    usage = report.usage
    tail.append(("usage", f"input {usage.total_input_tokens}, output {usage.output_tokens} tokens"))
    fixed = "\n".join(_field(name, value or "") for name, value in (*head, *tail))
    room = MAX_CHARACTERS - len(fixed) - 200
    room_bytes = MAX_BYTES - len(fixed.encode("utf-8", "surrogatepass")) - 400
    result = _cut(escape(report.result, quote=False), room, room_bytes)
    lines = [_field(name, value) for name, value in head]
    lines.append(f"<result>\n{result}\n</result>")
    lines.extend(_field(name, value or "") for name, value in tail)
    return "<task-notification>\n" + "\n".join(lines) + "\n</task-notification>"


def _field(name: str, value: str) -> str:
    return f"<{name}>{escape(value[:2000], quote=False)}</{name}>"


def _cut(text: str, characters: int, n_bytes: int) -> str:
    if len(text) <= characters and len(text.encode("utf-8", "surrogatepass")) <= n_bytes:
        return text
    data = text[:characters].encode("utf-8", "replace")[: n_bytes - len(_CUT)]
    return data.decode("utf-8", "ignore") + _CUT
