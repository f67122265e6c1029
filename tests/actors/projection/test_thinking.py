"""Sealed thinking goes back as it was, behind what it was thought on, or not at all."""

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from actors.history import Authority, Entry, EntryId, MessageEntry, Origin
from actors.projection import Projection, ProjectionOptions, Projector, Repair, RepairRule, project
from actors.projection.thinking import Trace
from providers.model import (
    Block,
    FileBlock,
    ImageBlock,
    Message,
    ReasoningBlock,
    Role,
    TextBlock,
    ToolCall,
    ToolSpec,
)
from tests.actors.projection.checks import lost_texts, refusals
from tests.actors.projection.entries import answer, calls, reminder, result, user
from tests.actors.projection.histories import READER, Steps, history, steps

_TOOLS = tuple(
    (ToolSpec("Look", description, {"type": "object"}),) for description in ("Looks.", "Looks again.")
)
_PLAIN = ProjectionOptions()


def _sealed(message: Message) -> list[ReasoningBlock]:
    blocks = message.content if isinstance(message.content, tuple) else ()
    return [block for block in blocks if isinstance(block, ReasoningBlock) and block.signature is not None]


def _thought(number: int, fingerprint: str | None, *, call_id: str | None = None) -> MessageEntry:
    seal = ReasoningBlock(f"thought {number}", signature=f"seal {number}", model=READER)
    blocks = (seal, TextBlock(f"words {number}")) if number % 3 else (seal,)
    made = (ToolCall(call_id, "Look", {"n": number}, after_block=len(blocks) % 2),) if call_id else ()
    content = blocks if made else (seal, TextBlock(f"words {number}"))
    return MessageEntry(
        EntryId(f"a{number}"),
        Message(Role.ASSISTANT, content, made),
        Origin.MODEL,
        Authority.DATA,
        model=READER,
        request_fingerprint=fingerprint,
    )


@dataclass
class _Provider:
    """Remembers what every seal was put on, and looks at it when a seal comes back."""

    seen: dict[str, tuple[tuple[ToolSpec, ...], list[Message]]] = field(default_factory=dict)

    def seal(self, signature: str, tools: tuple[ToolSpec, ...], messages: tuple[Message, ...]) -> None:
        self.seen[signature] = (tools, _without_marks(messages))

    def is_valid(self, signature: str, tools: tuple[ToolSpec, ...], before: tuple[Message, ...]) -> bool:
        return self.seen[signature] == (tools, _without_marks(before))


def _without_marks(messages: tuple[Message, ...]) -> list[Message]:
    return [replace(message, cache=None) for message in messages]


_SEALS = tuple(ReasoningBlock(f"t{n}", signature=f"s{n}", model=READER) for n in range(2))
_FOREIGN = ReasoningBlock("other", signature="other", model="another")

_Turn = tuple[Steps, str, int]
_TURNS = st.lists(
    st.tuples(
        steps(6), st.sampled_from(["go on"] * 4 + ["tools", "prefix", "forget", "cut"]), st.integers(0, 20)
    ),
    max_size=10,
)


def _check(turns: list[_Turn], options: ProjectionOptions) -> None:
    provider, projector = _Provider(), Projector()
    entries: tuple[Entry, ...] = (user("the question"),)
    for number, (taken, event, where) in enumerate(turns):
        if event == "tools":
            options = replace(options, tools=_TOOLS[where % len(_TOOLS)])
        elif event == "prefix":
            entries = (user(f"prefix {where % 2}"), *entries[1:])
        elif event == "forget":
            projector = Projector()
        elif event == "cut":
            entries = entries[:1] + entries[1 + where % len(entries) :]
        entries += history(taken, prefix=f"t{number}-")
        projection = projector.project(entries, options)
        assert projection == project(entries, options)
        _check_seals(provider, entries, projection, options)
        signature = f"seal {number}"
        provider.seal(signature, options.tools, projection.messages)
        call_id = f"call-{number}" if where % 2 else None
        entries += (_thought(number, projector.fingerprint(), call_id=call_id),)
        if call_id and where % 4 == 1:
            entries += (result(call_id, f"result {number}"),)


