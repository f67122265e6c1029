"""Decides calls, and carries the questions that only a person can answer.

The one way to answer is an `Attachment`, held by the program that attached a surface for people. No text of
an agent comes near it.
"""

import os.path
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from anyio import CancelScope

from actors.address import Address, AgentId
from actors.events import PermissionSettled, PermissionWanted
from actors.permission import PermissionClass
from actors.ports import PermissionAnswer, PermissionQuestion
from host.errors import UnknownQuestion
from host.permissions.denials import DenialMemory, DeniedBy, normalised
from host.permissions.evaluate import Decision, Grant, Scope, Verdict, evaluate, strictest
from host.permissions.modes import PermissionMode
from host.permissions.rules import Rule, RuleSet
from host.permissions.surfaces import HumanAnswer, OpenQuestion, Surface

_PATH_CLASSES = (PermissionClass.READ, PermissionClass.EDIT)
_SUMMARY_CHARACTERS = 200
_NOBODY = "it needs a person's permission ({reason}), and nobody can be asked here"


@dataclass(frozen=True, slots=True)
class Policy:
    """What holds for one agent at this moment."""

    mode: PermissionMode
    rules: RuleSet
    cwd: str


@dataclass(slots=True)
class _Pending:
    """`settled` is set by whoever decides first; `scope` is the surface's call that runs at the moment."""

    open: OpenQuestion
    scope: CancelScope | None = None
    asked: Surface | None = None
    settled: PermissionAnswer | None = None

    def settle(self, answer: PermissionAnswer) -> None:
        self.settled = answer
        self.interrupt()

    def interrupt(self) -> None:
        if self.scope is not None:
            self.scope.cancel()


class Attachment:
    """A surface's right to answer, as long as it is attached."""

    def __init__(self, broker: "PermissionBroker", surface: Surface, agent_path: str) -> None:
        self._broker = broker
        self.surface = surface
        self.agent_path = agent_path

    def questions(self) -> tuple[OpenQuestion, ...]:
        """The open questions of the agents that this surface stands for, oldest first."""
        return tuple(q for q in self._broker.questions() if self.covers(q.question.agent_path))

    def answer(self, question_id: str, answer: HumanAnswer) -> None:
        """Answers one open question, in whatever order.

        Raises:
            UnknownQuestion: it is not open (any more), or not for this surface.
        """
        self._broker.take_answer(self, question_id, answer)

    def covers(self, agent_path: str) -> bool:
        return self.agent_path in ("", agent_path) or agent_path.startswith(self.agent_path + "/")


async def _no_record(_question: PermissionQuestion, _summary: str) -> None:
    pass


