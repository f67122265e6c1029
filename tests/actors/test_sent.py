"""Requests made again from records."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from actors.errors import UnknownRequest
from actors.history import Authority, Entry, EntryId, MessageEntry, Origin
from actors.projection import ProjectionOptions, project
from actors.projection.thinking import Trace
from actors.records import EntriesAppended, PrefixBuilt, Record, RequestMade, TurnId
from actors.sent import sent_request
from providers.model import Message, Role, ToolSpec

READ = ToolSpec("read", "Reads.", {"type": "object"})


def said(number: int, role: Role, text: str) -> MessageEntry:
    origin = {Role.USER: Origin.USER, Role.ASSISTANT: Origin.MODEL}.get(role, Origin.HOST)
    return MessageEntry(EntryId(f"ent_{number}"), Message(role, text), origin, Authority.DATA)


PREFIX = said(0, Role.SYSTEM, "You are a guide.")
ASKED = said(1, Role.USER, "Where?")
ANSWERED = said(2, Role.ASSISTANT, "There.")
ASKED_AGAIN = said(3, Role.USER, "Sure?")


def appended(*entries: Entry) -> EntriesAppended:
    return EntriesAppended(entries)


def made(entries: Sequence[Entry], *tools: ToolSpec, cache_marks: bool = False) -> RequestMade:
    """The record of a request that this version would make of the entries."""
    options = ProjectionOptions(apply_cache_control=cache_marks, model="reader", tools=tools)
    messages = project(entries, options).messages
    trace = Trace(tools)
    trace.take(messages)
    return RequestMade(
        turn_id=TurnId("turn_1"),
        model="some:reader",
        reader="reader",
        mid_conversation_system=False,
        peers_may_use_system_role=False,
        cache_marks=cache_marks,
        n_messages=len(messages),
        n_tokens=7,
        fingerprint=trace.fingerprint(),
        at=1.0,
    )


TWO_REQUESTS: tuple[Record, ...] = (
    appended(ASKED),
    PrefixBuilt((PREFIX,), (READ,)),
    made([PREFIX, ASKED], READ),
    appended(ANSWERED),
    appended(ASKED_AGAIN),
    made([PREFIX, ASKED, ANSWERED, ASKED_AGAIN], READ, cache_marks=True),
    appended(said(4, Role.ASSISTANT, "Sure.")),
)


def test_a_request_holds_what_stood_before_it_in_the_log_and_nothing_later() -> None:
    first = sent_request(TWO_REQUESTS, 1)
    assert first.entries == (PREFIX, ASKED)
    assert (first.number, first.n_requests, first.n_prefix) == (1, 2, 1)
    assert first.tools == (READ,)
    assert first.is_same_as_sent
    assert first.projection.messages == (PREFIX.message, ASKED.message)


def test_the_choices_of_the_request_are_those_of_its_record() -> None:
    last = sent_request(TWO_REQUESTS)
    assert last.number == 2
    assert last.options.apply_cache_control
    assert last.options.model == "reader"
    assert last.projection.cache_control_index == 3
    assert last.is_same_as_sent


@pytest.mark.parametrize("choices", [(True, False, False), (False, True, False), (False, False, True)])
def test_each_choice_is_taken_over(choices: tuple[bool, bool, bool]) -> None:
    midway, peers, marks = choices
    record = replace(
        made([ASKED]), mid_conversation_system=midway, peers_may_use_system_role=peers, cache_marks=marks
    )
    options = sent_request([appended(ASKED), record]).options
    taken = options.mid_conversation_system, options.peers_may_use_system_role, options.apply_cache_control
    assert taken == choices


@pytest.mark.parametrize(("wanted", "number"), [(None, 2), (-1, 2), (-2, 1), (1, 1), (2, 2)])
def test_requests_are_counted_from_both_ends(wanted: int | None, number: int) -> None:
    assert sent_request(TWO_REQUESTS, wanted).number == number


@pytest.mark.parametrize("number", [0, 3, -3, 10**30])
def test_a_number_that_no_request_has_names_those_there_are(number: int) -> None:
    with pytest.raises(UnknownRequest, match="requests 1 to 2") as caught:
        sent_request(TWO_REQUESTS, number)
    assert caught.value.n_requests == 2


def test_a_prefix_built_anew_holds_for_what_comes_behind_it() -> None:
    other = said(0, Role.SYSTEM, "You are another.")
    records = (*TWO_REQUESTS, PrefixBuilt((other,), ()), made([other, ASKED]))
    assert sent_request(records, 2).entries[0] == PREFIX
    assert sent_request(records, 3).entries[0] == other
    assert sent_request(records, 3).tools == ()


def test_a_request_that_this_version_would_make_otherwise_is_told() -> None:
    records = (appended(ASKED), made([ASKED, ANSWERED]))
    assert not sent_request(records).is_same_as_sent


def test_tools_are_part_of_what_was_sent() -> None:
    records = (appended(ASKED), PrefixBuilt((), (READ,)), made([ASKED]))
    assert not sent_request(records).is_same_as_sent


def test_a_log_without_any_request_is_told_as_what_it_is() -> None:
    with pytest.raises(UnknownRequest, match="made no request yet"):
        sent_request([appended(ASKED)])
    with pytest.raises(UnknownRequest, match="before requests were noted"):
        sent_request([appended(ASKED), appended(ANSWERED)])
    with pytest.raises(UnknownRequest, match="made no request yet"):
        sent_request([], 4)