def _check_seals(
    provider: _Provider, entries: tuple[Entry, ...], projection: Projection, options: ProjectionOptions
) -> None:
    mid = options.mid_conversation_system
    assert refusals(projection.messages, mid_conversation_system=mid) == []
    assert lost_texts(entries, projection) == []
    dropped = {repair.entry for repair in projection.repaired if repair.rule is RepairRule.UNBOUND_REASONING}
    for at, (message, sources) in enumerate(zip(projection.messages, projection.sources, strict=True)):
        entry = entries[sources[0]] if sources else None
        if not isinstance(entry, MessageEntry) or entry.request_fingerprint is None:
            continue
        (seal,) = _sealed(entry.message)
        assert seal.signature is not None
        is_valid = provider.is_valid(seal.signature, options.tools, projection.messages[:at])
        assert _sealed(message) == ([seal] if is_valid else [])
        assert (sources[0] in dropped) == (not is_valid)


_ANY = st.builds(
    ProjectionOptions,
    mid_conversation_system=st.booleans(),
    apply_cache_control=st.booleans(),
    model=st.just(READER),
)


@settings(max_examples=120, deadline=None, derandomize=True)
@given(_TURNS, _ANY)
def test_thinking_goes_back_behind_what_it_was_thought_on_and_nowhere_else(
    turns: list[_Turn], options: ProjectionOptions
) -> None:
    _check(turns, options)


@pytest.mark.slow
@pytest.mark.parametrize("_part", range(3))
@settings(
    max_examples=1_000,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)
@given(_TURNS, _ANY)
def test_thinking_over_many_runs(_part: int, turns: list[_Turn], options: ProjectionOptions) -> None:
    _check(turns, options)


def _asked(entries: tuple[Entry, ...], options: ProjectionOptions = _PLAIN) -> str:
    projector = Projector()
    projector.project(entries, options)
    return projector.fingerprint()


def test_an_answer_that_does_not_know_its_request_keeps_its_thinking_behind_what_is_stored() -> None:
    entries = (user("u"), reminder("date_change", "today"), _thought(1, None), user("v"), _thought(2, None))
    projection = project(entries)
    assert [len(_sealed(message)) for message in projection.messages] == [0, 0, 1, 0, 1]
    assert projection.repaired == ()


@pytest.mark.parametrize(
    ("change", "n_kept"),
    [
        ((), 2),
        ((answer("  "),), 1),
        ((calls("c1"),), 1),
        ((result("c9"),), 1),
        ((answer((ReasoningBlock("h", signature="s", model="another"), TextBlock("t"))),), 2),
    ],
)
def test_an_answer_that_does_not_know_its_request_loses_its_thinking_behind_a_repair(
    change: tuple[Entry, ...], n_kept: int
) -> None:
    """What was put right before it was not so when it was thought; what another model thought was."""
    entries = (user("u"), _thought(1, None), user("v"), *change, user("w"), _thought(2, None), user("x"))
    options = ProjectionOptions(model=READER)
    sent = project(entries, options)
    assert sum(len(_sealed(message)) for message in sent.messages) == n_kept
    recorded = project(entries, replace(options, as_recorded=True))
    assert sum(len(_sealed(message)) for message in recorded.messages) == 2
    projector = Projector()
    for n_entries in range(1, len(entries) + 1):
        assert projector.project(entries[:n_entries], options) == project(entries[:n_entries], options)


def test_thinking_that_is_left_out_takes_all_behind_it_along() -> None:
    entries = (user("u"), _thought(1, "of another request"), user("v"), _thought(2, None), user("w"))
    projection = project(entries)
    assert sum(len(_sealed(message)) for message in projection.messages) == 0
    assert [repair.entry for repair in projection.repaired] == [1, 3]


def test_what_goes_out_before_thinking_that_is_left_out_goes_out_still() -> None:
    entries = (
        user("u"),
        _thought(1, None),
        user("v"),
        _thought(2, "of another request"),
        user("w"),
        _thought(4, None),
    )
    assert [len(_sealed(message)) for message in project(entries).messages[1::2]] == [1, 0, 0]


