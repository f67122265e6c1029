"""A workflow: an async function whose first parameter is the run, and what its annotations promise."""

import inspect
import typing
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, cast

from pydantic import PydanticSchemaGenerationError, PydanticUserError, TypeAdapter, ValidationError

from host.errors import ArgumentsInvalid, WorkflowError, WorkflowInvalid
from host.workflows.run import Run

T = TypeVar("T")
P = ParamSpec("P")
_MAX_PROBLEMS = 8
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@dataclass(frozen=True, slots=True)
class Workflow(Generic[T]):
    """What `@workflow` makes of a function; `run_workflow` runs it."""

    name: str
    description: str
    function: Callable[..., Coroutine[Any, Any, T]]

    def bind(self, arguments: Mapping[str, object]) -> dict[str, object]:
        """The arguments as the types that the function is annotated with, defaults left out.

        Raises:
            ArgumentsInvalid: missing, unknown or unfit ones, each by its name.
            WorkflowInvalid: an annotation that cannot be resolved or checked.
        """
        parameters = _parameters(self.function)
        hints = self._hints()
        problems = [
            f"- {name}: there is no such parameter; there are: {', '.join(parameters) or 'none'}"
            for name in arguments
            if name not in parameters
        ]
        bound: dict[str, object] = {}
        for name, parameter in parameters.items():
            if name in arguments:
                try:
                    bound[name] = self._adapter(name, hints).validate_python(arguments[name])
                except ValidationError as error:
                    problems.extend(_lines(name, error))
            elif parameter.default is inspect.Parameter.empty:
                problems.append(f"- {name}: it is missing")
        if problems:
            shown = "\n".join(problems[:_MAX_PROBLEMS])
            raise ArgumentsInvalid(f"the arguments do not fit the workflow {self.name}:\n{shown}")
        return bound

    def checked(self, value: object) -> T:
        """The value that the function returned, as its annotation promises it.

        Raises:
            WorkflowError: it is something else.
        """
        hints = self._hints()
        if "return" not in hints:
            return cast("T", value)  # nothing was promised
        try:
            return cast("T", self._adapter("return", hints).validate_python(value))
        except ValidationError as error:
            wanted = inspect.formatannotation(hints["return"])
            problems = "\n".join(_lines("", error)[:_MAX_PROBLEMS])
            raise WorkflowError(
                f"the workflow {self.name} promises {wanted} and returned {type(value).__name__}:\n{problems}"
            ) from error

    def _hints(self) -> dict[str, Any]:
        try:
            return typing.get_type_hints(self.function, include_extras=True)
        except (NameError, TypeError, SyntaxError) as error:
            raise WorkflowInvalid(
                f"an annotation of the workflow {self.name} cannot be resolved: {error}"
            ) from error

    def _adapter(self, name: str, hints: Mapping[str, Any]) -> TypeAdapter[Any]:
        try:
            return TypeAdapter(hints[name])
        except (PydanticSchemaGenerationError, PydanticUserError) as error:
            which = "the result" if name == "return" else f"the parameter {name}"
            raise WorkflowInvalid(
                f"{which} of the workflow {self.name} has a type that cannot be checked: "
                f"{str(error).splitlines()[0]}"
            ) from error


def workflow(function: Callable[Concatenate[Run, P], Coroutine[Any, Any, T]]) -> Workflow[T]:
    """Makes a workflow of an async function: `@workflow async def review(run, paths: list[str]) -> Report`.

    Raises:
        WorkflowInvalid: the function cannot be one; says why.
    """
    name = getattr(function, "__name__", repr(function))
    if not inspect.iscoroutinefunction(function):
        raise WorkflowInvalid(f"a workflow is an async function; {name} is none")
    for parameter in _parameters(function).values():
        if parameter.annotation is inspect.Parameter.empty:
            raise WorkflowInvalid(f"the parameter {parameter.name} of the workflow {name} has no annotation")
    description = (inspect.getdoc(function) or "").partition("\n")[0]
    return Workflow(name, description, function)


def _parameters(function: Callable[..., object]) -> dict[str, inspect.Parameter]:
    """All but the run, which is the first."""
    name = getattr(function, "__name__", repr(function))
    parameters = list(inspect.signature(function).parameters.values())
    if not parameters or parameters[0].kind not in (_NAMED[0], inspect.Parameter.POSITIONAL_ONLY):
        raise WorkflowInvalid(f"the first parameter of a workflow is the run; {name} takes none")
    for parameter in parameters[1:]:
        if parameter.kind not in _NAMED:
            raise WorkflowInvalid(f"arguments of a workflow go by name; {name} has the parameter {parameter}")
    return {parameter.name: parameter for parameter in parameters[1:]}


def _lines(name: str, error: ValidationError) -> list[str]:
    lines = []
    for problem in error.errors(include_url=False, include_context=False):
        path = ".".join(str(part) for part in (name, *problem["loc"]) if part != "")
        lines.append(f"- {path or 'the value'}: {problem['msg']}; got {str(problem['input'])[:200]}")
    return lines
