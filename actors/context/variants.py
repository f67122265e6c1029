"""Which sections each kind of agent has, in building order: the table, and how to choose from it."""

from collections.abc import Callable
from enum import StrEnum
from typing import TypeAlias

from actors.context.section import Section
from actors.context.sections.agent_instructions import agent_instructions
from actors.context.sections.behavior import context_management, dynamic_behavior
from actors.context.sections.cli_prefix import cli_prefix
from actors.context.sections.desktop import desktop_context
from actors.context.sections.environment import env_info, short_env_info
from actors.context.sections.git import system_context
from actors.context.sections.identity import (
    contract,
    custom_prompt,
    identity,
    short_contract,
    short_identity,
    short_subagent,
)
from actors.context.sections.memory import memory
from actors.context.sections.skills import session_guidance, skills
from actors.context.sections.style import output_style
from actors.context.sections.subagent import agent_type, subagent_notes
from actors.context.sections.user_context import current_date, request_user_context
from actors.context.values import ContextValues
from actors.errors import BadInput
from actors.records import AgentRole

SectionMaker: TypeAlias = Callable[[ContextValues], Section | None]


class Variant(StrEnum):
    """The four prefixes."""

    MAIN = "main"
    CUSTOM_PROMPT = "custom_prompt"
    WORKFLOW_ACTOR = "workflow_actor"
    SUBAGENT = "subagent"


FULL: dict[Variant, tuple[SectionMaker, ...]] = {
    Variant.MAIN: (
        cli_prefix,
        identity,
        agent_instructions,
        desktop_context,
        dynamic_behavior,
        session_guidance,
        memory,
        env_info,
        output_style,
        context_management,
        system_context,
        skills,
        request_user_context,
        current_date,
    ),
    Variant.CUSTOM_PROMPT: (
        cli_prefix,
        custom_prompt,
        agent_instructions,
        skills,
        request_user_context,
        current_date,
    ),
    Variant.WORKFLOW_ACTOR: (
        contract,
        agent_instructions,
        memory,
        env_info,
        output_style,
        context_management,
        system_context,
        skills,
        request_user_context,
        current_date,
    ),
    Variant.SUBAGENT: (
        cli_prefix,
        agent_type,
        agent_instructions,
        subagent_notes,
        env_info,
        skills,
        request_user_context,
        current_date,
    ),
}

SHORT: dict[Variant, tuple[SectionMaker, ...]] = {
    Variant.MAIN: (cli_prefix, short_identity, agent_instructions, short_env_info, current_date),
    Variant.CUSTOM_PROMPT: (cli_prefix, custom_prompt, agent_instructions, current_date),
    Variant.WORKFLOW_ACTOR: (short_contract, agent_instructions, short_env_info, current_date),
    Variant.SUBAGENT: (
        cli_prefix,
        agent_type,
        agent_instructions,
        short_subagent,
        short_env_info,
        current_date,
    ),
}

DROPPED_FIRST = ("current_date", "env_info", "cli_prefix")
"""What a short form that is still too long loses, in this order; the rest is what the agent is for."""


def variant_for(role: AgentRole, *, instructions: str = "", system_prompt: str | None = None) -> Variant:
    """The prefix of an agent of this role; call it when the agent is constructed.

    Raises:
        BadInput: a system prompt for a subagent (its type has one), or for a
            workflow actor that has instructions: these are part of the
            contract, and a system prompt replaces it.
    """
    match role:
        case AgentRole.MAIN:
            return Variant.MAIN if system_prompt is None else Variant.CUSTOM_PROMPT
        case AgentRole.WORKFLOW_ACTOR:
            if system_prompt is None:
                return Variant.WORKFLOW_ACTOR
            if instructions.strip():
                raise BadInput(
                    "a workflow actor takes instructions or a system prompt, not both:"
                    " a system prompt replaces the contract that the instructions belong to"
                )
            return Variant.CUSTOM_PROMPT
        case AgentRole.SUBAGENT:
            if system_prompt is not None:
                raise BadInput("a subagent takes no system prompt: the prompt of its type stands there")
            return Variant.SUBAGENT
