"""An agent as a value: what it is told, what it may use, how far it may go."""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from functools import cache

from pydantic import JsonValue, TypeAdapter, ValidationError

from actors.address import address
from actors.errors import BadInput
from actors.tools.model import Tool


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one turn; reaching one ends the turn with a stop reason of its own.

    `tokens` counts input and output of all requests of the turn. None sets no
    bound.
    """

    steps: int = 200
    tool_calls: int = 500
    tokens: int | None = None
    cost_usd: float | None = None
    time_s: float | None = None


@dataclass(frozen=True, slots=True)
class Agent:
    """What an agent is before it lives; pass it to `Host.start`.

    `instructions` join the host's own prompt; `system_prompt` replaces it;
    `type_prompt` is the prompt of a subagent's type and only for subagents.
    `model` is `provider:model`, None the host's default. `tools` are what the
    model sees; `permission_mode` and
    `limits` None take the host's. `mailbox_capacity` is
    in messages.

    Raises:
        BadAddress: the name cannot be one.
        BadInput: two tools of one name, or a bound below 1.
    """

    name: str
    instructions: str = ""
    model: str | None = None
    tools: Collection[Tool] = ()
    system_prompt: str | None = None
    type_prompt: str | None = None
    permission_mode: str | None = None
    max_output_tokens: int | None = None
    limits: Limits | None = None
    mailbox_capacity: int = 256

    def __post_init__(self) -> None:
        address(self.name)
        object.__setattr__(self, "tools", tuple(self.tools))
        names = [tool.name for tool in self.tools]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise BadInput(f"agent {self.name!r} has two tools named {twice[0]!r}")
        if self.mailbox_capacity < 1:
            raise BadInput(
                f"agent {self.name!r}: mailbox_capacity is at least 1, got {self.mailbox_capacity}"
            )

    def to_json(self) -> dict[str, JsonValue]:
        """The definition as plain data; tools by name."""
        limits: JsonValue = None if self.limits is None else asdict(self.limits)
        return {
            "instructions": self.instructions,
            "model": self.model,
            "tools": [tool.name for tool in self.tools],
            "system_prompt": self.system_prompt,
            "type_prompt": self.type_prompt,
            "permission_mode": self.permission_mode,
            "max_output_tokens": self.max_output_tokens,
            "limits": limits,
            "mailbox_capacity": self.mailbox_capacity,
        }


def agent_from_json(name: str, spec: dict[str, JsonValue], tools: Sequence[Tool]) -> Agent:
    """The agent that `Agent.to_json` described, with those of `tools` that it had.

    Raises:
        BadInput: the description is not one.
    """
    try:
        stored = _stored_agents().validate_python(spec)
    except ValidationError as error:
        raise BadInput(f"the stored definition of agent {name!r} cannot be read: {error}") from error
    wanted = set(stored.tools)
    return Agent(
        name=name,
        instructions=stored.instructions,
        model=stored.model,
        tools=[tool for tool in tools if tool.name in wanted],
        system_prompt=stored.system_prompt,
        type_prompt=stored.type_prompt,
        permission_mode=stored.permission_mode,
        max_output_tokens=stored.max_output_tokens,
        limits=stored.limits,
        mailbox_capacity=stored.mailbox_capacity,
    )


@cache
def _stored_agents() -> "TypeAdapter[_StoredAgent]":
    """Built when first used, and once: that takes longer than reading an agent."""
    return TypeAdapter(_StoredAgent)


@dataclass(frozen=True, slots=True)
class _StoredAgent:
    instructions: str = ""
    model: str | None = None
    tools: tuple[str, ...] = ()
    system_prompt: str | None = None
    type_prompt: str | None = None
    permission_mode: str | None = None
    max_output_tokens: int | None = None
    limits: Limits | None = None
    mailbox_capacity: int = 256
