"""What can go wrong around the agents of a process, split by what the caller can do.

HostError (a CallboardError)
├── StoreError
│   ├── SessionBusy          somebody else writes this session: wait, or end the other one
│   ├── StoreBusy            somebody else has the whole store: wait, or end what uses it
│   ├── StoreTooNew          use the newer version of the program
│   ├── StoreUnavailable     fix the path, the rights or the disk, then try again
│   └── StoreDamaged         what is stored cannot be read back
├── UnknownSession           no session or agent has this id
├── UnknownQuestion          no such permission question is open (any more)
├── NameTaken                choose another name for the agent
├── SpawnRefused             a limit on agents is reached, or there is no such agent type
├── HostClosed               the host does not run (any more)
├── WatcherTooSlow           read events faster, or read the log
├── RestoreRefused           files cannot be put back as asked; none was touched: see to those it names
├── RestoreFailed            putting files back stopped in the middle: remove the cause, do it again
├── WorkflowError
│   ├── WorkflowInvalid      fix the script: there is none, or it is no workflow
│   ├── ArgumentsInvalid     fix what the workflow is given
│   ├── TooManyAgents        start fewer agents in one run, or raise its limit
│   ├── AgentTimedOut        give the agent more time, or less to do
│   └── RunOver              a run was used after its end
├── ExportInvalid, ExportTooLarge, AlreadyThere     see host.transfer.errors
├── ConfigInvalid            fix the configuration
└── NoModel                  choose a model, and how it is reached

A record that could not be stored is `actors.errors.LogFailed`: the agents see it.
"""

from collections.abc import Mapping, Sequence

from providers.errors import CallboardError

_NAMED_PATHS = 20


class HostError(CallboardError):
    """Base of everything that this room raises on its own account."""


class StoreError(HostError):
    """The store cannot do what was asked."""


class SessionBusy(StoreError):
    """Another writer has the session.

    `pid` and `since_s` (seconds since the epoch) tell who holds it and since
    when; None where that could not be read.
    """

    def __init__(
        self, message: str, *, root_id: str, pid: int | None = None, since_s: float | None = None
    ) -> None:
        super().__init__(message)
        self.root_id = root_id
        self.pid = pid
        self.since_s = since_s


class StoreBusy(StoreError):
    """Somebody uses the store that was to be repaired, or repairs the one that was to be used."""


class StoreTooNew(StoreError):
    """A newer version of the program wrote the store."""

    def __init__(self, message: str, *, found: int, supported: int) -> None:
        super().__init__(message)
        self.found = found
        self.supported = supported


class StoreUnavailable(StoreError):
    """The store cannot be opened, read or written at this place; the text names the path."""


class StoreDamaged(StoreError):
    """What is stored cannot be read back; `agent_id` and `seq` name the record where one is known."""

    def __init__(self, message: str, *, agent_id: str | None = None, seq: int | None = None) -> None:
        super().__init__(message)
        self.agent_id = agent_id
        self.seq = seq


class UnknownSession(HostError):
    """No session or agent has this id; the text names the store."""


class UnknownQuestion(HostError):
    """No permission question with this id waits for an answer from there."""


class WorkflowError(HostError):
    """A scripted workflow cannot go on as it is."""


class WorkflowInvalid(WorkflowError):
    """A file or function that is no workflow, or asks for something that no workflow may; says which."""


class ArgumentsInvalid(WorkflowError):
    """Arguments that do not fit the workflow's parameters; the text names each, wanted and got."""


class TooManyAgents(WorkflowError):
    """A run asked for more agents than it may start; nothing was started for this call."""


class AgentTimedOut(WorkflowError):
    """An agent of a run did not answer in the time that the script gave it; its turn was cancelled."""


class RunOver(WorkflowError):
    """A script used its run after the run had ended."""


class ConfigInvalid(HostError):
    """A setting that cannot be used; the text names where it was set, what was wanted and what came."""


class NoModel(HostError):
    """No model can be reached; the text says which ways there are."""


class NameTaken(HostError):
    """An agent of this host has the name already."""


class SpawnRefused(HostError):
    """A child was not started; the text, which the model reads, names the limit or the unknown type."""


class HostClosed(HostError):
    """The host does not run: its block was not entered, or was left."""


class WatcherTooSlow(HostError):
    """A watcher of events fell too far behind; the log still has everything."""


class RestoreRefused(HostError):
    """Files cannot be put back as asked, and none was touched.

    `conflicts` (path to reason) were changed by somebody else since, and go
    only where overwriting is asked for; `impossible` never go as they are.
    """

    def __init__(self, message: str, *, conflicts: Mapping[str, str], impossible: Mapping[str, str]) -> None:
        super().__init__(message)
        self.conflicts = dict(conflicts)
        self.impossible = dict(impossible)

    @classmethod
    def of(cls, conflicts: Mapping[str, str], impossible: Mapping[str, str]) -> "RestoreRefused":
        """With a text that has a line for each path."""
        lines = [f"{path} {reason}" for path, reason in (*impossible.items(), *conflicts.items())]
        if not impossible:
            lines.append("Asked to overwrite, it keeps what stands there now in the store and replaces it.")
        return cls(
            "\n".join(("The files cannot be put back, and none was touched:", *lines)),
            conflicts=conflicts,
            impossible=impossible,
        )


class RestoreFailed(HostError):
    """Putting files back stopped in the middle; doing it again goes on from there.

    `done` are paths that are as they were before, `left` those that are not yet.
    """

    def __init__(self, reason: str, *, done: Sequence[str], left: Sequence[str]) -> None:
        super().__init__(
            f"putting files back stopped: {reason}\n"
            f"put back: {_named(done)}\nnot yet: {_named(left)}\nDo it again once the cause is gone."
        )
        self.done = tuple(done)
        self.left = tuple(left)


def _named(paths: Sequence[str]) -> str:
    more = len(paths) - _NAMED_PATHS
    return (", ".join(paths[:_NAMED_PATHS]) or "none") + (f" and {more:,} more" if more > 0 else "")
