"""What the program that started the agent tells it."""

from actors.context.section import CacheHint, GoesTo, Section
from actors.context.values import ContextValues


def agent_instructions(values: ContextValues) -> Section | None:
    """The agent's own instructions, right behind the identity.

    The author of the program wrote them, who also wrote the call that starts
    the agent: they have the host's authority, and they are stable, since an
    agent keeps its instructions for life. A section of its own, so that the
    identity is the same bytes for every agent of a host.
    """
    text = values.instructions.strip()
    if not text:
        return None
    return Section("agent_instructions", "Your instructions", text, GoesTo.SYSTEM, CacheHint.STABLE)
