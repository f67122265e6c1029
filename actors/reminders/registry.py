"""Every source of a reminder and what follows from it, as one table.

The source decides how a reminder travels, how long it lives and where the
projection may put it. Nothing else in the code branches on a source's name;
a rule that holds for one source is a column here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from actors.errors import UnknownReminderSource


class Channel(StrEnum):
    """The way by which a reminder reaches the model."""

    REQUEST_PREFIX = "request_prefix"
    CURRENT_TURN = "current_turn"
    MID_TURN_EVENT = "mid_turn_event"
    TOOL_RESULT = "tool_result"
    HISTORY_CONTINUITY = "history_continuity"
    REAL_USER = "real_user"


class Lifecycle(StrEnum):
    """How long a reminder lives."""

    REQUEST_PREFIX = "request_prefix"
    PER_CURRENT_TURN = "per_current_turn"
    MID_TURN_EVENT = "mid_turn_event"
    TOOL_RESULT = "tool_result"
    RESUME_HISTORY = "resume_history"
    REAL_USER = "real_user"
    RUNTIME_LOCAL = "runtime_local"


class Durability(StrEnum):
    """Whether a fork or an export takes it along; the log keeps all but the rebuilt ones."""

    REBUILT = "rebuilt"
    DURABLE = "durable"
    PROCESS_LOCAL = "process_local"


_FIXED_CHANNELS = frozenset({Channel.HISTORY_CONTINUITY, Channel.TOOL_RESULT, Channel.REAL_USER})


@dataclass(frozen=True, slots=True)
class ReminderSource:
    """One row of the registry.

    `may_be_system`: may become a system message in the middle of the
    conversation. `stays`: keeps its place although its channel floats.
    `message_floats`: user messages of this source float as well.
    `is_read_only`: found in old data, written no more. `after_wrapper` stands
    behind the closing tag.
    """

    name: str
    channel: Channel
    lifecycle: Lifecycle
    durability: Durability
    may_be_system: bool
    is_meta: bool = True
    stays: bool = False
    message_floats: bool = False
    is_read_only: bool = False
    after_wrapper: str = ""

    @property
    def floats(self) -> bool:
        """A floating reminder is put where its turn begins, whenever it was appended."""
        return self.is_meta and not self.stays and self.channel not in _FIXED_CHANNELS

    @property
    def is_prefix(self) -> bool:
        """Part of the prefix that the host builds anew for every turn."""
        return self.channel is Channel.REQUEST_PREFIX


REAL_USER = "real_user"
LEGACY_SYNTHETIC = "legacy_synthetic"
INCOMING_MESSAGE = "incoming_message"

_C = Channel
_L = Lifecycle
_D = Durability
_ROWS = (
    ReminderSource(
        "context_prefix",
        _C.REQUEST_PREFIX,
        _L.REQUEST_PREFIX,
        _D.REBUILT,
        may_be_system=False,
        message_floats=True,
        after_wrapper="\n",
    ),
    ReminderSource("skills_listing", _C.REQUEST_PREFIX, _L.REQUEST_PREFIX, _D.REBUILT, True),
    ReminderSource("todo_reminder", _C.CURRENT_TURN, _L.PER_CURRENT_TURN, _D.DURABLE, True),
    ReminderSource("plugin_reference", _C.CURRENT_TURN, _L.PER_CURRENT_TURN, _D.DURABLE, True),
    ReminderSource("task_status", _C.MID_TURN_EVENT, _L.MID_TURN_EVENT, _D.DURABLE, True, is_read_only=True),
    ReminderSource("tool_result_warning", _C.TOOL_RESULT, _L.TOOL_RESULT, _D.DURABLE, False),
    ReminderSource("goal_completion_verification", _C.TOOL_RESULT, _L.TOOL_RESULT, _D.DURABLE, False),
    ReminderSource(
        "resume_referenced_session_context", _C.HISTORY_CONTINUITY, _L.RESUME_HISTORY, _D.DURABLE, False
    ),
    ReminderSource("plan_file_reference", _C.HISTORY_CONTINUITY, _L.RESUME_HISTORY, _D.DURABLE, False),
    ReminderSource("resume_goal_state", _C.HISTORY_CONTINUITY, _L.RESUME_HISTORY, _D.DURABLE, True),
    ReminderSource("rewind_notice", _C.HISTORY_CONTINUITY, _L.RESUME_HISTORY, _D.DURABLE, True),
    ReminderSource("conversation_fork", _C.HISTORY_CONTINUITY, _L.RESUME_HISTORY, _D.DURABLE, False),
    ReminderSource("selection_side_chat", _C.HISTORY_CONTINUITY, _L.RESUME_HISTORY, _D.DURABLE, False),
    ReminderSource("goal_state_change", _C.MID_TURN_EVENT, _L.MID_TURN_EVENT, _D.DURABLE, True, stays=True),
    ReminderSource("queued_system_notification", _C.MID_TURN_EVENT, _L.MID_TURN_EVENT, _D.DURABLE, True),
    ReminderSource("shell_environment_change", _C.MID_TURN_EVENT, _L.MID_TURN_EVENT, _D.DURABLE, True),
    ReminderSource(
        "target_continuation", _C.REAL_USER, _L.REAL_USER, _D.DURABLE, may_be_system=False, is_meta=False
    ),
    ReminderSource(INCOMING_MESSAGE, _C.MID_TURN_EVENT, _L.MID_TURN_EVENT, _D.PROCESS_LOCAL, True),
    ReminderSource("model_anomaly", _C.MID_TURN_EVENT, _L.MID_TURN_EVENT, _D.PROCESS_LOCAL, True),
    ReminderSource("diagnostics", _C.MID_TURN_EVENT, _L.MID_TURN_EVENT, _D.PROCESS_LOCAL, True),
    ReminderSource("hook_context", _C.CURRENT_TURN, _L.PER_CURRENT_TURN, _D.PROCESS_LOCAL, True),
    ReminderSource("runtime_mode", _C.CURRENT_TURN, _L.PER_CURRENT_TURN, _D.PROCESS_LOCAL, True),
    ReminderSource("output_style", _C.CURRENT_TURN, _L.PER_CURRENT_TURN, _D.PROCESS_LOCAL, True),
    ReminderSource(
        "referenced_session_context", _C.CURRENT_TURN, _L.PER_CURRENT_TURN, _D.PROCESS_LOCAL, True
    ),
    ReminderSource("prompt_attachment", _C.CURRENT_TURN, _L.PER_CURRENT_TURN, _D.PROCESS_LOCAL, True),
    ReminderSource("plan_mode_exit", _C.CURRENT_TURN, _L.RUNTIME_LOCAL, _D.PROCESS_LOCAL, True),
    ReminderSource("date_change", _C.CURRENT_TURN, _L.RUNTIME_LOCAL, _D.PROCESS_LOCAL, True),
)

REGISTRY: Mapping[str, ReminderSource] = MappingProxyType({row.name: row for row in _ROWS})


def reminder_source(name: str) -> ReminderSource:
    """The row of a source.

    Raises:
        UnknownReminderSource: the registry has no such source.
    """
    row = REGISTRY.get(name)
    if row is None:
        raise UnknownReminderSource(
            f"a reminder needs one of the {len(REGISTRY)} registered sources; got {name!r}"
        )
    return row
