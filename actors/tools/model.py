"""A tool: what the model sees of it, what it may do, and how it runs."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import JsonValue

from actors.history import ResultStatus
from actors.permission import PermissionClass
from actors.ports import Services
from actors.records import FileChanging
from providers.model import Block, ToolSpec


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What goes back to the model; `status` is ok or error."""

    content: str | tuple[Block, ...]
    status: ResultStatus = ResultStatus.OK


@dataclass(slots=True)
class ToolContext:
    """What a running tool may use: where it is, who calls, and the host's services.

    `files_read` maps a path to the modification time (ns) and size that this
    agent last read, so that edits of unseen or changed files are refused.
    `hops` counts the agent messages that led to the call. `record_change`
    writes down for good that a file is about to change; None where no log is.
    """

    cwd: Path
    agent_id: str
    agent_name: str
    call_id: str
    files_read: dict[Path, tuple[int, int]] = field(default_factory=dict)
    environment: Mapping[str, str] | None = None
    services: Services | None = None
    hops: int = 0
    record_change: Callable[[FileChanging], Awaitable[None]] | None = None


ToolRun = Callable[[ToolContext, JsonValue], Awaitable[ToolOutput]]


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool.

    `is_read_only` calls run side by side, and so do those of a tool that is
    declared `is_parallel_safe` though it has effects; any other call is
    alone. `subject` gives, for an input, the text that permission patterns
    are matched against (the command of Bash, the path of Write); None where
    there is none. `check` raises ToolInputInvalid for an input that does not
    fit, before anybody is asked for permission. `spec` is what a model is told.
    """

    name: str
    description: str
    input_schema: dict[str, JsonValue]
    run: ToolRun
    permission: PermissionClass = PermissionClass.OWN
    is_read_only: bool = False
    subject: Callable[[JsonValue], str | None] = lambda _: None
    is_parallel_safe: bool = False
    check: Callable[[JsonValue], None] = lambda _: None
    spec: ToolSpec = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # One for all turns and agents: what is counted and compared is known by identity.
        object.__setattr__(self, "spec", ToolSpec(self.name, self.description, self.input_schema))
