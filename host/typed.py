"""Types that answers are asked for, as JSON schemas and back."""

from typing import Any, Generic, TypeVar, cast

from pydantic import JsonValue, TypeAdapter, ValidationError
from pydantic_core import to_json

T = TypeVar("T")
_WRAPPED = "value"
_MAX_PROBLEMS = 5


class ResultType(Generic[T]):
    """Anything a pydantic TypeAdapter takes, as what an agent can be asked for.

    Providers want an object at the top; any other type travels as the field
    `value` of one. Objects are closed, so that a provider can hold the answer
    to the schema.

    Raises:
        pydantic.PydanticUserError: the type has no schema.
    """

    def __init__(self, wanted: type[T]) -> None:
        self._adapter: TypeAdapter[Any] = TypeAdapter(wanted)
        schema = self._adapter.json_schema()
        self._is_wrapped = schema.get("type") != "object"
        if self._is_wrapped:
            definitions = schema.pop("$defs", None)
            schema = {"type": "object", "properties": {_WRAPPED: schema}, "required": [_WRAPPED]}
            if definitions is not None:
                schema["$defs"] = definitions
        self.schema: dict[str, JsonValue] = cast("dict[str, JsonValue]", _closed(schema))

    def check(self, value: JsonValue) -> str | None:
        """What is wrong with a value, one line for each place, or None."""
        try:
            self.load(value)
        except ValidationError as error:
            problems = error.errors(include_url=False, include_context=False)
            lines = [_line(problem) for problem in problems[:_MAX_PROBLEMS]]
            if len(problems) > _MAX_PROBLEMS:
                lines.append(f"… and {len(problems) - _MAX_PROBLEMS} more")
            return "\n".join(lines)
        except ValueError as error:
            return str(error)
        return None

    def load(self, value: JsonValue) -> T:
        """The value as the type that was asked for.

        Raises:
            ValueError: it does not fit (pydantic's ValidationError is one).
        """
        if self._is_wrapped:
            if not isinstance(value, dict) or _WRAPPED not in value:
                raise ValueError(f"expected an object with the field {_WRAPPED!r}, got {str(value)[:200]}")
            value = value[_WRAPPED]
        # JSON again: only JSON mode takes a list for a tuple and a string for an enum.
        return cast("T", self._adapter.validate_json(to_json(value, inf_nan_mode="null")))


def _line(problem: Any) -> str:
    path = ".".join(str(part) for part in problem["loc"]) or "(the whole value)"
    return f"- {path}: {problem['msg']}; got {str(problem['input'])[:200]}"


def _closed(schema: Any) -> Any:
    """The schema with `additionalProperties: false` wherever properties are listed."""
    if isinstance(schema, list):
        return [_closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: _closed(part) for key, part in schema.items()}
    if "properties" in closed and closed.get("type") == "object":
        closed.setdefault("additionalProperties", False)
    return closed
