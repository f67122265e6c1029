"""Why a message of one request is not as it was in another, in words for a person."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from actors.projection.align import Keyed
from actors.projection.model import RepairRule
from actors.projection.why import rules_of, why_left_out, why_moved
from actors.projection.words import words_of
from providers.model import CacheMark, Message, Role

_DONE: Mapping[RepairRule, str] = MappingProxyType(
    {
        RepairRule.UNBOUND_REASONING: "its thinking is left out: what stands before it has changed",
        RepairRule.FOREIGN_REASONING: "its thinking is left out: another model wrote it",
        RepairRule.LONE_REASONING: "its thinking is left out: nothing follows it",
        RepairRule.CALL_ID_REUSED: "its call id is used twice and was changed",
        RepairRule.SYSTEM_PLACE: "a system message may not stand there: it became wrapped user text",
    }
)
_UNDONE: Mapping[RepairRule, str] = MappingProxyType(
    {
        RepairRule.UNBOUND_REASONING: "its thinking goes out again: what stands before it is as it was",
        RepairRule.FOREIGN_REASONING: "its thinking goes out again: the model that wrote it reads it",
        RepairRule.CALL_ID_REUSED: "its call id is its own again",
    }
)


class Reasons:
    """Gives the reasons for the differences of two requests, from their entries and projections."""

    def __init__(self, was: Keyed, now: Keyed) -> None:
        self._was = was
        self._now = now
        self._rules_was = rules_of(was.made.projection)
        self._rules_now = rules_of(now.made.projection)
        self._moved_was = why_moved(was.made)
        self._moved_now = why_moved(now.made)
        self._left_out_was = why_left_out(was.made)
        self._left_out_now = why_left_out(now.made)

    def added(self, at: int) -> tuple[str, ...]:
        """For a message that only the later request has."""
        sources = self._now.sources[at]
        if not sources:
            return ("stands for a result that is not there",)
        return self._found(self._now, self._was, sources, self._left_out_was, is_new=True)

    def removed(self, at: int) -> tuple[str, ...]:
        """For a message that only the earlier request has."""
        sources = self._was.sources[at]
        if not sources:
            return ("the call whose result it stood for is no longer there",)
        return self._found(self._was, self._now, sources, self._left_out_now, is_new=False)

    def _found(
        self, here: Keyed, there: Keyed, sources: Sequence[int], left_out: Mapping[int, str], *, is_new: bool
    ) -> tuple[str, ...]:
        words = []
        for index in sources:
            place = there.place_of.get(here.keys[index])
            if place is None:
                what = "prefix" if index < here.made.n_prefix else "history"
                words.append(f"new in the {what}" if is_new else f"no longer in the {what}")
            elif place in left_out:
                when = "was left out before" if is_new else "is left out now"
                words.append(f"{when}: {left_out[place]}")
            else:
                words.append("stood in another message before" if is_new else "stands in another message now")
        return tuple(dict.fromkeys(words))

    def changed(self, before: int, after: int) -> tuple[str, ...]:
        """For a message that says something else in the later request."""
        words = tuple(dict.fromkeys(self._differences(before, after)))
        return words or ("it is made otherwise from the same entries",)

    def _differences(self, before: int, after: int) -> Iterator[str]:
        was, now = self._was, self._now
        one, other = was.messages[before], now.messages[after]
        if bool(was.sources[before]) != bool(now.sources[after]):
            yield "its result came" if now.sources[after] else "its result is no longer there"
            return
        yield from self._role(one, other)
        keys_was = [was.keys[index] for index in was.sources[before]]
        keys_now = [now.keys[index] for index in now.sources[after]]
        if set(keys_now) - set(keys_was):
            yield "more was joined to it"
        if set(keys_was) - set(keys_now):
            yield "less is joined to it"
        for index in now.sources[after]:
            place = was.place_of.get(now.keys[index])
            if place is None or was.made.entries[place] == now.made.entries[index]:
                continue
            if index < now.made.n_prefix:
                yield "the prefix was built anew and says something else"
            else:
                yield "the history says something else here"
        yield from self._repairs(was.sources[before], now.sources[after])

    def _role(self, one: Message, other: Message) -> Iterator[str]:
        if one.role is other.role:
            return
        options_was, options_now = self._was.made.options, self._now.made.options
        takes_was, takes_now = options_was.mid_conversation_system, options_now.mid_conversation_system
        if other.role is Role.SYSTEM:
            yield "became a system message"
            if takes_now and not takes_was:
                yield "the model takes system messages mid-conversation"
        elif one.role is Role.SYSTEM:
            yield "is no system message any more"
            if takes_was and not takes_now:
                yield "the model takes no system messages mid-conversation"
            elif takes_now:
                yield "it may not stand there as one"
        else:
            yield f"its role is {other.role}, was {one.role}"

    def _repairs(self, before: Sequence[int], after: Sequence[int]) -> Iterator[str]:
        was = {rule for index in before for rule in self._rules_was.get(index, ())}
        now = {rule for index in after for rule in self._rules_now.get(index, ())}
        for rule in RepairRule:
            if rule in now and rule not in was:
                yield _DONE.get(rule, f"repair: {words_of(rule)}")
            elif rule in was and rule not in now:
                yield _UNDONE.get(rule, f"no repair any more: {words_of(rule)}")

    def moved(self, before: int, after: int) -> tuple[str, ...]:
        """For a message that changed places with others of both requests."""
        for index in self._now.sources[after]:
            if index in self._moved_now:
                return (self._moved_now[index],)
        for index in self._was.sources[before]:
            if index in self._moved_was:
                return (f"no longer: {self._moved_was[index]}",)
        return ("what stood between has changed",)

    def mark(self, was: CacheMark | None, now: CacheMark | None) -> tuple[str, ...]:
        """For a message that has another cache mark."""
        marks_was = self._was.made.options.apply_cache_control
        marks_now = self._now.made.options.apply_cache_control
        if marks_was != marks_now:
            return ("marks are set now" if marks_now else "marks are set no more",)
        if was is None:
            return ("the mark moved here",)
        return ("the mark moved away",) if now is None else ("the mark is another one",)
