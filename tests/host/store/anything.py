"""Any value of a plain-data type, for property tests: as wild as the type allows."""

import dataclasses
import types
from enum import Enum
from typing import Any, Literal, NewType, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st
from pydantic import JsonValue

_TEXT = st.text(st.characters(exclude_categories=()), max_size=20)  # with lone surrogates
_INTS = st.integers() | st.integers(min_value=-(10**4299), max_value=10**4299)
_LEAVES: dict[Any, st.SearchStrategy[Any]] = {
    str: _TEXT,
    int: _INTS,
    float: st.floats(),
    bool: st.booleans(),
    type(None): st.none(),
    JsonValue: st.recursive(
        st.none() | st.booleans() | _INTS | st.floats() | _TEXT,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
        max_leaves=8,
    ),
}


def any_of(kind: Any) -> st.SearchStrategy[Any]:
    """Values of a type as `get_type_hints` gives it; every field is filled, defaults too."""
    if kind in _LEAVES:
        return _LEAVES[kind]
    if isinstance(kind, NewType):
        return any_of(kind.__supertype__)
    if dataclasses.is_dataclass(kind):
        return _any_dataclass(kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return st.sampled_from(list(kind))
    return _any_generic(get_origin(kind), get_args(kind))


def _any_dataclass(kind: Any) -> st.SearchStrategy[Any]:
    hints = get_type_hints(kind)
    return st.builds(kind, **{field.name: any_of(hints[field.name]) for field in dataclasses.fields(kind)})


def _any_generic(origin: object, args: tuple[Any, ...]) -> st.SearchStrategy[Any]:
    if origin is Literal:
        return st.sampled_from(args)
    if origin in (Union, types.UnionType):
        return st.one_of([any_of(arg) for arg in args])
    if origin is tuple and args[-1] is ...:
        return st.lists(any_of(args[0]), max_size=3).map(tuple)
    if origin is tuple:
        return st.tuples(*(any_of(arg) for arg in args))
    if origin is dict:
        return st.dictionaries(any_of(args[0]), any_of(args[1]), max_size=3)
    raise TypeError(f"no strategy for {origin}{args}: add one")
