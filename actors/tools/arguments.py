"""The arguments of a function as a schema for the model and a check for what it sends."""

import dataclasses
import inspect
import json
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ConfigDict, JsonValue, TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind
from pydantic_core import ErrorDetails

from actors.errors import BadTool, ToolInputInvalid
from actors.tools.model import ToolContext

_SHOWN_CHARACTERS = 100
_EXPECTED = "Input should be "


class _Schema(GenerateJsonSchema):
    """Without the titles that only repeat the names."""

    ignored_warning_kinds: set[JsonSchemaWarningKind] = {  # noqa: RUF012 - declared so by pydantic
        "skipped-choice",
        "non-serializable-default",
    }

    def field_title_should_be_set(self, schema: object) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class Arguments:
    """What a tool's function takes, apart from the context.

    `context_parameter` is the name of the parameter that gets the
    ToolContext, None where the function wants none.
    """

    tool_name: str
    schema: dict[str, JsonValue]
    context_parameter: str | None
    names: tuple[str, ...]
    _adapter: TypeAdapter[object]

    def parse(self, sent: JsonValue) -> dict[str, object]:
        """What the model sent, as keyword arguments of the function.

        Raises:
            ToolInputInvalid: one line for every argument that does not fit.
        """
        try:
            parsed = self._adapter.validate_python(sent)
        except ValidationError as exc:
            raise ToolInputInvalid(self._complaint(exc)) from exc
        return {name: getattr(parsed, name) for name in self.names}

    def _complaint(self, error: ValidationError) -> str:
        lines = [self._line(detail) for detail in error.errors(include_url=False)]
        return "\n".join((f"The arguments of {self.tool_name} do not fit its schema:", *lines))

    def _line(self, detail: ErrorDetails) -> str:
        path = _path(detail["loc"])
        match detail["type"]:
            case "missing":
                return f"- {path}: expected a value, it is required; got none"
            case "unexpected_keyword_argument" if len(detail["loc"]) == 1:
                return f"- {path}: expected no argument of this name (there are: {', '.join(self.names)})"
            case "dataclass_type" if not detail["loc"]:
                return f"- arguments: expected one JSON object; got {_shown(detail['input'])}"
            case _:
                message = detail["msg"]
                is_short = message.startswith(_EXPECTED)
                wanted = f"expected {message.removeprefix(_EXPECTED)}" if is_short else message
                return f"- {path}: {wanted}; got {_shown(detail['input'])}"


def arguments_of(function: Callable[..., object], tool_name: str) -> Arguments:
    """The arguments of a function, read from its annotations.

    Raises:
        BadTool: names the function and the parameter that cannot be offered to a model.
    """
    label = function_label(function)
    parameters = inspect.signature(function).parameters
    hints = _hints(function, label)
    context_parameter = None
    fields: list[tuple[str, object, object]] = []
    for parameter in parameters.values():
        _check_kind(parameter, label)
        if parameter.name not in hints:
            raise BadTool(
                f"{label}: parameter {parameter.name!r} has no annotation; the schema is made from it"
            )
        if not _is_context(hints[parameter.name]):
            fields.append((parameter.name, hints[parameter.name], _field(parameter)))
        elif context_parameter is None:
            context_parameter = parameter.name
        else:
            raise BadTool(f"{label}: parameter {parameter.name!r} is a second ToolContext; one is enough")
    adapter = _adapter(fields, label)
    return Arguments(
        tool_name, _schema(adapter, label), context_parameter, tuple(name for name, _, _ in fields), adapter
    )


def function_label(function: Callable[..., object]) -> str:
    """How messages name a function."""
    name = getattr(function, "__qualname__", repr(function))
    return f"{getattr(function, '__module__', '?')}.{name}()"


def _hints(function: Callable[..., object], label: str) -> Mapping[str, object]:
    plain = inspect.unwrap(getattr(function, "func", function))
    if not inspect.isroutine(plain):
        plain = type(plain).__call__
    try:
        return typing.get_type_hints(plain, include_extras=True)
    except NameError as exc:
        raise BadTool(
            f"{label}: an annotation names {exc.name!r}, which cannot be found at run time;"
            " import it at the top of the module, outside of TYPE_CHECKING"
        ) from exc


def _check_kind(parameter: inspect.Parameter, label: str) -> None:
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
        raise BadTool(
            f"{label}: parameter {parameter.name!r} is {parameter.kind.description};"
            " a model passes every argument by name"
        )


def _is_context(hint: object) -> bool:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return any(_is_context(part) for part in typing.get_args(hint))
    return hint is ToolContext


def _field(parameter: inspect.Parameter) -> object:
    default: object = parameter.default
    if default is parameter.empty:
        return dataclasses.field()
    if type(default).__hash__ is None:
        return dataclasses.field(default_factory=lambda: default)
    return dataclasses.field(default=default)


def _adapter(fields: list[tuple[str, object, object]], label: str) -> TypeAdapter[object]:
    # A dataclass, not a model: its fields may have any name, `copy` and `_x` too.
    made = dataclasses.make_dataclass("Arguments", fields, kw_only=True)
    made.__pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[attr-defined]  # read by pydantic
    try:
        return TypeAdapter(made)
    except PydanticUserError as exc:
        raise BadTool(f"{label}: {_unfit_names(fields)}: {exc.message}") from exc


def _unfit_names(fields: list[tuple[str, object, object]]) -> str:
    unfit = [name for name, hint, _ in fields if not _has_schema(hint)]
    return f"no schema can be made for parameter {', '.join(map(repr, unfit))}"


def _has_schema(hint: Any) -> bool:  # a type, of which the type system has no word
    try:
        TypeAdapter(hint).json_schema(schema_generator=_Schema)
    except PydanticUserError:
        return False
    return True


def _schema(adapter: TypeAdapter[object], label: str) -> dict[str, JsonValue]:
    try:
        schema: dict[str, JsonValue] = adapter.json_schema(schema_generator=_Schema)
    except PydanticUserError as exc:
        raise BadTool(f"{label}: a parameter has no JSON schema: {exc.message}") from exc
    return {key: value for key, value in schema.items() if key not in ("title", "description")} | {
        "properties": schema.get("properties", {})
    }


def _path(location: tuple[int | str, ...]) -> str:
    path = ""
    for part in location:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else part
    return path or "arguments"


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return (
        text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}… ({len(text):,} characters)"
    )
