"""The host behind a tool call."""

from actors.errors import BadInput
from actors.ports import Services
from actors.tools.model import ToolContext


def services_of(context: ToolContext, tool_name: str) -> Services:
    """What the host offers to this call.

    Raises:
        BadInput: the call runs without a host.
    """
    if context.services is None:
        raise BadInput(f"{tool_name} needs a host, and this call ({context.call_id}) runs without one")
    return context.services
