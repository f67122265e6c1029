"""What stage 5 makes of damaged histories, and what it says about it."""

from dataclasses import replace

import pytest

from actors.history import Entry, ResultStatus
from actors.projection import Projection, ProjectionOptions, RepairRule, project
from providers.model import Content, FileBlock, ImageBlock, Message, ReasoningBlock, Role, TextBlock, ToolCall
from tests.actors.projection.entries import answer, calls, reminder, result, said, user


def _told(projection: Projection) -> list[tuple[str, int]]:
    return [(repair.rule.value, repair.entry) for repair in projection.repaired]


def _order(projection: Projection) -> list[tuple[int, ...]]:
    return list(projection.sources)


def _first_result(*entries: Entry, options: ProjectionOptions) -> Message:
    return next(m for m in project(entries, options).messages if m.role is Role.TOOL)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (None, "may or may not"),
        (ResultStatus.NOT_STARTED, "not started"),
        (ResultStatus.INTERRUPTED, "interrupted"),
        (ResultStatus.CANCELLED, "cancelled"),
    ],
)
def test_a_missing_result_says_what_the_log_knows(status: ResultStatus | None, words: str) -> None:
    options = ProjectionOptions(call_status={} if status is None else {"c1": status})
    made = _first_result(user("u"), calls("c1"), options=options)
    assert isinstance(made.content, str)
    assert words in made.content
    assert (made.tool_call_id, made.tool_name, made.is_error) == ("c1", "Read", True)


def test_what_stands_between_a_call_and_its_result_moves_behind() -> None:
    projection = project((user("u"), calls("c1", "c2"), user("v"), result("c2"), user("w"), result("c1")))
    assert _order(projection) == [(0,), (1,), (3,), (5,), (2,), (4,)]
    assert projection.moved == (2, 4)
    assert _told(projection) == [("moved_behind_results", 2), ("moved_behind_results", 4)]


def test_a_late_result_moves_to_its_call() -> None:
    projection = project((user("u"), calls("c1"), answer("a"), user("v"), result("c1")))
    assert _order(projection) == [(0,), (1,), (4,), (2,), (3,)]
    assert projection.moved == (4,)
    assert _told(projection) == [("result_moved", 4)]


def test_a_result_before_its_call_moves_to_it() -> None:
    projection = project((user("u"), result("c1"), calls("c1")))
    assert _order(projection) == [(0,), (2,), (1,)]
    assert _told(projection) == [("result_moved", 1)]


def test_a_result_without_a_call_is_dropped_and_counted() -> None:
    projection = project((user("u"), result("nobody"), result(None), answer("a")))
    assert _order(projection) == [(0,), (3,)]
    assert _told(projection) == [("result_without_call", 1), ("result_without_call", 2)]


def test_of_two_results_the_first_stays() -> None:
    projection = project((user("u"), calls("c1"), result("c1", "first"), result("c1", "second")))
    assert [m.content for m in projection.messages if m.role is Role.TOOL] == ["first"]
    assert _told(projection) == [("result_duplicate", 3)]


def test_a_call_id_used_twice_gets_a_fresh_one_with_its_result() -> None:
    projection = project(
        (
            user("u"),
            calls("c1"),
            result("c1", "one"),
            calls("c1", "c1_2"),
            result("c1", "two"),
            result("c1_2"),
        )
    )
    ids = [call.id for message in projection.messages for call in message.tool_calls]
    results = [(m.tool_call_id, m.content) for m in projection.messages if m.role is Role.TOOL]
    assert ids == ["c1", "c1_2", "c1_2_2"]
    assert results == [("c1", "one"), ("c1_2", "two"), ("c1_2_2", "found")]


def test_an_unanswered_call_does_not_take_the_result_of_a_later_one_with_its_id() -> None:
    projection = project((user("u"), calls("c1"), user("v"), calls("c1"), result("c1", "mine")))
    by_id = {m.tool_call_id: m.content for m in projection.messages if m.role is Role.TOOL}
    assert by_id["c1_2"] == "mine"
    assert "may or may not" in str(by_id["c1"])


def test_empty_things_go_and_an_empty_result_gets_a_placeholder() -> None:
    projection = project(
        (
            user(""),
            user((TextBlock(""), TextBlock("u"))),
            calls("c1", content=""),
            result("c1", ""),
            answer(()),
            answer("  "),
        )
    )
    assert [m.content for m in projection.messages] == [
        (TextBlock("u"),),
        None,
        "(the tool returned nothing)",
    ]
    assert {rule for rule, _ in _told(projection)} == {"empty_message", "empty_text", "empty_result"}
    assert projection.latest_real_user_index == 0


