"""Tools: made from functions, built in, and run for an answer of the model."""

from actors.tools.function import FunctionTool, tool
from actors.tools.model import Tool, ToolContext, ToolOutput, ToolRun
from actors.tools.order import tool_order
from actors.tools.scheduler import MAX_PARALLEL, Batch, CallPhase, CallResult, run_calls

__all__ = [
    "MAX_PARALLEL",
    "Batch",
    "CallPhase",
    "CallResult",
    "FunctionTool",
    "Tool",
    "ToolContext",
    "ToolOutput",
    "ToolRun",
    "run_calls",
    "tool",
    "tool_order",
]
