"""Whether the logs tell the truth about what calls did to the world."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from actors.address import AgentId
from actors.history import MessageEntry, ResultStatus
from actors.records import CallsStarted, EntriesAppended, FileChanging, Record, Rewound
from providers.model import text_of
from tests.crash.told import Fact, Ran

Logs = Mapping[AgentId, Sequence[Record]]


def problems_of_effects(facts: Sequence[Fact], closed: Logs) -> list[str]:
    """Calls that ran twice, ran without a word before in the log, or are told as if they had not run."""
    runs = Counter(fact.call_id for fact in facts if isinstance(fact, Ran))
    started = {
        call_id
        for log in closed.values()
        for record in log
        if isinstance(record, CallsStarted)
        for call_id in record.call_ids
    }
    results = dict(result for log in closed.values() for result in _results(log))
    problems = []
    for call_id, n_runs in runs.items():
        status, text = results.get(call_id, (None, ""))
        if n_runs > 1:
            problems.append(f"{call_id} ran {n_runs} times")
        if call_id not in started:
            problems.append(f"{call_id} ran, and the log does not say that it started")
        if status in (None, ResultStatus.NOT_STARTED, ResultStatus.DENIED):
            problems.append(f"{call_id} ran, and is told as {status}")
        if status is ResultStatus.INTERRUPTED and "may have had effects" not in text:
            problems.append(f"{call_id} was interrupted, and its effects are denied: {text}")
    return problems


def problems_of_files(logs: Logs, folder: Path) -> list[str]:
    """Files that were written without the way back in a log, and files that a rewind has not put back."""
    changes = {}
    put_back: set[str] = set()
    for log in logs.values():
        for record in log:
            if isinstance(record, FileChanging):
                changes[record.path] = record.sha256
            if isinstance(record, Rewound):
                put_back.update(file.path for file in record.files)
    problems = []
    for path in folder.glob("file*"):
        if str(path) in put_back:
            problems.append(f"{path} is there though a rewind took it away")
        if changes.get(str(path)) != hashlib.sha256(path.read_bytes()).hexdigest():
            problems.append(f"{path} was written before its way back was stored")
    return problems


def _results(log: Sequence[Record]) -> Iterator[tuple[str | None, tuple[ResultStatus | None, str]]]:
    for record in log:
        if isinstance(record, EntriesAppended):
            for entry in record.entries:
                if isinstance(entry, MessageEntry) and entry.message.tool_call_id is not None:
                    yield entry.message.tool_call_id, (entry.status, text_of(entry.message.content))
