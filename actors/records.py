"""What an agent's log holds. The log is the truth; everything else is a fold over it.

A record says what happened. `actors.state` folds records into history,
mailbox, receipts and turn; `host.store.codec` gives each its JSON form.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NewType, TypeAlias

from pydantic import JsonValue

from actors.address import Address, AgentId
from actors.envelope import Envelope, EnvelopeId, ReceiptState
from actors.history import Entry, EntryId
from providers.model import ToolSpec, Usage

TurnId = NewType("TurnId", str)


class AgentRole(StrEnum):
    """What an agent is: the same actor in three roles."""

    MAIN = "main"
    SUBAGENT = "subagent"
    WORKFLOW_ACTOR = "workflow_actor"


class TurnStop(StrEnum):
    """Why a turn ended."""

    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"
    LOST = "lost"
    STEP_LIMIT = "step_limit"
    TOOL_CALL_LIMIT = "tool_call_limit"
    TOKEN_LIMIT = "token_limit"
    COST_LIMIT = "cost_limit"
    TIME_LIMIT = "time_limit"
    OUTPUT_LIMIT = "output_limit"
    REFUSED = "refused"
    CONTEXT_EXCEEDED = "context_exceeded"
    BLOCKED = "blocked"
    RESULT_INVALID = "result_invalid"


class AgentState(StrEnum):
    """One word for one thing, in the registry, the events and the notification."""

    STARTING = "starting"
    IDLE = "idle"
    RUNNING = "running"
    WAITING = "waiting"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class ForkSource:
    """Where the beginning of a forked log was copied from: everything up to the end of that turn."""

    agent_id: AgentId
    turn_id: TurnId


@dataclass(frozen=True, slots=True)
class AgentOpened:
    """The first record of a log: who this agent is.

    `spec` is the agent's definition as plain data (instructions, model, tool
    names, limits, permission mode); tools that are Python functions come back
    only where the program passes them again.
    """

    agent_id: AgentId
    name: Address
    role: AgentRole
    root_id: AgentId
    parent_id: AgentId | None
    spec: dict[str, JsonValue]
    cwd: str
    at: float
    forked_from: ForkSource | None = None


@dataclass(frozen=True, slots=True)
class SnapshotTaken:
    """What the context source saw; environment and git are frozen from here."""

    snapshot: dict[str, JsonValue]
    at: float


@dataclass(frozen=True, slots=True)
class EnvelopeAccepted:
    envelope: Envelope


@dataclass(frozen=True, slots=True)
class EnvelopesTaken:
    """These envelopes are in the history now; stored with the entries they became."""

    envelope_ids: tuple[EnvelopeId, ...]
    turn_id: TurnId


@dataclass(frozen=True, slots=True)
class EnvelopesPresented:
    """A provider accepted a request that holds these envelopes."""

    envelope_ids: tuple[EnvelopeId, ...]
    request_id: str


@dataclass(frozen=True, slots=True)
class EnvelopeDropped:
    """An envelope that will never be taken: `state` is withdrawn, expired or dead."""

    envelope_id: EnvelopeId
    state: ReceiptState
    reason: str


@dataclass(frozen=True, slots=True)
class EntriesAppended:
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class TurnStarted:
    turn_id: TurnId
    model: str
    at: float


@dataclass(frozen=True, slots=True)
class PrefixBuilt:
    """What stands in front of the conversation from here on: the entries of the prefix, and the tools.

    Written for looking back only: a turn builds its prefix anew.
    """

    prefix: tuple[Entry, ...]
    tools: tuple[ToolSpec, ...]


@dataclass(frozen=True, slots=True)
class RequestMade:
    """A request that goes out now. With all that stands before it in the log, it can be made again.

    `model` is its full name; `reader`, the three choices and `sees_images` are
    what the projection was told of it. `n_tokens` was expected, `fingerprint` is what
    the request said, `repaired` how often each repair was made.
    """

    turn_id: TurnId
    model: str
    reader: str
    mid_conversation_system: bool
    peers_may_use_system_role: bool
    cache_marks: bool
    n_messages: int
    n_tokens: int
    fingerprint: str
    at: float
    sees_images: bool = True
    repaired: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AnswerBroken:
    """A stream broke after something was shown; the text is kept here, not in the history."""

    turn_id: TurnId
    text: str
    error: str


@dataclass(frozen=True, slots=True)
class CallsStarted:
    """These tool calls begin now; if no result follows, they may have had effects."""

    call_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The end of a turn and of everything that was taken into it.

    `text` is the last text of the agent, `result` its structured value where
    one was asked for.
    """

    turn_id: TurnId
    stop: TurnStop
    text: str
    usage: Usage
    cost_usd: float | None
    n_steps: int
    error: str | None = None
    result: JsonValue = None
    has_result: bool = False
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class StateChanged:
    """A state that outlives the process: completed, failed, cancelled, lost, or idle again."""

    state: AgentState
    reason: str
    at: float


class GoalMove(StrEnum):
    """What a person did with the goal of a session."""

    SET = "set"
    PAUSED = "paused"
    RESUMED = "resumed"
    CLEARED = "cleared"


@dataclass(frozen=True, slots=True)
class GoalChanged:
    """A person moved the goal; `text` is the goal that was moved."""

    move: GoalMove
    text: str
    at: float


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    """A person is asked whether this call may run; it waits."""

    call_id: str
    tool: str
    summary: str
    at: float


@dataclass(frozen=True, slots=True)
class QuestionSettled:
    """The question about this call is closed: answered, or withdrawn."""

    call_id: str
    is_allowed: bool
    reason: str
    at: float


@dataclass(frozen=True, slots=True)
class FileState:
    """What stood at a path: its bytes as an artifact, their SHA-256, and its permission bits.

    `artifact_id` is None where the bytes were not kept, `why_not_kept` says why.
    """

    sha256: str
    mode: int
    artifact_id: str | None = None
    why_not_kept: str = ""


@dataclass(frozen=True, slots=True)
class FileChanging:
    """A tool puts other bytes at this absolute path now: the way back, written before the file is.

    `before` None: there was no file. `sha256` tells the new bytes;
    `made_folders` are those that did not exist, outermost first.
    """

    call_id: str
    path: str
    before: FileState | None
    sha256: str
    at: float
    made_folders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FileRestored:
    """A file that a rewind put back: what was there (None: nothing), and what is there now."""

    path: str
    replaced: FileState | None
    restored: FileState | None


@dataclass(frozen=True, slots=True)
class Rewound:
    """The history was cut before this turn; that turn and all behind it are out of it, not out of the log."""

    before: TurnId
    files: tuple[FileRestored, ...]
    at: float


@dataclass(frozen=True, slots=True)
class RecordsSkipped:
    """Here stood records that a repair of the store could not read back."""

    n_records: int
    reason: str
    entry_id: EntryId
    at: float


@dataclass(frozen=True, slots=True)
class ModeChanged:
    """The permission mode was set by a person."""

    mode: str
    at: float


Record: TypeAlias = (
    AgentOpened
    | SnapshotTaken
    | EnvelopeAccepted
    | EnvelopesTaken
    | EnvelopesPresented
    | EnvelopeDropped
    | EntriesAppended
    | TurnStarted
    | PrefixBuilt
    | RequestMade
    | AnswerBroken
    | CallsStarted
    | TurnEnded
    | StateChanged
    | ModeChanged
    | GoalChanged
    | QuestionAsked
    | QuestionSettled
    | FileChanging
    | Rewound
    | RecordsSkipped
)