def test_reasoning_of_another_model_is_dropped_and_reported() -> None:
    mine = ReasoningBlock("h", signature="s", model="m")
    other = ReasoningBlock("h", signature="s", model="n")
    entries = (user("u"), answer((other, mine, TextBlock("a"))))
    assert project(entries, ProjectionOptions()).messages[1] is entries[1].message
    projection = project(entries, ProjectionOptions(model="m"))
    assert projection.messages[1].content == (mine, TextBlock("a"))
    assert _told(projection) == [("foreign_reasoning", 1)]


def test_an_answer_of_thoughts_alone_is_left_out() -> None:
    projection = project((user("u"), answer((ReasoningBlock("h", signature="s"),)), user("v")))
    assert [m.content for m in projection.messages] == ["u", "v"]
    assert ("lone_reasoning", 1) in _told(projection)


def test_thoughts_before_a_call_stay() -> None:
    entries = (user("u"), calls("c1", content=(ReasoningBlock("h", signature="s"),)), result("c1"))
    assert project(entries).messages[1] is entries[1].message


def test_calls_stay_behind_the_blocks_that_they_stood_behind() -> None:
    blocks = (TextBlock(""), TextBlock("a"), ReasoningBlock("h", model="n"), TextBlock("b"))
    made = (ToolCall("c1", "Read", {}, after_block=3), ToolCall("c2", "Read", {}, after_block=2))
    entry = said(Role.ASSISTANT, None)
    message = Message(Role.ASSISTANT, blocks, made)
    entries = (user("u"), type(entry)(entry.id, message, entry.origin, entry.authority))
    projected = project(entries, ProjectionOptions(model="m")).messages[1]
    assert projected.content == (TextBlock("a"), TextBlock("b"))
    assert [call.after_block for call in projected.tool_calls] == [1, 1]


def test_what_a_role_may_not_hold_is_said_in_words() -> None:
    picture = ImageBlock("image/png", "data:image/png;base64,AA")
    projection = project((user("u"), answer((picture, FileBlock("text/plain", text="in the file")))))
    assert projection.messages[1].content == (TextBlock("[an image was here]"), TextBlock("in the file"))
    assert _told(projection) == [("block_kind", 1)]


def test_an_attachment_without_data_is_told_of_in_words() -> None:
    elsewhere = ImageBlock("image/png", "https://example.com/x.png")
    empty = FileBlock("application/pdf", name="a.pdf")
    text = FileBlock("text/plain", text="")
    projection = project((user((elsewhere, empty, text)), answer("ok")))
    assert projection.messages[0].content == (
        TextBlock("[an image was here]"),
        TextBlock("[a file was here: a.pdf]"),
        text,
    )
    assert _told(projection) == [("attachment", 0)]


@pytest.mark.parametrize(
    "url",
    [
        "data:image/png;base64,",
        "data:;base64,AA",
        "data:image/png,AA",
        "data:image/png;base64,A A",
        "data:imäge/png;base64,AA",
    ],
)
def test_data_in_another_form_is_none(url: str) -> None:
    assert _told(project((user((ImageBlock("image/png", url),)),))) == [("attachment", 0)]


@pytest.mark.parametrize(("text", "name"), [("a \ud83d", "b \ud83d"), ("a", "b \ud83d"), ("a \ud83d", "b")])
def test_a_file_keeps_its_form_when_its_characters_cannot_be_sent(text: str, name: str) -> None:
    projection = project((user((FileBlock("text/plain", text=text, name=name),)),))
    sent = FileBlock(
        "text/plain", text=text.replace("\ud83d", "\ufffd"), name=name.replace("\ud83d", "\ufffd")
    )
    assert projection.messages[0].content == (sent,)
    assert _told(projection) == [("unicode", 0)]


@pytest.mark.parametrize(
    ("block", "rule"),
    [
        (ReasoningBlock("h", signature=""), "empty_signature"),
        (ReasoningBlock("\ud83d", signature="s"), "unicode"),
        (ReasoningBlock("\ud83d"), "unicode"),
    ],
)
def test_reasoning_that_cannot_be_sent_as_it_is_stays_out(block: ReasoningBlock, rule: str) -> None:
    projection = project((user("u"), answer((block, TextBlock("a")))))
    assert projection.messages[1].content == (TextBlock("a"),)
    assert _told(projection) == [(rule, 1)]


