"""The first line of all: what this host is."""

from actors.context.section import CacheHint, GoesTo, Section
from actors.context.values import ContextValues

_TEXT = (
    "You run on Callboard, a host for agents: many of them live in one process, each with a mailbox,"
    " and the host carries their messages."
)


def cli_prefix(_: ContextValues) -> Section:
    return Section("cli_prefix", "Host", _TEXT, GoesTo.SYSTEM, CacheHint.STABLE, is_bare=True)
