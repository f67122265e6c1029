"""Stage 1: entries become pieces, and incoming messages get the words around them."""

from collections.abc import Iterable
from dataclasses import replace
from typing import assert_never

from actors.history import Authority, Entry, MessageEntry, Presentation, ReminderEntry
from actors.projection.model import Piece, ProjectionOptions
from actors.reminders import INCOMING_MESSAGE, LEGACY_SYNTHETIC, REAL_USER, REGISTRY, escape, wrap
from providers.model import Message, Role, TextBlock

_PRESENTATIONS = {presentation.value: presentation for presentation in Presentation}
_STEERS = frozenset(
    {
        Presentation.USER_STEER,
        Presentation.COORDINATOR_STEER,
        Presentation.SUBAGENT_REPLY_STEER,
        Presentation.TASK_NOTIFICATION_STEER,
    }
)
_OF_PEERS = frozenset({Presentation.SUBAGENT_REPLY, Presentation.SUBAGENT_REPLY_STEER})
_WRAPPED = frozenset({Presentation.TASK_NOTIFICATION})

_FLOATING = frozenset(row.name for row in REGISTRY.values() if row.floats)
_FLOATING_MESSAGES = frozenset(
    {LEGACY_SYNTHETIC, *(row.name for row in REGISTRY.values() if row.message_floats)}
)
_MAY_BE_SYSTEM = frozenset(row.name for row in REGISTRY.values() if row.may_be_system)


def present(entries: Iterable[Entry], options: ProjectionOptions, first: int = 0) -> list[Piece]:
    """One piece for every entry, in the same order; the entries are counted from `first`."""
    pieces = []
    for index, entry in enumerate(entries, first):
        if isinstance(entry, MessageEntry):
            message = entry.message
            if message.role is Role.USER:
                pieces.append(_user(index, entry, options))
            else:
                pieces.append(Piece((index,), message.role, message, written_by=entry.model))
        else:
            pieces.append(_reminder(index, entry, options))
    return pieces


def _user(index: int, entry: MessageEntry, options: ProjectionOptions) -> Piece:
    source = entry.source
    if entry.presentation is not None and (presentation := _PRESENTATIONS.get(entry.presentation)):
        return _presented(index, entry, presentation, options)
    return Piece(
        (index,),
        Role.USER,
        entry.message,
        is_real_user=source is None or source == REAL_USER,
        is_synthetic=source == LEGACY_SYNTHETIC,
        floats=source in _FLOATING_MESSAGES,
    )


def _reminder(index: int, entry: ReminderEntry, options: ProjectionOptions) -> Piece:
    body, presentation = entry.body, None
    if entry.presentation is not None and (presentation := _PRESENTATIONS.get(entry.presentation)):
        body = options.presenter.present(presentation, body, None)
    return Piece(
        (index,),
        None,
        source=entry.source,
        bodies=(body,),
        cache=entry.cache,
        is_presented=presentation is not None,
        is_real_user=presentation is Presentation.USER_STEER,
        floats=presentation is None and entry.source in _FLOATING,
        may_be_system=entry.source in _MAY_BE_SYSTEM and _is_trusted(entry, presentation, options),
    )


def _is_trusted(entry: Entry, presentation: Presentation | None, options: ProjectionOptions) -> bool:
    """May these words be said in system role, as far as their authority goes?"""
    if options.peers_may_use_system_role:
        return True
    return entry.authority >= Authority.COORDINATOR and presentation not in _OF_PEERS


def _presented(
    index: int, entry: MessageEntry, presentation: Presentation, options: ProjectionOptions
) -> Piece:
    body = _text_body(entry.message)
    if body is None:
        return _message_piece(index, entry, _with_lead(entry, presentation, options), presentation)
    text = options.presenter.present(presentation, body, entry.sender)
    if presentation in _STEERS:
        return Piece(
            (index,),
            None,
            source=INCOMING_MESSAGE,
            bodies=(text,),
            is_presented=True,
            is_real_user=_is_of_user(entry, presentation),
            may_be_system=_is_trusted(entry, presentation, options),
        )
    if presentation in _WRAPPED:
        # Wrapped here already: unlike a reminder it is a user message to every later stage.
        text = wrap(INCOMING_MESSAGE, escape(text))
    message = entry.message if text == entry.message.content else replace(entry.message, content=text)
    return _message_piece(index, entry, message, presentation)


def _message_piece(index: int, entry: MessageEntry, message: Message, presentation: Presentation) -> Piece:
    return Piece(
        (index,),
        Role.USER,
        message,
        is_presented=True,
        is_real_user=_is_of_user(entry, presentation),
        is_synthetic=entry.source == LEGACY_SYNTHETIC,
    )


def _is_of_user(entry: MessageEntry, presentation: Presentation) -> bool:
    return presentation is Presentation.USER_STEER and (entry.source is None or entry.source == REAL_USER)


def _text_body(message: Message) -> str | None:
    """The body as one text, its blocks joined by a newline; None if it holds anything but text."""
    match message.content:
        case None:
            return ""
        case str(text):
            return text
        case tuple(blocks):
            texts = [block.text for block in blocks if isinstance(block, TextBlock)]
            return "\n".join(texts) if len(texts) == len(blocks) else None
        case _:
            assert_never(message.content)


def _with_lead(entry: MessageEntry, presentation: Presentation, options: ProjectionOptions) -> Message:
    """A body with images in it keeps its blocks; the words stand before them as a block of their own."""
    lead = "" if options.peers_may_use_system_role else options.presenter.lead(presentation, entry.sender)
    blocks = entry.message.content
    if not lead or not isinstance(blocks, tuple):
        return entry.message
    return replace(entry.message, content=(TextBlock(lead), *blocks))