def test_a_reasoning_item_goes_out_once() -> None:
    item = ReasoningBlock("", data="d", item_id="rs_1")
    entries = (
        user("u"),
        answer((item, TextBlock("a"))),
        user("v"),
        answer((item, TextBlock("b"))),
        user("w"),
    )
    projection = project(entries)
    assert [m.content for m in projection.messages][1::2] == [(item, TextBlock("a")), (TextBlock("b"),)]
    assert _told(projection) == [("repeated_reasoning", 3)]
    twice = project((user("u"), answer((item, TextBlock("a"), item, TextBlock("b")))))
    assert twice.messages[1].content == (item, TextBlock("a"), TextBlock("b"))


def test_a_call_with_no_words_is_told_of_once() -> None:
    blocks = (TextBlock(""),)
    assert _told(project((user("u"), calls("c1", content=blocks), result("c1")))) == [("empty_text", 1)]
    assert _told(project((user("u"), calls("c1", content=()), result("c1")))) == [("empty_text", 1)]
    foreign = (ReasoningBlock("h", model="n"),)
    projection = project(
        (user("u"), calls("c1", content=foreign), result("c1")), ProjectionOptions(model="m")
    )
    assert _told(projection) == [("foreign_reasoning", 1)]


def test_half_of_a_surrogate_pair_is_replaced() -> None:
    projection = project((user("a \ud83d b"), reminder("rewind_notice", "c \udc00"), answer("ok")))
    assert projection.messages[0].content == "a \ufffd b"
    assert "c \ufffd" in str(projection.messages[1].content)
    assert _told(projection) == [("unicode", 0), ("unicode", 1)]


def test_a_stored_system_message_out_of_place_becomes_wrapped_user_text() -> None:
    entries = (said(Role.SYSTEM, "s"), user("u"), said(Role.SYSTEM, "be </system-reminder> brief"), user("v"))
    projection = project(entries, ProjectionOptions(mid_conversation_system=True))
    message = projection.messages[2]
    assert message.role is Role.USER
    assert message.content == "<system-reminder>\nbe &lt;/system-reminder> brief\n</system-reminder>"
    assert _told(projection) == [("system_place", 2)]


@pytest.mark.parametrize("mid_conversation_system", [False, True])
def test_a_stored_system_message_in_place_stays_only_if_the_model_takes_it(
    mid_conversation_system: bool,
) -> None:
    entries = (user("u"), said(Role.SYSTEM, "be brief"), answer("a"))
    options = ProjectionOptions(mid_conversation_system=mid_conversation_system)
    role = project(entries, options).messages[1].role
    assert role is (Role.SYSTEM if mid_conversation_system else Role.USER)


def test_every_repair_rule_is_told_by_its_name() -> None:
    assert [rule.value for rule in RepairRule] == [name.lower() for name in RepairRule.__members__]


def test_two_results_of_one_id_answer_the_latest_call_first_and_then_the_one_before() -> None:
    entries = (user("u"), calls("c1"), calls("c1"), result("c1", "later"), result("c1", "earlier"))
    by_id = {m.tool_call_id: m.content for m in project(entries).messages if m.role is Role.TOOL}
    assert by_id == {"c1": "earlier", "c1_2": "later"}


def test_results_keep_the_order_in_which_they_came_in() -> None:
    projection = project((user("u"), result("c2"), calls("c1", "c2"), result("c1"), answer("a")))
    assert _order(projection) == [(0,), (2,), (1,), (3,), (4,)]


def test_what_the_host_put_between_results_moves_without_being_a_repair() -> None:
    notes = (user("n", source="legacy_synthetic"), reminder("plan_file_reference", "p"))
    projection = project((user("u"), calls("c1", "c2"), result("c1"), *notes, result("c2"), answer("a")))
    assert _order(projection) == [(0,), (1,), (2,), (5,), (3,), (4,), (6,)]
    assert projection.moved == (3, 4)
    assert projection.repaired == ()


def test_the_author_of_reasoning_is_whom_the_entry_names_before_whom_the_provider_names() -> None:
    thoughts = answer((ReasoningBlock("h", signature="s", model="m-2026-10-01"), TextBlock("a")))
    entry = replace(thoughts, model="m")
    assert project((user("u"), entry), ProjectionOptions(model="m")).messages[1] is entry.message
    projection = project((user("u"), entry), ProjectionOptions(model="m-2026-10-01"))
    assert projection.messages[1].content == (TextBlock("a"),)


def test_a_second_result_does_not_wait_for_a_later_call_of_its_id() -> None:
    entries = (user("u"), calls("c1"), result("c1", "first"), result("c1", "second"), user("v"), calls("c1"))
    projection = project(entries)
    assert [m.tool_call_id for m in projection.messages if m.content == "first"] == ["c1"]
    assert [m.content for m in projection.messages if m.content == "second"] == []
    assert _told(projection) == [("result_duplicate", 3), ("call_id_reused", 5), ("result_missing", 5)]


