"""The prefix of an agent by its role: which builder variant, from which values."""

from actors.agent import Agent
from actors.context import ContextValues, Snapshot, TypePrompt, build, variant_for
from actors.history import Entry
from actors.parts import PrefixSource
from actors.ports import ResolvedModel
from actors.records import AgentRole
from actors.tools.model import Tool


def prefix_source(role: AgentRole, agent: Agent, snapshot: Snapshot) -> PrefixSource:
    """Builds the prefix of each turn from the frozen snapshot and the model of the turn.

    Raises:
        BadInput: the agent has a prompt that its role does not take.
    """
    variant = variant_for(role, instructions=agent.instructions, system_prompt=agent.system_prompt)
    prompt = None if agent.type_prompt is None else TypePrompt(agent.type_prompt)

    def build_prefix(model: ResolvedModel, _: tuple[Tool, ...]) -> tuple[Entry, ...]:
        values = ContextValues(
            snapshot=snapshot,
            model=model.name,
            instructions=agent.instructions,
            system_prompt=agent.system_prompt,
            type_prompt=prompt,
            max_tokens=model.profile.max_prefix_tokens,
        )
        return build(variant, values).entries

    return build_prefix
