"""A tool from a plain function: its annotations are the schema, its docstring the description."""

import functools
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, ParamSpec, TypeVar, overload

import anyio.to_thread
from pydantic import JsonValue
from pydantic_core import PydanticSerializationError, to_json

from actors.errors import BadTool
from actors.permission import PermissionClass
from actors.tools.arguments import Arguments, arguments_of, function_label
from actors.tools.model import Tool, ToolContext, ToolOutput
from providers.model import FileBlock, ImageBlock, ReasoningBlock, TextBlock

P = ParamSpec("P")
R = TypeVar("R")

Subject = str | Callable[[JsonValue], str | None] | None

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_BLOCKS = (TextBlock, ImageBlock, FileBlock, ReasoningBlock)


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionTool(Tool, Generic[P, R]):
    """A tool that is still the function it was made from: calling it calls that."""

    function: Callable[P, R]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.function(*args, **kwargs)


@overload
def tool(function: Callable[P, R], /) -> FunctionTool[P, R]: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    permission: PermissionClass = PermissionClass.OWN,
    is_read_only: bool = False,
    is_parallel_safe: bool = False,
    subject: Subject = None,
) -> Callable[[Callable[P, R]], FunctionTool[P, R]]: ...


def tool(
    function: Callable[P, R] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    permission: PermissionClass = PermissionClass.OWN,
    is_read_only: bool = False,
    is_parallel_safe: bool = False,
    subject: Subject = None,
) -> FunctionTool[P, R] | Callable[[Callable[P, R]], FunctionTool[P, R]]:
    """Makes a tool of a function, as `@tool` or as `@tool(name=…)`.

    Every parameter is annotated; `Annotated[str, Field(description="…")]`
    describes it to the model. A parameter annotated `ToolContext` gets the
    context and is not shown. The function returns a str, blocks, a ToolOutput
    or anything that has a JSON form; None is an empty answer.

    An async function runs on the event loop. A plain one runs in a worker
    thread; cancelling its call does not wait for the thread, which goes on to
    its end unheard.

    `subject` is the parameter whose value permission patterns are matched
    against, or a function that gives this text for an input.

    Raises:
        BadTool: names the function and what is wrong with which parameter.
    """

    def make(function: Callable[P, R]) -> FunctionTool[P, R]:
        label = function_label(function)
        tool_name = _name(str(name or getattr(function, "__name__", "")), label)
        arguments = arguments_of(function, tool_name)
        return FunctionTool(
            name=tool_name,
            description=_description(description or inspect.getdoc(function), label),
            input_schema=arguments.schema,
            run=_Run(function, arguments),
            permission=permission,
            is_read_only=is_read_only,
            subject=_subject(subject, arguments, label),
            is_parallel_safe=is_parallel_safe,
            check=lambda sent: _check(arguments, sent),
            function=function,
        )

    return make if function is None else make(function)


@dataclass(frozen=True, slots=True)
class _Run:
    function: Callable[..., object]
    arguments: Arguments

    async def __call__(self, context: ToolContext, sent: JsonValue) -> ToolOutput:
        keywords = self.arguments.parse(sent)
        if self.arguments.context_parameter is not None:
            keywords[self.arguments.context_parameter] = context
        call = functools.partial(self.function, **keywords)
        if not inspect.iscoroutinefunction(inspect.unwrap(self.function)):
            value = await anyio.to_thread.run_sync(call, abandon_on_cancel=True)
        else:
            value = call()
        if inspect.isawaitable(value):
            value = await value
        return _output(value, self.arguments.tool_name)


def _check(arguments: Arguments, sent: JsonValue) -> None:
    arguments.parse(sent)


def _name(name: str, label: str) -> str:
    if not _NAME.fullmatch(name):
        raise BadTool(
            f"{label}: a tool's name is 1 to 64 letters, digits, '_' or '-'; got {name!r}; pass name=…"
        )
    return name


def _description(text: str | None, label: str) -> str:
    if text is None or not text.strip():
        raise BadTool(f"{label}: has no docstring; it is what the model reads about the tool")
    return text.strip()


def _subject(subject: Subject, arguments: Arguments, label: str) -> Callable[[JsonValue], str | None]:
    if callable(subject):
        return subject
    if subject is not None and subject not in arguments.names:
        known = ", ".join(arguments.names) or "none"
        raise BadTool(f"{label}: subject={subject!r} is not one of its parameters ({known})")

    def value_of(sent: JsonValue) -> str | None:
        value = sent.get(subject) if isinstance(sent, dict) and subject is not None else None
        return None if value is None else str(value)

    return value_of


def _output(value: object, tool_name: str) -> ToolOutput:
    if isinstance(value, ToolOutput):
        return value
    if value is None:
        return ToolOutput("")
    if isinstance(value, str):
        return ToolOutput(value)
    if isinstance(value, _BLOCKS):
        return ToolOutput((value,))
    if isinstance(value, list | tuple) and value and all(isinstance(part, _BLOCKS) for part in value):
        return ToolOutput(tuple(part for part in value if isinstance(part, _BLOCKS)))
    try:
        return ToolOutput(to_json(value).decode())
    except (PydanticSerializationError, ValueError) as exc:
        raise BadTool(f"{tool_name} returned a {type(value).__name__} that has no JSON form: {exc}") from exc
