"""What an agent may do, and who is asked."""

from host.permissions.broker import Attachment, PermissionBroker, Policy
from host.permissions.denials import Denial, DenialMemory, DeniedBy
from host.permissions.evaluate import Decision, Grant, Scope, Verdict, evaluate
from host.permissions.modes import PermissionMode, narrowest
from host.permissions.rules import Rule, RuleSet, parse_rule
from host.permissions.surfaces import HumanAnswer, OpenQuestion, Surface

__all__ = [
    "Attachment",
    "Decision",
    "Denial",
    "DenialMemory",
    "DeniedBy",
    "Grant",
    "HumanAnswer",
    "OpenQuestion",
    "PermissionBroker",
    "PermissionMode",
    "Policy",
    "Rule",
    "RuleSet",
    "Scope",
    "Surface",
    "Verdict",
    "evaluate",
    "narrowest",
    "parse_rule",
]
