"""SendMessage: writes to another agent and says what is known about the delivery."""

from typing import Annotated

from pydantic import Field

from actors.address import AgentId
from actors.permission import PermissionClass
from actors.tools.function import tool
from actors.tools.model import Tool, ToolContext
from actors.tools.services import services_of


def send_message_tool() -> Tool:
    return tool(name="SendMessage", permission=PermissionClass.AGENT, subject="to")(send_message)


async def send_message(
    context: ToolContext,
    to: Annotated[str, Field(min_length=1, description="The name or id of the agent.")],
    body: Annotated[str, Field(min_length=1, description="The message.")],
) -> str:
    """Sends a message to another agent of this host. The answer says that it was accepted, not more.

    An agent at work gets it in its current turn, one that has ended goes on with it. A reply comes by itself.
    """
    postbox = services_of(context, "SendMessage").postbox
    envelope = await postbox.send(AgentId(context.agent_id), to, body, hops=context.hops)
    return (
        f"Accepted: message {envelope.id} to {envelope.recipient}, number {envelope.sequence} from you to it."
        " It is stored for delivery; it has not been read yet. A reply, if there is one, comes as a message."
    )