def test_of_two_results_before_their_call_the_second_is_one_too_many() -> None:
    projection = project((user("u"), result("c1", "first"), result("c1", "second"), calls("c1")))
    assert _order(projection) == [(0,), (3,), (1,)]
    assert _told(projection) == [("result_moved", 1), ("result_duplicate", 2)]


@pytest.mark.parametrize(
    ("entries", "told"),
    [
        (
            (
                result("c4"),
                calls("c1", "c2", "c3", "c4"),
                user("v"),
                result("c1"),
                result("c2"),
                result("c3"),
            ),
            [("result_moved", 1), ("moved_behind_results", 3)],
        ),
        (
            (calls("c1", "c2", "c3", "c4"), result("c1"), user("v"), result("c4")),
            [("result_missing", 1), ("result_missing", 1), ("moved_behind_results", 3)],
        ),
    ],
)
def test_what_moves_is_told_though_some_results_are_in_place(
    entries: tuple[Entry, ...], told: list[tuple[str, int]]
) -> None:
    assert _told(project((user("u"), *entries))) == told


def test_a_call_without_an_id_gets_one() -> None:
    projection = project((user("u"), calls("", ""), result("", "one"), result("", "two")))
    assert [call.id for call in projection.messages[1].tool_calls] == ["call_2", "call_3"]
    assert [m.tool_call_id for m in projection.messages[2:]] == ["call_2", "call_3"]


def test_a_system_message_has_its_place_behind_a_result_that_was_made_up() -> None:
    entries = (user("u"), calls("c1"), said(Role.SYSTEM, "be brief"))
    messages = project(entries, ProjectionOptions(mid_conversation_system=True)).messages
    assert [message.role for message in messages[2:]] == [Role.TOOL, Role.SYSTEM]


def test_an_answer_of_one_item_that_went_out_before_keeps_its_call() -> None:
    item = ReasoningBlock("", data="d", item_id="rs_1")
    entries = (
        user("u"),
        answer((item, TextBlock("a"))),
        user("v"),
        calls("c1", content=(item,)),
        result("c1"),
    )
    sent = project(entries).messages[3]
    assert (sent.content, [call.id for call in sent.tool_calls]) == (None, ["c1"])


def test_a_reminder_whose_place_is_gone_is_no_repair() -> None:
    entries = (user("u"), reminder("date_change", "today"), answer("  "), user("v"))
    projection = project(entries, ProjectionOptions(mid_conversation_system=True))
    assert [m.role for m in projection.messages] == [Role.USER] * 3
    assert _told(projection) == [("empty_message", 2)]


def test_the_blocks_of_a_system_message_out_of_place_are_paragraphs() -> None:
    blocks = (TextBlock("be brief"), TextBlock("be kind"))
    projection = project((user("u"), said(Role.SYSTEM, blocks), user("v")))
    assert projection.messages[1].content == "<system-reminder>\nbe brief\n\nbe kind\n</system-reminder>"


@pytest.mark.parametrize("content", [None, "", " ", (), (TextBlock(""),)])
@pytest.mark.parametrize("role", [Role.SYSTEM, Role.USER])
def test_calls_of_others_than_the_model_do_not_keep_an_empty_message(role: Role, content: Content) -> None:
    entry = said(role, None)
    stray = replace(entry, message=Message(role, content, (ToolCall("c1", "Read", {}),)))
    projection = project((user("u"), answer("a"), stray))
    assert [m.content for m in projection.messages] == ["u", "a"]
    assert {("block_kind", 2), ("empty_message", 2)} <= set(_told(projection))


@pytest.mark.parametrize("content", [None, "", "found"])
def test_a_result_makes_no_calls(content: Content) -> None:
    entry = result("c1")
    stray = replace(
        entry, message=replace(entry.message, content=content, tool_calls=calls("c2").message.tool_calls)
    )
    projection = project((user("u"), calls("c1"), stray))
    sent = projection.messages[2]
    assert (sent.content, sent.tool_calls) == (content or "(the tool returned nothing)", ())
    assert ("block_kind", 2) in _told(projection)


def test_a_call_behind_blocks_that_go_stands_at_the_beginning() -> None:
    entry = calls("c1", content=(TextBlock(""),))
    made = replace(entry.message.tool_calls[0], after_block=1)
    entry = replace(entry, message=replace(entry.message, tool_calls=(made,)))
    assert project((user("u"), entry)).messages[1].tool_calls[0].after_block == 0


