"""What a rule is and what it finds."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from providers.model import Dialect, ModelProfile, Request, Role


@dataclass(frozen=True, slots=True)
class Finding:
    """One broken rule; `message_index` is None where it is about no single message.

    Kind `history` is about what the messages hold; `request` about the request
    as a whole, which its caller has to see to.
    """

    rule: str
    message_index: int | None
    text: str
    kind: Literal["history", "request"] = "history"


Found: TypeAlias = Iterator[Finding]
Rule: TypeAlias = Callable[[Request, Dialect, ModelProfile], Found]


def a(role: Role) -> str:
    """The role with its article."""
    return f"an {role}" if role is Role.ASSISTANT else f"a {role}"


def leading_system(request: Request) -> int:
    """The number of system messages in front."""
    for at, message in enumerate(request.messages):
        if message.role is not Role.SYSTEM:
            return at
    return len(request.messages)
