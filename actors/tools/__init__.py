"""Tools: made from functions, built in, and run for an answer of the model."""

from actors.tools.builtin import builtin_tools
from actors.tools.function import FunctionTool, tool
from actors.tools.model import Tool, ToolContext, ToolOutput, ToolRun
from actors.tools.order import tool_order
from actors.tools.result import LIMIT_CHARACTERS, bounded
from actors.tools.scheduler import MAX_PARALLEL, Batch, CallPhase, CallResult, run_calls

__all__ = [
    "LIMIT_CHARACTERS",
    "MAX_PARALLEL",
    "Batch",
    "CallPhase",
    "CallResult",
    "FunctionTool",
    "Tool",
    "ToolContext",
    "ToolOutput",
    "ToolRun",
    "bounded",
    "builtin_tools",
    "run_calls",
    "tool",
    "tool_order",
]
