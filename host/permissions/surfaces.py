"""What a person is asked, and what comes back."""

from dataclasses import dataclass
from typing import Protocol

from actors.ports import PermissionQuestion
from host.permissions.evaluate import Scope
from host.permissions.rules import Rule


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question that waits for a person. `number` counts from 1; `reason` says why the call asks."""

    id: str
    number: int
    question: PermissionQuestion
    reason: str


@dataclass(frozen=True, slots=True)
class HumanAnswer:
    """What a person said.

    `rule` is what an answer for a session or a tree is about (`parse_rule`);
    None is just the subject of this call, or the whole tool where it has
    none. `reason` is read by the model when the answer is no.
    """

    is_allowed: bool
    scope: Scope = Scope.ONCE
    rule: Rule | None = None
    reason: str = ""


class Surface(Protocol):
    """A place where a person reads questions: a console, a page, a program that a person drives.

    It may be asked several questions at once and answer them in any order.
    It is cancelled when a question is withdrawn or was answered elsewhere.
    """

    async def ask(self, question: OpenQuestion) -> HumanAnswer: ...
