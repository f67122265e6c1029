"""From values to the head of a history: pure, so that the same values give the same bytes."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from actors.context.section import CacheHint, Form, GoesTo, Prefix, Section, SectionReport, lowest_trust
from actors.context.values import ContextValues
from actors.context.variants import DROPPED_FIRST, FULL, SHORT, SectionMaker, Variant
from actors.errors import BadInput
from actors.history import Entry, EntryId, MessageEntry, Origin, ReminderEntry, authority_of
from providers.estimate import estimate_text
from providers.model import CacheMark, Message, Role, text_of

CONTEXT_OPENING = "The host gives you this as background to the conversation that follows."
CONTEXT_CLOSING = "This was background and asks for no answer; what matters of it holds for all that follows."

_GROUPS = tuple((goes_to, cache) for goes_to in GoesTo for cache in CacheHint)


def build(variant: Variant, values: ContextValues) -> Prefix:
    """The prefix of an agent of this variant.

    Up to three system messages, each with a cache mark (the host's line,
    everything stable, everything dynamic), then up to two reminders. Entry
    ids are `prefix-0` and so on. Only what is dynamic, and the short form, may
    differ between turns, models and restarts.

    Raises:
        BadInput: a prompt that this variant does not read, or the lack of its own.
    """
    _check(variant, values)
    full = _made(FULL[variant], values)
    if values.max_tokens is None:
        return Prefix(_entries(full), tuple(_report(section) for section in full))
    return _shortened(full, _made(SHORT[variant], values), values.max_tokens)


def _check(variant: Variant, values: ContextValues) -> None:
    takes_prompt = variant is Variant.CUSTOM_PROMPT
    if takes_prompt != (values.system_prompt is not None):
        raise BadInput(
            f"the {variant} prefix {'needs a' if takes_prompt else 'takes no'} system prompt"
            " (the custom_prompt prefix alone does)"
        )
    if values.type_prompt is not None and variant is not Variant.SUBAGENT:
        raise BadInput(f"the {variant} prefix takes no type prompt (the subagent prefix alone does)")


def _made(makers: Iterable[SectionMaker], values: ContextValues) -> tuple[Section, ...]:
    """The sections that are present, in the order of sending."""
    sections = [section for make in makers if (section := make(values)) is not None]
    return tuple(sorted(sections, key=lambda section: _GROUPS.index((section.goes_to, section.cache))))


def _shortened(full: tuple[Section, ...], short: tuple[Section, ...], max_tokens: int) -> Prefix:
    """The short form, and less of it while it is over the bound."""
    kept = short
    for source in DROPPED_FIRST:
        if _n_tokens(kept) <= max_tokens:
            break
        kept = tuple(section for section in kept if section.source != source)
    reason = f"the model takes a prefix of up to {max_tokens:,} tokens"
    over = f"; what is left has {_n_tokens(kept):,}" if _n_tokens(kept) > max_tokens else ""
    sources = {section.source for section in kept}
    reports = [
        _report(section) if section in full else _report(section, Form.SHORT, reason + over)
        for section in kept
    ]
    dropped = [
        _report(section, Form.DROPPED, reason + over) for section in full if section.source not in sources
    ]
    return Prefix(_entries(kept), (*reports, *dropped))


def _entries(sections: tuple[Section, ...]) -> tuple[Entry, ...]:
    texts = [text for text in _system_texts(sections) if text.strip()]
    reminders = [*_skills_listing(sections), *_context_prefix(sections)]
    return (
        *(_system_entry(number, text) for number, text in enumerate(texts)),
        *(replace(entry, id=_id(number)) for number, entry in enumerate(reminders, len(texts))),
    )


def _system_texts(sections: tuple[Section, ...]) -> tuple[str, str, str]:
    """The third begins with two newlines, so that its left edge is the same at every provider."""
    system = [section for section in sections if section.goes_to is GoesTo.SYSTEM]
    return (
        _joined(s for s in system if s.source == "cli_prefix"),
        _joined(s for s in system if s.source != "cli_prefix" and s.cache is CacheHint.STABLE),
        "\n\n" + _joined(s for s in system if s.cache is CacheHint.DYNAMIC),
    )


def _system_entry(number: int, text: str) -> MessageEntry:
    message = Message(Role.SYSTEM, text, cache=CacheMark())
    return MessageEntry(_id(number), message, Origin.HOST, authority_of(Origin.HOST))


def _skills_listing(sections: tuple[Section, ...]) -> Iterator[ReminderEntry]:
    listing = tuple(section for section in sections if section.source == "skills")
    if listing:
        yield _reminder("skills_listing", _joined(listing), listing)


def _context_prefix(sections: tuple[Section, ...]) -> Iterator[ReminderEntry]:
    rest = tuple(s for s in sections if s.goes_to is GoesTo.META_USER and s.source != "skills")
    if rest:
        yield _reminder("context_prefix", f"{CONTEXT_OPENING}\n\n{_joined(rest)}\n\n{CONTEXT_CLOSING}", rest)


def _reminder(source: str, body: str, sections: tuple[Section, ...]) -> ReminderEntry:
    origin = lowest_trust(tuple(section.origin for section in sections))
    return ReminderEntry(_id(0), source, body, origin, authority_of(origin))


def _id(number: int) -> EntryId:
    return EntryId(f"prefix-{number}")


def _joined(sections: Iterable[Section]) -> str:
    return "\n\n".join(section.text for section in sections)


def _n_tokens(sections: tuple[Section, ...]) -> int:
    return sum(estimate_text(_text(entry)) for entry in _entries(sections))


def _text(entry: Entry) -> str:
    return entry.body if isinstance(entry, ReminderEntry) else text_of(entry.message.content)


def _report(section: Section, form: Form = Form.FULL, reason: str = "") -> SectionReport:
    return SectionReport(
        section.source,
        section.title,
        section.goes_to,
        section.cache,
        section.origin,
        len(section.text),
        estimate_text(section.text),
        form,
        reason,
    )