def test_the_first_of_two_repairs_is_what_thinking_stays_out_behind() -> None:
    entries = (user("u"), result("c9"), _thought(1, None), user("v"), result("c8"))
    assert sum(len(_sealed(message)) for message in project(entries).messages) == 0


@pytest.mark.parametrize(
    ("content", "made", "n_kept"),
    [
        ((_SEALS[0], TextBlock("a"), _SEALS[1], TextBlock("b")), (), 2),
        ((_SEALS[0], TextBlock(""), _SEALS[1], TextBlock("b")), (), 1),
        ((_SEALS[0], TextBlock("\ud83d"), _SEALS[1], TextBlock("b")), (), 1),
        ((_SEALS[0], _FOREIGN, _SEALS[1], TextBlock("b")), (), 2),
        ((_SEALS[0], _SEALS[1], TextBlock("\ud83d")), (), 2),
        ((TextBlock(""), _SEALS[0], TextBlock("b")), (), 0),
        (
            (_FOREIGN, _SEALS[0], TextBlock("a"), _SEALS[1], TextBlock("b")),
            (ToolCall("c1", "Look", {}, after_block=3),),
            2,
        ),
        ((_SEALS[0], TextBlock("b"), _FOREIGN), (), 1),
        ((_SEALS[0], _SEALS[1], TextBlock("b")), (ToolCall("c1", "Look", ["x"], after_block=1),), 1),
        (
            (_FOREIGN, _SEALS[0], _SEALS[1], TextBlock("b")),
            (ToolCall("c1", "Look", ["x"], after_block=2),),
            1,
        ),
        ((_SEALS[0], _SEALS[1], TextBlock("b")), (ToolCall("c1", "Look", ["x"], after_block=2),), 2),
        ((_SEALS[0], _SEALS[1], TextBlock("b")), (ToolCall("c1", "Look", ["x"]),), 2),
        ((_SEALS[0], _SEALS[1], TextBlock("b")), (ToolCall("c1", "Look", {}, after_block=0),), 2),
    ],
)
@pytest.mark.parametrize("is_known", [True, False])
def test_what_is_put_right_in_an_answer_takes_its_later_thinking_along(
    content: tuple[Block, ...], made: tuple[ToolCall, ...], n_kept: int, is_known: bool
) -> None:
    options = ProjectionOptions(model=READER)
    fingerprint = _asked((user("u"),), options) if is_known else None
    entry = MessageEntry(
        EntryId("a"),
        Message(Role.ASSISTANT, content, made),
        Origin.MODEL,
        Authority.DATA,
        request_fingerprint=fingerprint,
    )
    sent = project((user("u"), entry, *(result(call.id) for call in made), user("v")), options)
    assert _sealed(sent.messages[1]) == list(_SEALS[:n_kept])


def test_open_reasoning_and_items_of_responses_are_bound_to_nothing() -> None:
    for block in (
        ReasoningBlock("open", model=READER),
        ReasoningBlock("", data="encrypted", item_id="rs_1", model=READER),
    ):
        entry = replace(
            _thought(1, "of another request"), message=Message(Role.ASSISTANT, (block, TextBlock("t")))
        )
        projection = project((user("u"), entry))
        assert projection.messages[1] is entry.message
        assert projection.repaired == ()


def test_redacted_thinking_is_bound_as_well() -> None:
    block = ReasoningBlock("", data="redacted", model=READER)
    entry = replace(
        _thought(1, "of another request"), message=Message(Role.ASSISTANT, (block, TextBlock("t")))
    )
    projection = project((user("u"), entry))
    assert projection.messages[1].content == (TextBlock("t"),)
    assert projection.repaired == (Repair(RepairRule.UNBOUND_REASONING, 1),)


