"""The entries of one agent, append only, each with where it came from.

An entry is never sent as it stands; `actors.projection` turns the whole
history into the messages of a request.
"""

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import NewType, TypeAlias

from providers.model import CacheMark, Message, Usage

EntryId = NewType("EntryId", str)


class Origin(StrEnum):
    """Who or what a text comes from. `MODEL` is the agent's own answer."""

    HOST = "host"
    USER = "user"
    COORDINATOR = "coordinator"
    PEER_AGENT = "peer_agent"
    MODEL = "model"
    PROJECT_FILE = "project_file"
    SKILL = "skill"
    MEMORY = "memory"
    TOOL = "tool"
    WEB = "web"
    SUMMARY = "summary"


class Authority(IntEnum):
    """How far a text may decide; higher wins, nothing raises it."""

    DATA = 0
    PEER = 1
    COORDINATOR = 2
    USER = 3
    HOST = 4


_AUTHORITY = {
    Origin.HOST: Authority.HOST,
    Origin.USER: Authority.USER,
    Origin.COORDINATOR: Authority.COORDINATOR,
    Origin.PEER_AGENT: Authority.PEER,
}


def authority_of(origin: Origin) -> Authority:
    """The authority that a text of this origin has by itself."""
    return _AUTHORITY.get(origin, Authority.DATA)


class Presentation(StrEnum):
    """How an incoming message is shown to the model (spec: messaging)."""

    USER_STEER = "user_steer"
    COORDINATOR_STEER = "coordinator_steer"
    COORDINATOR_INPUT = "coordinator_input"
    SUBAGENT_REPLY_STEER = "subagent_reply_steer"
    SUBAGENT_REPLY = "subagent_reply"
    TASK_NOTIFICATION = "task_notification"
    TASK_NOTIFICATION_STEER = "task_notification_steer"


class ResultStatus(StrEnum):
    """What became of a tool call, told truthfully."""

    OK = "ok"
    ERROR = "error"
    DENIED = "denied"
    NOT_STARTED = "not_started"
    INTERRUPTED = "interrupted"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class MessageEntry:
    """A stored message. `source` None on a user message means a real user.

    `envelope_id` and `sender` name the envelope that it came in; `status` belongs to tool
    results; `usage` and `model` to answers, and so does `request_fingerprint`,
    which tells the request that an answer with sealed thinking is bound to.
    `is_partial` marks an answer whose stream broke or was cancelled. `at` is in
    seconds since the epoch.
    """

    id: EntryId
    message: Message
    origin: Origin
    authority: Authority
    source: str | None = None
    presentation: str | None = None
    envelope_id: str | None = None
    sender: str | None = None
    status: ResultStatus | None = None
    usage: Usage | None = None
    model: str | None = None
    request_fingerprint: str | None = None
    is_partial: bool = False
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class ReminderEntry:
    """A reminder, kept raw: wrapping and escaping happen in the projection."""

    id: EntryId
    source: str
    body: str
    origin: Origin = Origin.HOST
    authority: Authority = Authority.HOST
    presentation: str | None = None
    envelope_id: str | None = None
    cache: CacheMark | None = None
    at: float = 0.0


Entry: TypeAlias = MessageEntry | ReminderEntry