def test_arguments_become_an_object_beside_words_and_other_calls() -> None:
    entry = calls("c1", "c2")
    first, second = entry.message.tool_calls
    made = (first, replace(second, input=["x"]))
    entry = replace(entry, message=replace(entry.message, tool_calls=made))
    projection = project((user("u"), entry, result("c1"), result("c2")))
    assert projection.messages[1].tool_calls == (first, replace(second, input={"value": ["x"]}))
    assert _told(projection) == [("arguments", 1)]


def test_one_body_of_a_system_message_may_need_another_character() -> None:
    entries = (user("u"), reminder("date_change", "a"), reminder("hook_context", "b \ud83d"))
    projection = project(entries, ProjectionOptions(mid_conversation_system=True))
    assert projection.messages[1] == Message(Role.SYSTEM, "a\n\nb \ufffd")
    assert _told(projection) == [("unicode", 1), ("unicode", 2)]


def test_thoughts_at_the_end_of_an_answer_go_and_its_words_stay() -> None:
    blocks = (TextBlock("a"), ReasoningBlock("h", signature="s"), TextBlock(""))
    projection = project((user("u"), answer(blocks)))
    assert projection.messages[1].content == (TextBlock("a"),)
    assert _told(projection) == [("empty_text", 1), ("lone_reasoning", 1)]


@pytest.mark.parametrize(("after_block", "stays"), [(None, True), (2, True), (1, False), (0, False)])
def test_thoughts_stay_where_a_call_stands_behind_them(after_block: int | None, stays: bool) -> None:
    thoughts = ReasoningBlock("h", signature="s")
    entry = calls("c1", content=(TextBlock("a"), thoughts))
    call = replace(entry.message.tool_calls[0], after_block=after_block)
    entry = replace(entry, message=replace(entry.message, tool_calls=(call,)))
    sent = project((user("u"), entry, result("c1"))).messages[1]
    assert sent.content == ((TextBlock("a"), thoughts) if stays else (TextBlock("a"),))


def test_a_file_without_a_name_keeps_its_form() -> None:
    projection = project((user((FileBlock("text/plain", text="a \ud83d"),)),))
    assert projection.messages[0].content == (FileBlock("text/plain", text="a \ufffd"),)


def test_what_was_put_right_in_one_message_is_told_in_the_same_order_everywhere() -> None:
    picture = ImageBlock("image/png", "data:image/png;base64,AA")
    blocks = (
        TextBlock("\ud83d"),
        ReasoningBlock("h", model="n"),
        ReasoningBlock("h", signature=""),
        TextBlock(""),
        picture,
        ReasoningBlock("h"),
    )
    projection = project((user("u"), answer(blocks)), ProjectionOptions(model="m"))
    rules = ["block_kind", "empty_signature", "empty_text", "foreign_reasoning", "lone_reasoning", "unicode"]
    assert _told(projection) == [(rule, 1) for rule in rules]


@pytest.mark.parametrize(
    ("thoughts", "content", "rule"),
    [
        (ReasoningBlock("h", signature="s"), (TextBlock("h"), TextBlock("u")), "block_kind"),
        (ReasoningBlock("", data="d"), (TextBlock("u"),), "empty_text"),
    ],
)
def test_thoughts_in_a_message_of_the_user_are_words_or_nothing(
    thoughts: ReasoningBlock, content: Content, rule: str
) -> None:
    projection = project((user((thoughts, TextBlock("u"))),))
    assert projection.messages[0].content == content
    assert _told(projection) == [(rule, 0)]


def test_reasoning_whose_author_nobody_names_stays() -> None:
    entries = (user("u"), answer((ReasoningBlock("h", signature="s"), TextBlock("a"))))
    assert project(entries, ProjectionOptions(model="m")).messages[1] is entries[1].message


def test_a_call_without_content_is_as_it_should_be() -> None:
    entries = (user("u"), calls("c1", content=None), result("c1"))
    assert project(entries).messages[1] is entries[1].message
    assert _told(project(entries)) == []


def test_a_reminder_of_other_blanks_is_wrapped_and_one_empty_body_takes_no_other_along() -> None:
    assert len(project((user("u"), reminder("rewind_notice", "\u3000"))).messages) == 2
    entries = (user("u"), reminder("date_change", ""), reminder("hook_context", "é"))
    messages = project(entries, ProjectionOptions(mid_conversation_system=True)).messages
    assert messages[1] == Message(Role.SYSTEM, "\n\né")
