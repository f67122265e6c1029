"""Kinds of subagents. Types from Markdown files come with a later version."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from actors.tools.model import Tool
from host.errors import SpawnRefused

DEFAULT_TYPE = "general-purpose"


@dataclass(frozen=True, slots=True)
class AgentType:
    """What a subagent of this kind is told and may use.

    `tools` None means everything that the parent may use; `is_read_only`
    leaves out what can change anything. A type never gives more than the
    parent has. One that `restarts` goes on by itself when its host comes back;
    others are lost, and their parent is told.
    """

    name: str
    description: str
    prompt: str
    tools: tuple[str, ...] | None = None
    is_read_only: bool = False
    model: str | None = None
    restarts: bool = False

    def tools_from(self, parents: Iterable[Tool]) -> tuple[Tool, ...]:
        """The parent's tools, as far as this type lists them."""
        return tuple(
            tool
            for tool in parents
            if (self.tools is None or tool.name in self.tools)
            and (tool.is_read_only or not self.is_read_only)
        )


GENERAL_PURPOSE = AgentType(
    name=DEFAULT_TYPE,
    description="Works on a task of several steps by itself and reports what it found or did.",
    prompt=(
        "You work on one task that a coordinator gave you. Do exactly that task, completely, and nothing "
        "beside it. When you are done, report in a few sentences what you found or did, with the paths that "
        "matter; the coordinator sees only your last message."
    ),
)
EXPLORE = AgentType(
    name="explore",
    description="Searches and reads files, changes nothing, and reports what it found.",
    prompt=(
        "You search a code base for a coordinator. You only read. Search broadly first, then read what "
        "matters, and report findings with paths and line numbers; say plainly what you did not find. The "
        "coordinator sees only your last message."
    ),
    is_read_only=True,
    restarts=True,
)
BUILT_IN = {kind.name: kind for kind in (GENERAL_PURPOSE, EXPLORE)}


def agent_type(name: str | None, types: Mapping[str, AgentType] = BUILT_IN) -> AgentType:
    """The type of this name, None for the one that does everything.

    Raises:
        SpawnRefused: there is none; says which there are.
    """
    kind = types.get(name or DEFAULT_TYPE)
    if kind is None:
        raise SpawnRefused(f"there is no agent type {name!r}; there are: {', '.join(sorted(types))}")
    return kind
