"""Stage 7: where a provider should cut its cache."""

from dataclasses import replace

from actors.projection.model import ProjectionOptions, Repair, RepairRule
from providers.model import CacheMark, Message, Role

MAX_MARKS = 4
_MARK = CacheMark()


def mark(messages: list[Message], options: ProjectionOptions) -> int | None:
    """Moves the mark of the conversation to its end, in place, and tells where it is.

    Marks of system messages stay. A request that must not write the cache has
    its mark one message earlier, or none.
    """
    if not options.apply_cache_control:
        return None
    spoken = [at for at, message in enumerate(messages) if message.role is not Role.SYSTEM]
    n_back = 2 if options.skip_cache_write else 1
    target = spoken[-n_back] if len(spoken) >= n_back else None
    for at in spoken:
        wanted = _MARK if at == target else None
        if messages[at].cache != wanted:
            messages[at] = replace(messages[at], cache=wanted)
    return target


def limit_marks(messages: list[Message], sources: list[tuple[int, ...]]) -> list[Repair]:
    """Takes away, in place, the marks that a provider refuses: the earliest over four, late long ones.

    A mark of one hour behind one of five minutes becomes one of five minutes.
    """
    marked = [at for at, message in enumerate(messages) if message.cache is not None]
    surplus = len(marked) - MAX_MARKS
    # The newest mark and those of the prefix are worth more than the ones between.
    by_worth = sorted(marked, key=lambda at: (at == marked[-1], messages[at].role is Role.SYSTEM))
    changed = dict.fromkeys(by_worth[: max(surplus, 0)]) | _shortened(messages, by_worth, surplus)
    for at, cache in changed.items():
        messages[at] = replace(messages[at], cache=cache)
    return [Repair(RepairRule.CACHE_MARKS, index) for at in sorted(changed) for index in sources[at]]


def _shortened(messages: list[Message], by_worth: list[int], surplus: int) -> dict[int, CacheMark | None]:
    seen_short = False
    shortened: dict[int, CacheMark | None] = {}
    for at in sorted(by_worth[max(surplus, 0) :]):
        cache = messages[at].cache
        if cache is None or cache.ttl != "1h":
            seen_short = True
        elif seen_short:
            shortened[at] = _MARK
    return shortened
