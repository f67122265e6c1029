"""The tools that every host brings along."""

from actors.tools.agent import agent_tool
from actors.tools.bash import bash_tool
from actors.tools.edit import edit_tool
from actors.tools.glob import glob_tool
from actors.tools.grep import grep_tool
from actors.tools.model import Tool
from actors.tools.order import tool_order
from actors.tools.read import read_tool
from actors.tools.result import read_artifact_tool
from actors.tools.send_message import send_message_tool
from actors.tools.write import write_tool


def builtin_tools() -> dict[str, Tool]:
    """Every built-in tool by its name, made anew, in the order in which they are listed."""
    made = (
        agent_tool(),
        bash_tool(),
        edit_tool(),
        glob_tool(),
        grep_tool(),
        read_tool(),
        read_artifact_tool(),
        send_message_tool(),
        write_tool(),
    )
    return {tool.name: tool for tool in tool_order(made)}