def test_what_was_thought_behind_a_change_stays_out_until_the_change_is_undone() -> None:
    first = (user("one"),)
    thought = _thought(1, _asked(first))
    second = (user("two"), thought, user("v"))
    later = _thought(2, _asked(second))
    changed = project((*second, later))
    assert [len(_sealed(message)) for message in changed.messages] == [0, 0, 0, 1]
    undone = project((*first, thought, user("v"), later))
    assert [len(_sealed(message)) for message in undone.messages] == [0, 1, 0, 0]


def test_a_call_keeps_its_place_when_the_thinking_before_it_goes() -> None:
    seal = ReasoningBlock("t", signature="s")
    message = Message(
        Role.ASSISTANT,
        (seal, TextBlock("a"), seal, TextBlock("b")),
        (ToolCall("c1", "Look", {}, after_block=2), ToolCall("c2", "Look", {})),
    )
    entry = replace(_thought(1, "of another request"), message=message)
    sent = project((user("u"), entry, result("c1"), result("c2"))).messages[1]
    assert sent.content == (TextBlock("a"), TextBlock("b"))
    assert [call.after_block for call in sent.tool_calls] == [1, None]


def test_an_answer_of_thinking_and_calls_keeps_its_calls() -> None:
    message = Message(Role.ASSISTANT, (ReasoningBlock("t", signature="s"),), (ToolCall("c1", "Look", {}),))
    entry = replace(_thought(1, "of another request"), message=message)
    sent = project((user("u"), entry, result("c1"))).messages[1]
    assert sent.content is None
    assert [call.id for call in sent.tool_calls] == ["c1"]


@pytest.mark.parametrize(
    "other",
    [
        Message(Role.SYSTEM, "u"),
        Message(Role.USER, "U"),
        Message(Role.USER, (TextBlock("u"),)),
        Message(Role.USER, (TextBlock("u"), TextBlock(""))),
        Message(Role.ASSISTANT, "u", (ToolCall("c", "Look", {}),)),
        Message(Role.ASSISTANT, "u", (ToolCall("c", "Look", {"a": 1}),)),
        Message(Role.ASSISTANT, "u", (ToolCall("c", "Look", {"a": 1.0}),)),
        Message(Role.ASSISTANT, "u", (ToolCall("c", "Look", {"a": True}),)),
        Message(Role.ASSISTANT, "u", (ToolCall("c", "Look", {}, after_block=0),)),
        Message(Role.TOOL, "u", tool_call_id="c"),
        Message(Role.TOOL, "u", tool_call_id="d"),
        Message(Role.TOOL, "u", tool_call_id="d", is_error=True),
    ],
)
def test_a_fingerprint_tells_any_two_requests_apart(other: Message) -> None:
    fingerprints = {_fingerprint(message) for message in (Message(Role.USER, "u"), other)}
    assert len(fingerprints) == 2


def _fingerprint(*messages: Message) -> str:
    trace = Trace()
    trace.take(messages)
    return trace.fingerprint()


def test_a_fingerprint_is_the_same_in_every_process() -> None:
    """It stands in logs: a change here makes all thinking in them stay out."""
    trace = Trace(_TOOLS[0])
    trace.take([Message(Role.USER, "u"), calls("c1").message, result("c1", "größer 😀").message])
    assert trace.fingerprint() == "b0555968ad03e00ad951c03a26178e25"


def test_every_member_of_every_block_is_in_a_fingerprint_and_stays_there() -> None:
    blocks = (
        TextBlock("a"),
        ReasoningBlock("h", signature="s", data="d", item_id="rs_1", model="m"),
        ImageBlock("image/png", "data:image/png;base64,AA"),
        FileBlock("text/plain", text="t", data_url="data:text/plain;base64,AA", name="n"),
    )
    assert _fingerprint(Message(Role.ASSISTANT, blocks)) == "6f3b85e4a7f36652beb720e178d4433f"
    assert (
        _fingerprint(Message(Role.TOOL, blocks, tool_call_id="c", is_error=True))
        == "8a80fbd9f70b50bfb9ad0caafed7e5a8"
    )


