"""Whether the lines of a file are a whole export: checked one by one, before anything is stored."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import assert_never

from actors.address import address
from actors.errors import BadAddress
from actors.records import AgentOpened, Record
from host.errors import StoreDamaged
from host.store.codec import EncodedRecord, decode_record
from host.transfer.errors import ExportInvalid
from host.transfer.format import ArtifactLine, EndLine, ExportedAgent, Header, RecordLine
from host.transfer.garbage import what_it_is
from host.transfer.parsing import parse_line


@dataclass(frozen=True, slots=True)
class CheckedLog:
    """One agent's whole log, as `Keeping.create_all` takes it."""

    opened: AgentOpened
    records: tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class CheckedExport:
    """What a whole export holds; the bytes of its artifacts stay in the lines of these numbers."""

    header: Header
    logs: tuple[CheckedLog, ...]
    artifact_lines: frozenset[int]


@dataclass(slots=True)
class Checking:
    """An export as far as it has been read: `take` every line, then `finish`.

    Both raise ExportInvalid, which names the line, what was wanted and what came.
    """

    header: Header | None = None
    n_lines: int = 0
    is_over: bool = False
    _logs: list[list[Record]] = field(default_factory=list)
    _artifacts: dict[str, int] = field(default_factory=dict)
    _digest: "hashlib._Hash" = field(default_factory=hashlib.sha256)

    def take(self, line: bytes) -> None:
        self.n_lines += 1
        if self.n_lines == 1 and (found := what_it_is(line)) is not None:
            raise ExportInvalid(f"an export of a session wanted, got {found}")
        if self.is_over:
            raise self._invalid("nothing wanted behind the end of the export, got more")
        if not line.endswith(b"\n"):
            raise self._invalid("the file is cut off in the middle of this line")
        said = parse_line(line, self.n_lines)
        if self.header is None and not isinstance(said, Header):
            raise self._invalid("the header of an export wanted, got another line")
        match said:
            case Header():
                self._take_header(said)
            case RecordLine():
                self._take_record(said)
            case ArtifactLine():
                self._take_artifact(said)
            case EndLine():
                self._take_end(said)
            case _:
                assert_never(said)
        self._digest.update(line)

    def finish(self) -> CheckedExport:
        """The export, whole."""
        if self.n_lines == 0:
            raise ExportInvalid("an export of a session wanted, got an empty file")
        if self.header is None or not self.is_over:
            raise ExportInvalid(f"the file is cut off behind line {self.n_lines}: its end is missing")
        logs = tuple(CheckedLog(_opened(log), tuple(log[1:])) for log in self._logs)
        return CheckedExport(self.header, logs, frozenset(self._artifacts.values()))

    def _take_header(self, header: Header) -> None:
        if self.header is not None:
            raise self._invalid("one header wanted, got another")
        self.header = header
        ids = [agent.agent for agent in header.agents]
        if ids[:1] != [header.session]:
            raise self._invalid(f"the session {header.session!r} wanted as the first agent, got {ids[:1]}")
        if len(set(ids)) != len(ids):
            raise self._invalid("each agent wanted once, got one of them twice")
        for agent in header.agents:
            if not (agent.agent and agent.agent.isprintable()):
                raise self._invalid(f"an id of printable characters wanted, got {agent.agent!r}")
            if agent.records < 1:
                raise self._invalid(f"at least one record of agent {agent.agent} wanted, got {agent.records}")

    def _take_record(self, line: RecordLine) -> None:
        wanted = self._wanted()
        if wanted is None:
            raise self._invalid(f"all records have come, got record {line.seq} of agent {line.agent!r}")
        agent, seq = wanted
        if (line.agent, line.seq) != (agent.agent, seq):
            raise self._invalid(
                f"record {seq} of agent {agent.agent} wanted, got record {line.seq} of agent {line.agent!r}"
            )
        try:
            record = decode_record(
                EncodedRecord(line.kind, line.version, line.data), agent_id=line.agent, seq=line.seq
            )
        except StoreDamaged as error:
            raise self._invalid(str(error)) from error
        if seq == 0:
            self._check_opened(record, agent)
            self._logs.append([])
        self._logs[-1].append(record)

    def _check_opened(self, record: Record, agent: ExportedAgent) -> None:
        header = self._header()
        if not isinstance(record, AgentOpened):
            raise self._invalid(f"agent_opened wanted as the first record, got {type(record).__name__}")
        try:
            address(record.name)
        except BadAddress as error:
            raise self._invalid(str(error)) from error
        ids = [one.agent for one in header.agents]
        found = (record.agent_id, record.name, record.root_id)
        if found != (agent.agent, agent.name, header.session):
            raise self._invalid(
                f"agent {agent.agent} named {agent.name!r} of session {header.session} wanted,"
                f" got agent {found[0]!r} named {found[1]!r} of session {found[2]!r}"
            )
        is_main = agent.agent == header.session
        if (record.parent_id is None) != is_main or (not is_main and record.parent_id not in ids):
            wanted = "no agent" if is_main else "an agent of this export"
            raise self._invalid(f"{wanted} wanted above agent {agent.agent}, got {record.parent_id!r}")

    def _take_artifact(self, line: ArtifactLine) -> None:
        if (wanted := self._wanted()) is not None:
            raise self._invalid(f"record {wanted[1]} of agent {wanted[0].agent} wanted, got an artifact")
        if line.artifact in self._artifacts:
            raise self._invalid(f"artifact {line.artifact} wanted once, got it twice")
        self._artifacts[line.artifact] = self.n_lines

    def _take_end(self, line: EndLine) -> None:
        if (wanted := self._wanted()) is not None:
            raise self._invalid(f"record {wanted[1]} of agent {wanted[0].agent} wanted, got the end")
        if line.lines != self.n_lines - 1:
            raise self._invalid(f"{line.lines} lines wanted before this one, there are {self.n_lines - 1}")
        if line.sha256 != (found := self._digest.hexdigest()):
            raise self._invalid(
                "something before this line was changed since the export was written:"
                f" SHA-256 {line.sha256} wanted, got {found}"
            )
        self.is_over = True

    def _wanted(self) -> tuple[ExportedAgent, int] | None:
        """The record that comes next: its agent and its place; None behind the last."""
        agents, n_begun = self._header().agents, len(self._logs)
        if n_begun and len(self._logs[-1]) < agents[n_begun - 1].records:
            return agents[n_begun - 1], len(self._logs[-1])
        return (agents[n_begun], 0) if n_begun < len(agents) else None

    def _header(self) -> Header:
        assert self.header is not None, "take() lets nothing come before the header"
        return self.header

    def _invalid(self, text: str) -> ExportInvalid:
        return ExportInvalid(f"line {self.n_lines}: {text}")


def _opened(log: Sequence[Record]) -> AgentOpened:
    first = log[0]
    assert isinstance(first, AgentOpened), "checked when it came"
    return first
