"""Tool calls of a Chat Completions stream, told apart however a server numbers them; pure.

By the book, `id` and `name` come once and `index` says where a fragment
belongs. Real servers repeat ids, leave out indexes, give every call the
index 0, send no ids, or send calls whole. So: a new id is a new call, a known
id is that call, and the index decides only where there is no id.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from providers.assembly import argument_text, call_of, is_cut, is_whole
from providers.model import CallCompleted, CallStarted, ModelEvent, StopReason, ToolCall
from providers.reading import JsonObject, index_at, object_at, text_at

_MAX_ID_PART = 24


@dataclass(slots=True)
class _Draft:
    """A call while it is written; `id` is unique in the answer, `wire_id` what the server said."""

    id: str
    wire_id: str
    index: int | None
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    is_started: bool = False
    is_announced: bool = False

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)


class CallDrafts:
    """The calls of one answer in the order in which they began."""

    def __init__(self) -> None:
        self._drafts: list[_Draft] = []
        self._by_index: dict[int, _Draft] = {}
        self._by_wire_id: dict[str, _Draft] = {}
        self._is_contradicted = False

    def __bool__(self) -> bool:
        return bool(self._drafts)

    def take(self, item: JsonObject, response_id: str) -> Iterable[ModelEvent]:
        """The events of one entry of a delta's `tool_calls`."""
        function = object_at(item, "function")
        name = text_at(function, "name")
        draft = self._find(text_at(item, "id"), index_at(item, "index"), name)
        if draft is None:
            yield from self._completed_early()
            draft = self._add(text_at(item, "id"), index_at(item, "index"), response_id)
        draft.name = draft.name or name
        if draft.name and not draft.is_started:
            draft.is_started = True
            yield CallStarted(draft.id, draft.name)
        piece = argument_text(function.get("arguments"))
        if draft.is_announced:
            self._is_contradicted = self._is_contradicted or bool(piece.strip())
        elif piece:
            draft.pieces.append(piece)

    def finish(
        self, stop: StopReason
    ) -> tuple[tuple[ToolCall, ...], tuple[str, ...], tuple[ModelEvent, ...]]:
        """All calls, the ids of those that were cut off, and what is still to be told."""
        calls: list[ToolCall] = []
        cut: list[str] = []
        events: list[ModelEvent] = []
        for draft in self._drafts:
            call = call_of(draft.id, draft.name, draft.arguments)
            calls.append(call)
            if is_cut(call, draft.arguments, stop, is_last=draft is self._drafts[-1]):
                cut.append(call.id)
            elif not draft.is_announced:
                events.append(CallCompleted(call))
        return tuple(calls), tuple(cut), tuple(events)

    @property
    def fault(self) -> str | None:
        """Why these calls cannot be used, if so."""
        if self._is_contradicted:
            return "arguments that go on behind the end of a tool call"
        if any(not draft.name for draft in self._drafts):
            return "a tool call without a name"
        return None

    def _find(self, wire_id: str, index: int | None, name: str) -> _Draft | None:
        at_index = None if index is None else self._by_index.get(index)
        if wire_id:
            known = self._by_wire_id.get(wire_id)
            if known is not None and name and index not in (None, known.index) and at_index is None:
                return None  # a server that gives every call the same id
            if known is None and at_index is not None and not at_index.wire_id and not name:
                self._by_wire_id[wire_id] = at_index  # the id came late
                return at_index
            return known
        draft = at_index
        if draft is None and (index is None or not name):
            draft = self._drafts[-1] if self._drafts else None
        if draft is not None and name and draft.name and (draft.name != name or is_whole(draft.arguments)):
            return None
        return draft

    def _add(self, wire_id: str, index: int | None, response_id: str) -> _Draft:
        draft = _Draft(self._fresh_id(wire_id, response_id), wire_id, index)
        self._drafts.append(draft)
        if index is not None:
            self._by_index[index] = draft
        if wire_id:
            self._by_wire_id[wire_id] = draft
        return draft

    def _fresh_id(self, wire_id: str, response_id: str) -> str:
        taken = {draft.id for draft in self._drafts}
        if wire_id and wire_id not in taken:
            return wire_id
        stem = re.sub(r"[^A-Za-z0-9_-]", "", response_id)[-_MAX_ID_PART:]
        number = len(self._drafts)
        while (made := f"call_{stem}_{number}") in taken:
            number += 1
        return made

    def _completed_early(self) -> Iterable[ModelEvent]:
        """Calls whose arguments are whole when the next call begins; nothing can be added to them."""
        for draft in self._drafts:
            if not draft.is_announced and draft.name and is_whole(draft.arguments):
                draft.is_announced = True
                yield CallCompleted(call_of(draft.id, draft.name, draft.arguments))
