"""From the names that a script gives (paths, titles) to names that an agent can have. Pure."""

import re

from actors.address import Address, address
from actors.errors import BadAddress

DEFAULT_STEM = "agent"
_LONGEST_STEM = 56  # room for a number behind it
_OTHERS = re.compile(r"[^A-Za-z0-9_.]+")


def stem_of(label: str) -> Address:
    """The label with dashes for everything that no address may hold; `agent` if nothing is left."""
    stem = _OTHERS.sub("-", label)[:_LONGEST_STEM].strip("-._")
    try:
        return address(stem)
    except BadAddress:  # empty, or reserved for the host
        return Address(f"{DEFAULT_STEM}-{stem}".strip("-"))
