"""Stage 7: where a provider should cut its cache.

All three functions change the messages in place and spare those that need no change.
"""

from bisect import insort
from dataclasses import replace

from actors.projection.model import ProjectionOptions
from providers.model import CacheMark, Message, Role

MAX_MARKS = 4
_MARK = CacheMark()


def set_mark(messages: list[Message], marks: list[int], options: ProjectionOptions) -> int | None:
    """Marks the last message that is not of the system, and tells which it is.

    All other marks go, but those of system messages. `marks` are the places of
    all marks, before and after. A request that must not write the cache has
    its mark one message earlier, or none.
    """
    if not options.apply_cache_control:
        return None
    target = _last_spoken(messages, 2 if options.skip_cache_write else 1)
    clear_marks(messages, marks, target)
    if target is not None and messages[target].cache != _MARK:
        messages[target] = replace(messages[target], cache=_MARK)
    if target is not None and target not in marks:
        insort(marks, target)
    return target


def clear_marks(messages: list[Message], marks: list[int], target: int | None = None) -> None:
    """Takes off all marks but those of system messages and of the target."""
    for at in marks:
        if messages[at].role is not Role.SYSTEM and at != target:
            messages[at] = replace(messages[at], cache=None)
    marks[:] = [at for at in marks if messages[at].cache is not None]


def _last_spoken(messages: list[Message], n_back: int) -> int | None:
    for at in range(len(messages) - 1, -1, -1):
        if messages[at].role is not Role.SYSTEM:
            n_back -= 1
            if not n_back:
                return at
    return None


def limit_marks(messages: list[Message], marks: list[int], target: int | None) -> list[int]:
    """Takes away the marks that a provider refuses, and tells where: the earliest over four, late long ones.

    The one that was asked for stays, or else the newest; after it those of the
    system are worth most. A mark of one hour behind one of five minutes becomes one of five minutes.
    """
    surplus = max(len(marks) - MAX_MARKS, 0)
    newest = max(marks, default=None) if target is None else target
    by_worth = sorted(marks, key=lambda at: (at == newest, messages[at].role is Role.SYSTEM))
    changed = dict.fromkeys(by_worth[:surplus]) | _shortened(messages, sorted(by_worth[surplus:]))
    for at, cache in changed.items():
        messages[at] = replace(messages[at], cache=cache)
    return sorted(changed)


def _shortened(messages: list[Message], kept: list[int]) -> dict[int, CacheMark | None]:
    seen_short = False
    shortened: dict[int, CacheMark | None] = {}
    for at in kept:
        cache = messages[at].cache
        if cache is None or cache.ttl != "1h":
            seen_short = True
        elif seen_short:
            shortened[at] = _MARK
    return shortened
