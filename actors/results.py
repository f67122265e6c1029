"""Structured answers: a value of the type that the asker wanted, or a clear failure.

Where the provider can hold an answer to a schema, the last text is the value.
Elsewhere the agent gets a tool `submit_result`. A value that does not fit goes
back up to three times with what was expected; ending without one earns a nudge.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass

from pydantic import JsonValue

from actors.history import ResultStatus
from actors.permission import PermissionClass
from actors.tools.model import Tool, ToolContext, ToolOutput
from providers.model import OutputSchema

SUBMIT_TOOL = "submit_result"
MAX_REPAIRS = 3

Check = Callable[[JsonValue], str | None]
"""Says what is wrong with a value, or None."""


def accepts_anything(_: JsonValue) -> str | None:
    """The check where whoever asked is not there any more (after a restart)."""
    return None


@dataclass(slots=True)
class WantedResult:
    """What one turn owes its asker, and how far it has come."""

    schema: dict[str, JsonValue]
    check: Check
    is_native: bool
    value: JsonValue = None
    has_value: bool = False
    n_repairs: int = 0
    n_nudges: int = 0

    @property
    def output(self) -> OutputSchema | None:
        """What the request asks of the provider."""
        return OutputSchema("result", self.schema) if self.is_native else None

    @property
    def is_exhausted(self) -> bool:
        return self.n_repairs > MAX_REPAIRS or self.n_nudges > 1

    def tool(self) -> Tool | None:
        """The tool by which the agent hands its value in, where no provider does it."""
        if self.is_native:
            return None
        return Tool(
            name=SUBMIT_TOOL,
            description="Hands in the final result of this task. Call it once, when everything else is done.",
            input_schema=self.schema,
            run=self._submit,
            permission=PermissionClass.AGENT,  # it answers whoever asked, in plan mode too
        )

    def take_text(self, text: str) -> str | None:
        """Takes the last text as the value; gives what to tell the agent if it is none."""
        if self.has_value:
            return None
        if not self.is_native:
            self.n_nudges += 1
            return (
                f"You have not handed in a result yet. Call {SUBMIT_TOOL} now with the result of this task."
            )
        try:
            value: JsonValue = json.loads(text)
        except ValueError as error:
            self.n_repairs += 1
            return (
                f"Your answer is not JSON ({error}). Answer again with nothing but the JSON value asked for."
            )
        problem = self._take(value)
        return problem and f"{problem}\nAnswer again with nothing but the corrected JSON value."

    async def _submit(self, _: ToolContext, value: JsonValue) -> ToolOutput:
        problem = self._take(value)
        if problem is not None:
            return ToolOutput(f"{problem}\nCall {SUBMIT_TOOL} again.", ResultStatus.ERROR)
        return ToolOutput("The result was taken.")

    def _take(self, value: JsonValue) -> str | None:
        problem = self.check(value)
        if problem is not None:
            self.n_repairs += 1
            return f"The result does not fit what was asked for:\n{problem}"
        self.value = value
        self.has_value = True
        return None
