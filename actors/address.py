"""Names by which agents are reached, and ids by which they are remembered."""

import re
from typing import NewType

from actors.errors import BadAddress

AgentId = NewType("AgentId", str)
Address = NewType("Address", str)

USER = Address("user")
HOST = Address("host")
_RESERVED = {USER, HOST}
MAX_LENGTH = 64
_NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9_.-]{{0,{MAX_LENGTH - 1}}}")


def address(name: str) -> Address:
    """A name as an address: 1 to 64 letters, digits, dots, dashes, underscores.

    Raises:
        BadAddress: another character, a wrong length, or a reserved name.
    """
    if not _NAME.fullmatch(name):
        raise BadAddress(
            "an agent's name is 1 to 64 letters, digits, '.', '_' or '-' and begins with a letter or digit;"
            f" got {name!r}"
        )
    if name in _RESERVED:
        raise BadAddress(f"the name {name!r} is reserved for the host")
    return Address(name)
