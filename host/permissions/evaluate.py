"""The verdict on one call, from its mode, the rules and what people have said before. Pure.

deny rules → what a person refused → plan mode → what a person granted → ask rules → allow rules → mode
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from actors.address import AgentId
from actors.permission import PermissionClass
from actors.ports import PermissionQuestion
from host.permissions.modes import PermissionMode
from host.permissions.rules import Call, Rule, RuleSet, absolute, allows, forbids, is_inside

_PLAN_CLASSES = (PermissionClass.READ, PermissionClass.AGENT)
# What lies here decides what runs or is permitted later, so that accept-edits alone does not reach it.
_GUARDED_FOLDERS = frozenset({".git", ".callboard"})


class Decision(StrEnum):
    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class Verdict:
    """`reason` is put before the person who is asked, or before the model that is refused."""

    decision: Decision
    reason: str


class Scope(StrEnum):
    """How far an answer reaches: this call, this agent, or every agent below the same root."""

    ONCE = "once"
    SESSION = "session"
    TREE = "tree"


@dataclass(frozen=True, slots=True)
class Grant:
    """What a person said for more than one call; `is_allowed` False is a standing refusal."""

    rule: Rule
    agent_id: AgentId
    agent_path: str
    scope: Scope
    is_allowed: bool
    reason: str = ""

    def reaches(self, question: PermissionQuestion) -> bool:
        match self.scope:
            case Scope.ONCE:
                return False
            case Scope.SESSION:
                return question.agent_id == self.agent_id
            case Scope.TREE:
                return question.agent_path.partition("/")[0] == self.agent_path.partition("/")[0]
            case _:
                assert_never(self.scope)


def evaluate(
    question: PermissionQuestion,
    mode: PermissionMode,
    rules: RuleSet,
    grants: tuple[Grant, ...],
    cwd: str,
) -> Verdict:
    """Whether the call passes, is refused, or needs a person.

    Paths are compared by their text; resolve links before, and ask for both.
    """
    call = Call(question.tool, question.permission, question.subject, cwd)
    in_reach = tuple(grant for grant in grants if grant.reaches(question))
    for rule in rules.deny:
        if forbids(rule, call):
            return Verdict(Decision.DENY, f"the rule {_named(rule)} denies it, in every mode")
    for grant in in_reach:
        if not grant.is_allowed and forbids(grant.rule, call):
            return Verdict(Decision.DENY, f"a person has refused {grant.rule} before{_quoted(grant.reason)}")
    if mode is PermissionMode.PLAN and question.permission not in _PLAN_CLASSES:
        return Verdict(
            Decision.DENY, f"plan mode is on: nothing is changed or run, and {question.tool} may do so"
        )
    for grant in in_reach:
        if grant.is_allowed and allows(grant.rule, call):
            return Verdict(Decision.ALLOW, f"a person has granted {grant.rule}")
    for rule in rules.ask:
        if forbids(rule, call):
            return Verdict(Decision.ASK, f"the rule {_named(rule)} asks")
    for rule in rules.allow:
        if allows(rule, call):
            return Verdict(Decision.ALLOW, f"the rule {_named(rule)} allows it")
    return _by_mode(call, mode)


def strictest(*verdicts: Verdict) -> Verdict:
    """Deny before ask before allow; the first of equals."""
    return max(verdicts, key=lambda verdict: tuple(Decision).index(verdict.decision))


def _by_mode(call: Call, mode: PermissionMode) -> Verdict:
    allowed = Verdict(Decision.ALLOW, f"{mode} mode lets it pass")
    match call.permission:
        case PermissionClass.READ | PermissionClass.AGENT | PermissionClass.OWN:
            return allowed
        case PermissionClass.EDIT:
            if mode is PermissionMode.BYPASS or (
                mode is PermissionMode.ACCEPT_EDITS and _is_own_ground(call)
            ):
                return allowed
            return Verdict(Decision.ASK, _why_an_edit_asks(call, mode))
        case PermissionClass.EXECUTE:
            if mode is PermissionMode.BYPASS:
                return allowed
            return Verdict(Decision.ASK, f"{mode} mode asks before a command runs")
        case _:
            assert_never(call.permission)


def _is_own_ground(call: Call) -> bool:
    if call.subject is None or not is_inside(call.subject, call.cwd):
        return False
    below = absolute(call.subject, call.cwd)[len(absolute(call.cwd, "/")) :]
    return not _GUARDED_FOLDERS & {name.lower() for name in below.split("/")}


def _why_an_edit_asks(call: Call, mode: PermissionMode) -> str:
    if mode is not PermissionMode.ACCEPT_EDITS:
        return f"{mode} mode asks before a file changes"
    return f"{mode} mode asks outside of {call.cwd}, and inside of {' and '.join(sorted(_GUARDED_FOLDERS))}"


def _named(rule: Rule) -> str:
    return f"{rule} ({rule.source})" if rule.source else str(rule)


def _quoted(reason: str) -> str:
    return f": {reason}" if reason else ""
