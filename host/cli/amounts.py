"""Sizes and ages as people write them. Pure."""

import re

from actors.errors import BadInput

_UNITS = ("bytes", "kB", "MB", "GB", "TB")
_HOUR_S = 3600.0
_AGES_S = {"h": _HOUR_S, "d": 24 * _HOUR_S, "w": 7 * 24 * _HOUR_S}
_AGE = re.compile(r"([0-9]{1,6})([hdw])")


def bytes_text(n_bytes: int) -> str:
    """Such as `812 bytes` or `3.4 MB`; a kB is 1,000 bytes."""
    value, unit = float(n_bytes), 0
    while value >= 999.5 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{value:.1f} {_UNITS[unit]}" if unit and value < 99.95 else f"{value:.0f} {_UNITS[unit]}"


def age_s(text: str, option: str) -> float:
    """The seconds of an age such as `90d`.

    Raises:
        BadInput: it is none; names the option.
    """
    if (found := _AGE.fullmatch(text)) is None:
        raise BadInput(f"{option}: hours, days or weeks wanted, such as 12h, 90d or 8w, got {text!r}")
    return int(found[1]) * _AGES_S[found[2]]


def count_text(number: int, noun: str) -> str:
    """Such as `1 record` or `1,200 records`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