class PermissionBroker:
    """Implements `actors.ports.Permissions` for a whole host.

    `policy_of` is asked anew for each call, so a change of mode holds at
    once; call `reconsider` to let it settle the questions already open.
    `record` logs a question, with its summary, before anybody sees it.
    `real_path` resolves links, so that a link inside the working directory
    opens nothing outside of it.
    """

    def __init__(
        self,
        policy_of: Callable[[AgentId], Policy],
        *,
        record: Callable[[PermissionQuestion, str], Awaitable[None]] = _no_record,
        emit: Callable[[PermissionWanted | PermissionSettled], None] = lambda _: None,
        real_path: Callable[[str], str] = os.path.realpath,
    ) -> None:
        self._policy_of = policy_of
        self._record = record
        self._emit = emit
        self._real_path = real_path
        self._attachments: list[Attachment] = []
        self._pending: dict[str, _Pending] = {}
        self._grants: list[Grant] = []
        self._n_asked = 0
        self.denials = DenialMemory()

    async def decide(self, question: PermissionQuestion) -> PermissionAnswer:
        """Whether the call may run; waits for a person where one is needed, without a limit.

        Cancelling withdraws the question.
        """
        verdict = self._verdict(question)
        if verdict.decision is not Decision.ASK:
            return self._final(question, verdict)
        summary = _summary(question)
        await self._record(question, summary)
        self._n_asked += 1
        pending = _Pending(OpenQuestion(f"q{self._n_asked}", self._n_asked, question, verdict.reason))
        self._pending[pending.open.id] = pending
        agent, call_id = _name_of(question), question.call_id
        self._emit(PermissionWanted(agent, pending.open.id, call_id, question.tool, summary))
        settled = PermissionAnswer(False, "the question was withdrawn")
        try:
            settled = await self._ask(pending)
        finally:
            del self._pending[pending.open.id]
            self._emit(PermissionSettled(agent, pending.open.id, call_id, settled.is_allowed, settled.reason))
        return settled

    @contextmanager
    def attach(self, surface: Surface, agent_path: str = "") -> Iterator[Attachment]:
        """Lets a person answer through this surface, for one agent and those below it; by default for all.

        The nearest surface is asked: the longest path, and of equals the one
        attached last. Questions that are with it at the end go to the next.
        """
        attachment = Attachment(self, surface, agent_path)
        self._attachments.append(attachment)
        self._ask_again(lambda pending: attachment.covers(pending.open.question.agent_path))
        try:
            yield attachment
        finally:
            self._attachments.remove(attachment)
            self._ask_again(lambda pending: pending.asked is surface)

    def questions(self) -> tuple[OpenQuestion, ...]:
        """Every question that waits for a person, oldest first."""
        return tuple(p.open for p in self._pending.values() if p.settled is None)

    def can_ask(self, agent_path: str) -> bool:
        """Whether a surface for people is attached that stands for this agent."""
        return self._nearest(agent_path) is not None

    def grants(self) -> tuple[Grant, ...]:
        """What people said for more than one call."""
        return tuple(self._grants)

    def reconsider(self) -> None:
        """Settles the open questions that rules, mode or grants answer by now."""
        for pending in self._pending.values():
            question = pending.open.question
            verdict = self._verdict(question)
            if pending.settled is None and verdict.decision is not Decision.ASK:
                pending.settle(self._final(question, verdict))

    def take_answer(self, attachment: Attachment, question_id: str, answer: HumanAnswer) -> None:
        """Use `Attachment.answer`."""
        pending = self._pending.get(question_id)
        if (
            attachment not in self._attachments
            or pending is None
            or pending.settled is not None
            or not attachment.covers(pending.open.question.agent_path)
        ):
            raise UnknownQuestion(f"no permission question {question_id!r} waits for an answer from here")
        self._settle_by_human(pending, answer)

    async def _ask(self, pending: _Pending) -> PermissionAnswer:
        question = pending.open.question
        while pending.settled is None:
            surface = self._nearest(question.agent_path)
            if surface is None:
                return self._denied(question, DeniedBy.NOBODY, _NOBODY.format(reason=pending.open.reason))
            with CancelScope() as scope:
                pending.scope, pending.asked = scope, surface
                answer = await surface.ask(pending.open)
                pending.scope = None
                # A cancelled surface may answer all the same; the first answer of an attached one holds.
                if pending.settled is None and any(a.surface is surface for a in self._attachments):
                    self._settle_by_human(pending, answer)
        return pending.settled

    def _nearest(self, agent_path: str) -> Surface | None:
        covering = [a for a in self._attachments if a.covers(agent_path)]
        # max keeps the first of equals, and the newest shall win.
        return max(reversed(covering), key=lambda a: len(a.agent_path)).surface if covering else None

    def _ask_again(self, concerns: Callable[[_Pending], bool]) -> None:
        for pending in self._pending.values():
            if concerns(pending) and self._nearest(pending.open.question.agent_path) is not pending.asked:
                pending.interrupt()

    def _settle_by_human(self, pending: _Pending, answer: HumanAnswer) -> None:
        question = pending.open.question
        if answer.scope is not Scope.ONCE:
            self._grants.extend(
                Grant(
                    rule,
                    question.agent_id,
                    question.agent_path,
                    answer.scope,
                    answer.is_allowed,
                    answer.reason,
                )
                for rule in self._rules_of(question, answer)
            )
        if answer.is_allowed:
            pending.settle(PermissionAnswer(True, "a person allowed it"))
        else:
            said = f": {answer.reason}" if answer.reason else ""
            pending.settle(self._denied(question, DeniedBy.HUMAN, f"a person refused it{said}"))
        if answer.scope is not Scope.ONCE:
            self.reconsider()

    def _verdict(self, question: PermissionQuestion) -> Verdict:
        policy = self._policy_of(question.agent_id)
        grants = tuple(self._grants)
        verdict = evaluate(question, policy.mode, policy.rules, grants, policy.cwd)
        try:
            path = self._real_subject(question, policy.cwd)
        except ValueError as error:
            return Verdict(Decision.DENY, f"{question.subject!r} is no path ({error})")
        if path is None:
            return verdict
        resolved = replace(question, subject=path)
        cwd = self._real_path(policy.cwd)
        return strictest(verdict, evaluate(resolved, policy.mode, policy.rules, grants, cwd))

    def _real_subject(self, question: PermissionQuestion, cwd: str) -> str | None:
        """Where a path really leads; None where the call is not about a path."""
        if question.subject is None or question.permission not in _PATH_CLASSES:
            return None
        return self._real_path(os.path.join(cwd, question.subject))

    def _rules_of(self, question: PermissionQuestion, answer: HumanAnswer) -> tuple[Rule, ...]:
        if answer.rule is not None:
            return (answer.rule,)
        literal = Rule(question.tool, question.subject, is_literal=True)
        path = self._real_subject(question, self._policy_of(question.agent_id).cwd)
        return (literal,) if path is None else (literal, replace(literal, pattern=path))

    def _final(self, question: PermissionQuestion, verdict: Verdict) -> PermissionAnswer:
        if verdict.decision is Decision.ALLOW:
            return PermissionAnswer(True, verdict.reason)
        return self._denied(question, DeniedBy.RULE, verdict.reason)

    def _denied(self, question: PermissionQuestion, denied_by: DeniedBy, reason: str) -> PermissionAnswer:
        self.denials.remember(question, denied_by, reason)
        return PermissionAnswer(False, reason)


def _summary(question: PermissionQuestion) -> str:
    text = " ".join((question.subject or normalised(question.input)).split())
    return text if len(text) <= _SUMMARY_CHARACTERS else text[: _SUMMARY_CHARACTERS - 1] + "…"


def _name_of(question: PermissionQuestion) -> Address:
    return Address(question.agent_path.rpartition("/")[2])
