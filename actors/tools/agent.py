"""Agent: starts a child that works on a task of its own."""

from typing import Annotated

from pydantic import Field

from actors.address import AgentId
from actors.history import ResultStatus
from actors.permission import PermissionClass
from actors.ports import ChildReport, SpawnOrder
from actors.records import AgentState
from actors.tools.function import tool
from actors.tools.model import Tool, ToolContext, ToolOutput
from actors.tools.services import services_of

_ENDED_BADLY = {AgentState.FAILED, AgentState.CANCELLED, AgentState.LOST}


def agent_tool() -> Tool:
    # Safe beside others: children work in parallel, and the order of their starts decides nothing.
    return tool(
        name="Agent", permission=PermissionClass.AGENT, is_parallel_safe=True, subject=_type_or_general
    )(start_agent)


async def start_agent(
    context: ToolContext,
    description: Annotated[str, Field(min_length=1, description="The task in three to five words.")],
    prompt: Annotated[
        str, Field(min_length=1, description="The task in full; the agent sees nothing of this conversation.")
    ],
    type: Annotated[  # noqa: A002 - the model's word for it
        str | None, Field(description="The type of agent; without one a general one.")
    ] = None,
    name: Annotated[str | None, Field(description="A name by which it can be written to.")] = None,
    model: Annotated[str | None, Field(description="`provider:model`; without one, yours.")] = None,
    run_in_background: Annotated[
        bool, Field(description="Return at once; a notification comes when it ends.")
    ] = False,
) -> ToolOutput:
    """Starts another agent on a task and gives its final answer. Several can be started in one answer.

    It knows only the prompt. An agent that has ended is continued with SendMessage: it remembers its work.
    """
    order = SpawnOrder(description, prompt, type, name, model, run_in_background)
    spawner = services_of(context, "Agent").spawner
    return _told(await spawner.spawn(AgentId(context.agent_id), context.call_id, order))


def _type_or_general(sent: object) -> str | None:
    kind = sent.get("type") if isinstance(sent, dict) else None
    return str(kind) if kind else None


def _told(report: ChildReport) -> ToolOutput:
    who = f"agent {report.name} (id {report.agent_id})"
    go_on = f"To go on with it: SendMessage to {report.name!r}."
    if report.state is AgentState.COMPLETED:
        return ToolOutput(f"{report.text}\n\n[{who} completed. {go_on}]")
    if report.state in _ENDED_BADLY:
        text = report.text or "It left no text."
        return ToolOutput(f"[{who} ended as {report.state}. {go_on}]\n{text}", ResultStatus.ERROR)
    parts = [f"[{who} works in the background ({report.state}). A notification comes when it ends. {go_on}]"]
    return ToolOutput("\n".join([*parts, report.text] if report.text else parts))
