"""Events as plain JSON objects that say what they are."""

import re
from functools import cache
from typing import Any

from pydantic import JsonValue, TypeAdapter


def tagged_json(event: object) -> dict[str, JsonValue]:
    """A dataclass as one JSON object: its kind in snake case under `event`, then its fields."""
    kind: Any = type(event)  # mypy takes a class for unhashable where its instances may be
    fields: dict[str, JsonValue] = _adapter(kind).dump_python(event, mode="json")
    return {"event": re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower(), **fields}


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    """Made on first use: building one takes milliseconds."""
    return TypeAdapter(kind)
