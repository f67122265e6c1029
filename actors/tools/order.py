"""The one order in which tools are listed."""

from collections.abc import Iterable

from actors.tools.model import Tool


def tool_order(tools: Iterable[Tool]) -> tuple[Tool, ...]:
    """By name, those of MCP servers (`mcp__…`) last: a changed order would break every prefix cache."""
    return tuple(sorted(tools, key=lambda tool: (tool.name.startswith("mcp__"), tool.name)))
