"""What was denied, to whom: kept so that another agent does not get it by a detour."""

import hashlib
import json
from dataclasses import dataclass, field
from enum import StrEnum

from pydantic import JsonValue

from actors.address import Address, AgentId
from actors.ports import PermissionQuestion

_MAX_ARGUMENT_CHARACTERS = 2_000
_MAX_DENIALS = 10_000


class DeniedBy(StrEnum):
    RULE = "rule"
    HUMAN = "human"
    NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class Denial:
    """`arguments` are normalised: equal for equal input, whatever the order of its keys."""

    tool: str
    arguments: str
    subject: str | None
    agent_id: AgentId
    agent_path: str
    caused_by: tuple[Address, ...]
    denied_by: DeniedBy
    reason: str


def normalised(arguments: JsonValue) -> str:
    """Arguments as text that is equal when they are; long ones as a digest."""
    text = json.dumps(arguments, sort_keys=True, separators=(",", ":"))
    if len(text) <= _MAX_ARGUMENT_CHARACTERS:
        return text
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


@dataclass(slots=True)
class DenialMemory:
    """The newest 10,000 denials, one for each tool, arguments and agent; older ones give way."""

    _kept: dict[tuple[str, str, AgentId], Denial] = field(default_factory=dict)

    def remember(self, question: PermissionQuestion, denied_by: DeniedBy, reason: str) -> None:
        arguments = normalised(question.input)
        key = (question.tool, arguments, question.agent_id)
        self._kept.pop(key, None)
        self._kept[key] = Denial(
            question.tool,
            arguments,
            question.subject,
            question.agent_id,
            question.agent_path,
            question.caused_by,
            denied_by,
            reason,
        )
        if len(self._kept) > _MAX_DENIALS:
            del self._kept[next(iter(self._kept))]

    def all(self) -> tuple[Denial, ...]:
        """Oldest first."""
        return tuple(self._kept.values())

    def of(self, tool: str, arguments: JsonValue) -> tuple[Denial, ...]:
        """Who was denied this very call."""
        wanted = normalised(arguments)
        return tuple(d for d in self._kept.values() if d.tool == tool and d.arguments == wanted)
