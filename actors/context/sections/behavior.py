"""How to work with people, and how long conversations go on."""

from actors.context.quoting import one_line
from actors.context.section import CacheHint, GoesTo, Section
from actors.context.values import ContextValues

_BEHAVIOR = """\
- Say first what matters most, in plain words, and only as much as the question is worth. One sentence \
before you start on something, another when the direction changes.
- Comment code where the reason cannot be seen from it; do not retell what it does.
- Before anything that is hard to undo or that others will see (deleting, overwriting, pushing, sending), \
look at what it would touch, and ask unless you were told to do exactly this.
- Report what happened as it happened: a failing test with its output, a step left out as left out. Call \
nothing done that you have not checked."""

_CONTEXT_MANAGEMENT = (
    "When the conversation nears the limit of the model, the host summarises its older part and you go on"
    " from there. Do not stop early, hurry or leave things out to save room. Go on by yourself until the task"
    " is done or you cannot get further without somebody else."
)


def dynamic_behavior(values: ContextValues) -> Section:
    body = _language(values.language) + _BEHAVIOR
    return Section("dynamic_behavior", "Working with the user", body, GoesTo.SYSTEM, CacheHint.DYNAMIC)


def _language(language: str | None) -> str:
    if not language:
        return ""
    return f"- Write in {one_line(language, 100)}; leave code, commands and names as they are.\n"


def context_management(_: ContextValues) -> Section:
    return Section(
        "context_management", "Long conversations", _CONTEXT_MANAGEMENT, GoesTo.SYSTEM, CacheHint.DYNAMIC
    )
