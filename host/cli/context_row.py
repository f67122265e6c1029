"""What there is to say of each message of a request. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from actors.history import Authority, Entry, MessageEntry, ReminderEntry
from actors.projection import RepairRule, why_left_out, why_moved
from actors.projection.words import words_of
from actors.sent import SentRequest
from providers.model import Block, FileBlock, ImageBlock, Message, ReasoningBlock, TextBlock
from providers.tokens import EstimateCounter

_LONG_ID = 14
_SHORT_ID = 6
_MOVES = frozenset({RepairRule.RESULT_MOVED, RepairRule.MOVED_BEHIND_RESULTS})


@dataclass(frozen=True, slots=True)
class Row:
    """One message. `number` counts from 1.

    `entries` are those that it holds: none where the host made a result up.
    `authority` is the least of theirs. `moved` and `repaired` name an entry
    and say in words why or what.
    """

    number: int
    message: Message
    entries: tuple[Entry, ...]
    n_tokens: int
    moved: tuple[tuple[Entry, str], ...]
    repaired: tuple[tuple[Entry, RepairRule], ...]

    @property
    def origins(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(entry.origin.value for entry in self.entries)) or ("host",)

    @property
    def authority(self) -> str:
        return min((e.authority for e in self.entries), default=Authority.HOST).name.lower()

    @property
    def mark(self) -> str | None:
        """The lifetime that the cache mark asks for, `default` where it names none."""
        cache = self.message.cache
        return None if cache is None else cache.ttl or "default"

    @property
    def kinds(self) -> tuple[str, ...]:
        """What is special about it: sources of reminders, presentations, that it was made up."""
        if not self.entries:
            return ("made up",)
        return tuple(dict.fromkeys(kind for entry in self.entries for kind in kinds_of(entry)))

    @property
    def first_words(self) -> str:
        """What it says in brief, without the words that the host puts around what it passes on."""
        if any(isinstance(e, ReminderEntry) or e.presentation is not None for e in self.entries):
            return " / ".join(map(entry_text, self.entries))
        return text_of_message(self.message, is_brief=True)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done to it, in words; what only moved it is told with the move."""
        moved = dict.fromkeys(f"moved: {why}" for _, why in self.moved)
        rules = (rule for _, rule in self.repaired if not (moved and rule in _MOVES))
        repaired = dict.fromkeys(f"repair: {words_of(rule)}" for rule in rules)
        return (*moved, *repaired)


@dataclass(frozen=True, slots=True)
class Unsent:
    """An entry of the history that is in no message."""

    entry: Entry
    why: str


def rows_of(sent: SentRequest, counter: EstimateCounter) -> tuple[Row, ...]:
    """The messages of a request, with everything that is known of each."""
    why = why_moved(sent)
    repairs: dict[int, dict[RepairRule, None]] = {}
    for repair in sent.projection.repaired:
        repairs.setdefault(repair.entry, {})[repair.rule] = None
    messages, sources = sent.projection.messages, sent.projection.sources
    return tuple(
        Row(
            number,
            message,
            tuple(sent.entries[index] for index in indices),
            counter.count_message(message),
            tuple((sent.entries[index], why[index]) for index in indices if index in why),
            tuple((sent.entries[index], rule) for index in indices for rule in repairs.get(index, ())),
        )
        for number, (message, indices) in enumerate(zip(messages, sources, strict=True), 1)
    )


def unsent_of(sent: SentRequest) -> tuple[Unsent, ...]:
    return tuple(Unsent(sent.entries[index], why) for index, why in why_left_out(sent).items())


def kinds_of(entry: Entry) -> Iterator[str]:
    if entry.presentation is not None:
        yield entry.presentation
    elif isinstance(entry, ReminderEntry):
        yield entry.source
    elif entry.source not in (None, "real_user"):
        yield entry.source or ""
    if isinstance(entry, MessageEntry) and entry.is_partial:
        yield "cut off"


def entry_text(entry: Entry) -> str:
    """What was stored, in brief."""
    return entry.body if isinstance(entry, ReminderEntry) else text_of_message(entry.message, is_brief=True)


def text_of_message(message: Message, *, is_brief: bool = False) -> str:
    """What it says, with a word for each block that is no text; its calls are not in it.

    In brief without what was thought.
    """
    content = message.content
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(_block(block, is_brief=is_brief) for block in content)


def _block(block: Block, *, is_brief: bool) -> str:
    match block:
        case TextBlock(text):
            return text
        case ReasoningBlock(text):
            return f"[thinking] {text}" if text and not is_brief else "[thinking]"
        case ImageBlock(media_type):
            return f"[{media_type}]"
        case FileBlock():
            return "\n".join(filter(None, (f"[{block.name or block.media_type}]", block.text)))
        case _:
            assert_never(block)


def short(name: str) -> str:
    """An id in few characters: its end, which is what differs."""
    return name if len(name) <= _LONG_ID else f"…{name[-_SHORT_ID:]}"
