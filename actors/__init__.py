"""An agent: its mailbox, its history, its context, its turn."""

from actors.agent import Agent, Limits
from actors.tools import Tool, ToolContext, ToolOutput, builtin_tools, tool

__all__ = ["Agent", "Limits", "Tool", "ToolContext", "ToolOutput", "builtin_tools", "tool"]
