"""Sealed thinking comes back behind exactly what it stood behind, or the scripted provider refuses it."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from providers.errors import IllegalRequest, StreamBroken
from providers.model import (
    Answered,
    Block,
    CacheMark,
    Dialect,
    Message,
    ReasoningBlock,
    Request,
    Role,
    TextBlock,
    ToolSpec,
)
from providers.scripted import Answer, ScriptedProvider, always, call, fail, say, think

READ = ToolSpec("Read", "Reads.", {"type": "object"})
THOUGHT: Answer = [think("Hm."), say("One."), think("Aha."), call("Read")]


def user(text: str) -> Message:
    return Message(Role.USER, text)


def start(model: str = "m1", text: str = "Go.") -> Request:
    system = Message(Role.SYSTEM, "You help.", cache=CacheMark("1h"))
    return Request(model, (system, user(text)), tools=(READ,))


async def answer_of(provider: ScriptedProvider, request: Request) -> Message:
    async with provider.stream(request) as stream:
        last = [event async for event in stream][-1]
    assert isinstance(last, Answered)
    return last.message


def behind(request: Request, *messages: Message) -> Request:
    return replace(request, messages=(*request.messages, *messages))


def results(answer: Message) -> list[Message]:
    return [
        Message(Role.TOOL, "text", tool_call_id=made.id, tool_name=made.name) for made in answer.tool_calls
    ]


async def three_steps(provider: ScriptedProvider, text: str = "Go.") -> Request:
    """What would be sent next, behind two answers with thinking: system, user, answer, result, twice."""
    request = start(text=text)
    for _ in range(2):
        answer = await answer_of(provider, request)
        request = behind(request, answer, *results(answer))
    return request


def changed(request: Request, at: int, message: Message | None) -> Request:
    kept = () if message is None else (message,)
    return replace(request, messages=(*request.messages[:at], *kept, *request.messages[at + 1 :]))


def with_blocks(message: Message, change: Callable[[tuple[Block, ...]], tuple[Block, ...]]) -> Message:
    assert isinstance(message.content, tuple)
    return replace(message, content=change(message.content))


async def test_thinking_behind_what_it_stood_behind_is_taken() -> None:
    provider = ScriptedProvider(always(THOUGHT))
    await answer_of(provider, await three_steps(provider))
    assert len(provider.requests) == 3


async def test_cache_marks_and_the_form_of_a_plain_text_do_not_matter() -> None:
    provider = ScriptedProvider(always(THOUGHT))
    request = await three_steps(provider)
    request = changed(request, 0, replace(request.messages[0], cache=None))
    request = changed(request, 1, replace(user("Go."), content=(TextBlock("Go."),), cache=CacheMark()))
    await answer_of(provider, request)


@pytest.mark.parametrize(
    ("at", "message", "place", "different"),
    [
        (0, Message(Role.SYSTEM, "You help!"), 2, "message 0 is not what it was"),
        (1, user("Go!"), 2, "message 1 is not what it was"),
        (0, None, 1, "message 0 is not what it was"),
        (
            3,
            Message(Role.TOOL, "other", tool_call_id="call-1-1", tool_name="Read"),
            4,
            "message 3 is not what",
        ),
    ],
)
async def test_thinking_behind_something_else_is_refused(
    at: int, message: Message | None, place: int, different: str
) -> None:
    provider = ScriptedProvider(always(THOUGHT))
    request = changed(await three_steps(provider), at, message)
    with pytest.raises(
        IllegalRequest, match=f"anthropic: the thinking in block 0 of message {place} .*{different}"
    ):
        await answer_of(provider, request)


async def test_a_message_put_in_before_thinking_is_named() -> None:
    provider = ScriptedProvider(always(THOUGHT))
    request = await three_steps(provider)
    more = (*request.messages[:2], user("And."), *request.messages[2:])
    with pytest.raises(IllegalRequest, match="message 3 is not valid here: message 2 was put in"):
        await answer_of(provider, replace(request, messages=more))


async def test_a_message_left_out_right_before_thinking_is_named() -> None:
    provider = ScriptedProvider(always([think("Hm."), say("Yes.")]))
    request = behind(start(), user("More."))
    answer = await answer_of(provider, request)
    without = Request("m1", (*request.messages[:2], answer, user("So?")), tools=(READ,))
    with pytest.raises(IllegalRequest, match="message 2 was there when it was thought and is missing"):
        await answer_of(provider, without)


async def test_what_comes_behind_thinking_may_change() -> None:
    provider = ScriptedProvider(always([think("Hm."), say("Yes.")]))
    answer = await answer_of(provider, start())
    for text in ("And?", "So?"):
        await answer_of(provider, behind(start(), answer, user(text)))


async def test_tools_with_keys_in_another_order_make_thinking_invalid() -> None:
    straight = replace(READ, input_schema={"type": "object", "title": "T"})
    turned = replace(READ, input_schema={"title": "T", "type": "object"})
    assert turned == straight
    provider = ScriptedProvider(always([think("Hm."), say("Yes.")]))
    request = replace(start(), tools=(straight,))
    answer = await answer_of(provider, request)
    later = behind(request, answer, user("And?"))
    await answer_of(provider, later)
    with pytest.raises(IllegalRequest, match="the tools are not those"):
        await answer_of(provider, replace(later, tools=(turned,)))


async def test_other_tools_make_thinking_invalid() -> None:
    provider = ScriptedProvider(always(THOUGHT))
    request = replace(await three_steps(provider), tools=(READ, replace(READ, name="Write")))
    with pytest.raises(IllegalRequest, match=r"message 2 .*the tools are not those"):
        await answer_of(provider, request)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda b: (replace(b[0], text="Hm!"), *b[1:]), "block 0 of message 4 .*its own text in message 4"),
        (lambda b: (replace(b[0], text=""), *b[1:]), "block 0 of message 4 .*its own text in message 4"),
        (lambda b: b[1:], "block 1 of message 4 .*what stood before it in message 4"),
        (
            lambda b: (b[0], TextBlock("Two."), b[2]),
            "block 2 of message 4 .*what stood before it in message 4",
        ),
        (lambda b: (b[2], b[1], b[0]), "block 0 of message 4 .*what stood before it in message 4"),
    ],
)
async def test_thinking_in_an_answer_that_was_changed_is_refused(
    change: Callable[[tuple[Block, ...]], tuple[Block, ...]], problem: str
) -> None:
    provider = ScriptedProvider(always(THOUGHT))
    request = await three_steps(provider)
    edited = with_blocks(request.messages[4], change)
    with pytest.raises(IllegalRequest, match=problem):
        await answer_of(provider, changed(request, 4, edited))


async def test_a_call_moved_before_a_thought_is_a_change() -> None:
    provider = ScriptedProvider(always(THOUGHT))
    request = await three_steps(provider)
    answer = request.messages[4]
    moved = replace(answer, tool_calls=(replace(answer.tool_calls[0], after_block=1),))
    with pytest.raises(IllegalRequest, match="block 2 of message 4"):
        await answer_of(provider, changed(request, 4, moved))


async def test_a_call_moved_behind_a_thought_is_a_change() -> None:
    provider = ScriptedProvider([[think("Hm."), call("Read"), think("Aha."), say("Two.")]])
    answer = await answer_of(provider, start())
    moved = replace(answer, tool_calls=(replace(answer.tool_calls[0], after_block=2),))
    with pytest.raises(IllegalRequest, match="block 1 of message 2"):
        await answer_of(provider, behind(start(), moved, *results(moved)))


async def test_earlier_thinking_that_was_left_out_is_a_change_for_what_comes_after() -> None:
    provider = ScriptedProvider(always(THOUGHT))
    request = await three_steps(provider)
    bare = with_blocks(request.messages[2], lambda blocks: (blocks[1],))
    with pytest.raises(IllegalRequest, match=r"block 0 of message 4 .*message 2 is not what it was"):
        await answer_of(provider, changed(request, 2, bare))


async def test_without_any_thinking_all_may_change() -> None:
    provider = ScriptedProvider(always(THOUGHT))
    request = await three_steps(provider)
    for at in (2, 4):
        request = changed(request, at, with_blocks(request.messages[at], lambda blocks: (blocks[1],)))
    await answer_of(provider, changed(request, 1, user("Go!")))


async def test_the_first_wrong_place_is_named_even_if_later_thinking_fits_nowhere() -> None:
    provider = ScriptedProvider(always(THOUGHT))
    request = changed(await three_steps(provider), 0, Message(Role.SYSTEM, "You."))
    with pytest.raises(IllegalRequest, match="of message 2 is not valid here: message 0"):
        await answer_of(provider, request)


async def test_thinking_of_another_provider_life_or_model_is_not_judged() -> None:
    thinking = always(THOUGHT)
    request = changed(await three_steps(ScriptedProvider(thinking)), 1, user("Go!"))
    other = ScriptedProvider(thinking)
    await three_steps(other, "Begin.")
    await answer_of(other, request)
    same = ScriptedProvider(thinking)
    request = changed(await three_steps(same), 1, user("Go!"))
    await answer_of(same, replace(request, model="m2"))


async def test_a_model_is_held_to_its_thinking_when_the_conversation_comes_back_to_it() -> None:
    provider = ScriptedProvider(always(THOUGHT))
    request = await three_steps(provider)
    elsewhere = changed(replace(request, model="m2"), 1, user("Go!"))
    answer = await answer_of(provider, elsewhere)
    back = behind(replace(elsewhere, model="m1"), answer, *results(answer))
    with pytest.raises(IllegalRequest, match="of message 2 is not valid here: message 1"):
        await answer_of(provider, back)


async def test_thinking_that_is_not_sealed_is_not_held_to_anything() -> None:
    provider = ScriptedProvider(always([think("Hm.", signature=None), say("Yes.")]))
    answer = await answer_of(provider, start())
    await answer_of(provider, Request("m1", (user("Else."), answer, user("And?"))))


async def test_only_anthropic_binds_thinking() -> None:
    provider = ScriptedProvider(always(THOUGHT), dialects=[Dialect.OPENAI_CHAT])
    await answer_of(provider, changed(await three_steps(provider), 1, user("Go!")))


async def test_a_refused_request_binds_nothing() -> None:
    provider = ScriptedProvider([THOUGHT, "Done."])
    answer = await answer_of(provider, start())
    valid = behind(start(), answer, *results(answer))
    with pytest.raises(IllegalRequest):
        await answer_of(provider, changed(valid, 1, user("Go!")))
    assert (await answer_of(provider, valid)).content == "Done."


def _signatures(answer: Message) -> list[str | None]:
    blocks = answer.content if isinstance(answer.content, tuple) else ()
    return [block.signature for block in blocks if isinstance(block, ReasoningBlock)]


async def test_every_thought_has_a_signature_of_its_own() -> None:
    one, other = ScriptedProvider(always(THOUGHT)), ScriptedProvider(always(THOUGHT))
    signatures = [
        signature
        for provider, request in ((one, start()), (one, start()), (other, start("m2")))
        for signature in _signatures(await answer_of(provider, request))
    ]
    assert len(set(signatures)) == 6


async def test_the_same_script_makes_the_same_signatures_again() -> None:
    again = [_signatures(await answer_of(ScriptedProvider(always(THOUGHT)), start())) for _ in range(2)]
    assert again[0] == again[1]


async def test_a_signature_used_twice_is_valid_in_both_places_and_no_third() -> None:
    provider = ScriptedProvider(always([think("Hm.", signature="s"), say("Yes.")]))
    first = await answer_of(provider, start())
    assert _signatures(first) == ["s"]
    request = behind(start(), first, user("And?"))
    second = await answer_of(provider, request)
    await answer_of(provider, behind(request, second, user("So?")))
    with pytest.raises(IllegalRequest, match="block 0 of message 2"):
        await answer_of(provider, Request("m1", (user("a"), user("b"), second, user("c")), tools=(READ,)))


async def test_an_answer_that_broke_off_seals_nothing() -> None:
    provider = ScriptedProvider([[think("Hm."), fail(StreamBroken("gone"))], "Done."])
    with pytest.raises(StreamBroken):
        await answer_of(provider, start())
    assert (await answer_of(provider, start())).content == "Done."
