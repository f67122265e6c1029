"""Conventions of a graphical front end."""

from actors.context.section import CacheHint, GoesTo, Section
from actors.context.values import ContextValues


def desktop_context(values: ContextValues) -> Section | None:
    desktop = values.desktop
    if desktop is None:
        return None
    body = (
        f"The user sees this session in {desktop.front_end}.\n"
        f"- Links: {desktop.links}\n"
        f"- Comments: {desktop.comments}"
    )
    return Section("desktop_context", "Front end", body, GoesTo.SYSTEM, CacheHint.STABLE)
