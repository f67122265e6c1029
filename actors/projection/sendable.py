"""Texts and arguments that have a form on the wire: UTF-8, and JSON by its standard."""

import math
import re

from pydantic import JsonValue

_DATA_URL = re.compile(r"data:[\w.+-]+/[\w.+-]+;base64,[A-Za-z0-9+/]+={0,2}", re.ASCII)


def is_sendable(text: str) -> bool:
    """Has the text a UTF-8 form? Half of a surrogate pair has none."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_data_url(url: str) -> bool:
    """Has an attachment its data in it, in base64?"""
    return _DATA_URL.fullmatch(url) is not None


def as_sendable(text: str) -> str:
    """The text with every half of a surrogate pair replaced by U+FFFD; whole pairs become their character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def sendable_object(value: JsonValue) -> dict[str, JsonValue]:
    """The value as an object that JSON can express; itself where it is one.

    Nothing becomes an empty object; anything else that is no object becomes
    the member `value` of one; numbers that JSON has not become null.
    """
    if isinstance(value, dict):
        if _is_sendable_json(value):
            return value
        return {as_sendable(key): _sendable_json(member) for key, member in value.items()}
    return {} if value is None else {"value": _sendable_json(value)}


def _is_sendable_json(value: JsonValue) -> bool:
    if isinstance(value, str):
        return is_sendable(value)
    if isinstance(value, dict):
        return all(is_sendable(key) and _is_sendable_json(member) for key, member in value.items())
    if isinstance(value, list):
        return all(map(_is_sendable_json, value))
    return not isinstance(value, float) or math.isfinite(value)


def _sendable_json(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return as_sendable(value)
    if isinstance(value, dict):
        return {as_sendable(key): _sendable_json(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_sendable_json(item) for item in value]
    return value if _is_sendable_json(value) else None