def test_a_cache_mark_is_no_part_of_a_fingerprint() -> None:
    options = ProjectionOptions(apply_cache_control=True)
    entries = (user("u"),)
    assert _asked(entries, options) == _asked(entries)
    assert _asked(entries, replace(options, tools=_TOOLS[0])) != _asked(entries)


def test_a_change_is_one_for_imported_thinking_whenever_it_is_found() -> None:
    """The second loses its thinking or an item only when the first was looked at already."""
    other = _thought(2, "of another request")
    entries = (user("u"), _thought(1, None), user("v"), other, user("w"), _thought(3, None), user("x"))
    assert [repair.entry for repair in project(entries).repaired] == [3, 5]
    item = ReasoningBlock("", data="d", item_id="rs_1")
    first = _answered(None, item, _SEALS[0], TextBlock("a"))
    again = _answered(None, item, TextBlock("b"))
    last = _answered(None, _SEALS[1], TextBlock("c"))
    entries = (user("u"), first, user("v"), again, user("w"), last, user("x"))
    told = [(repair.rule, repair.entry) for repair in project(entries).repaired]
    assert told == [(RepairRule.REPEATED_REASONING, 3), (RepairRule.UNBOUND_REASONING, 5)]
    projector = Projector()
    for n_entries in range(1, len(entries) + 1):
        assert projector.project(entries[:n_entries], _PLAIN) == project(entries[:n_entries])


def _answered(fingerprint: str | None, *blocks: Block) -> MessageEntry:
    message = Message(Role.ASSISTANT, blocks)
    return MessageEntry(EntryId("a"), message, Origin.MODEL, Authority.DATA, request_fingerprint=fingerprint)


@pytest.mark.parametrize(
    "lost",
    [
        ReasoningBlock("half \ud83d", signature="s"),
        ReasoningBlock("h", signature="half \ud83d"),
        ReasoningBlock("", data="half \ud83d"),
        ReasoningBlock("h", signature=""),
    ],
)
def test_thinking_that_cannot_be_sent_takes_what_is_behind_it_along(lost: ReasoningBlock) -> None:
    options = ProjectionOptions(model=READER)
    entry = _answered(_asked((user("u"),), options), lost, _SEALS[0], TextBlock("a"))
    assert project((user("u"), entry, user("v")), options).messages[1].content == (TextBlock("a"),)


@pytest.mark.parametrize("sees_images", [True, False])
@pytest.mark.parametrize("is_file", [True, False])
def test_thinking_is_bound_to_what_a_model_sees_of_a_picture(sees_images: bool, is_file: bool) -> None:
    def shown(*data: str) -> MessageEntry:
        urls = [f"data:image/png;base64,{letters}" for letters in data]
        files = (FileBlock("image/png", data_url=url) for url in urls)
        pictures = (ImageBlock("image/png", url) for url in urls)
        return user((TextBlock("look"), *(files if is_file else pictures)))

    options = ProjectionOptions(sees_images=sees_images)
    entry = _answered(_asked((shown("AA"),), options), _SEALS[0], TextBlock("a"))
    same = project((shown("AA"), entry), options)
    assert len(_sealed(same.messages[1])) == 1
    other = project((shown("BB"), entry), options)
    assert len(_sealed(other.messages[1])) == (0 if sees_images else 1)
    more = project((shown("AA", "AA"), entry), options)
    assert len(_sealed(more.messages[1])) == 0
    seen_otherwise = project((shown("AA"), entry), replace(options, sees_images=not sees_images))
    assert len(_sealed(seen_otherwise.messages[1])) == 0


def test_a_model_is_taken_to_see_pictures_unless_it_is_said_that_it_does_not() -> None:
    assert Trace().fingerprint() == Trace.of(ProjectionOptions()).fingerprint()
    picture = Message(Role.USER, (ImageBlock("image/png", "data:image/png;base64,AA"),))
    seen, unseen = Trace.of(ProjectionOptions()), Trace.of(ProjectionOptions(sees_images=False))
    for trace in (seen, unseen):
        trace.take([picture])
    assert seen.fingerprint() != unseen.fingerprint()
