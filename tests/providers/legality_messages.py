"""Cases of the rules on what the messages hold."""

from dataclasses import replace

from pydantic import JsonValue

from providers.model import (
    CacheMark,
    FileBlock,
    ImageBlock,
    Message,
    ReasoningBlock,
    Request,
    Role,
    TextBlock,
    ToolCall,
)
from tests.providers.legality_case import (
    ANTHROPIC,
    ITEM,
    OPENAI,
    PICTURE,
    PROFILE,
    RESPONSES,
    SEALED,
    Case,
    answer,
    asked,
    result,
    system,
    user,
)

TEXT = TextBlock("a")
CALL = ToolCall("c1", "Read", {})
CALLED = (user(), answer("a", "c1"), result("c1"))
NO_EYES = replace(PROFILE, images=False)


def _called(arguments: JsonValue) -> Request:
    return asked(user(), Message(Role.ASSISTANT, "a", (replace(CALL, input=arguments),)), result("c1"))


def _thought(*blocks: ReasoningBlock | TextBlock, calls: tuple[ToolCall, ...] = ()) -> Request:
    results = (result(call.id) for call in calls)
    return asked(user(), Message(Role.ASSISTANT, blocks, calls), *results, user())


def _attached(block: ImageBlock | FileBlock) -> Request:
    return asked(user((block,)))


PAIRING = {
    "no result": Case(
        "call_without_result", asked(user(), answer("a", "c1"), user()), asked(*CALLED, user())
    ),
    "no result at the end": Case(
        "call_without_result",
        asked(user(), answer("a", "c1")),
        asked(*CALLED),
        also=frozenset({"assistant_last"}),
    ),
    "one of two results": Case(
        "call_without_result",
        asked(user(), answer("a", "c1", "c2"), result("c1"), user()),
        asked(user(), answer("a", "c1", "c2"), result("c2"), result("c1"), user()),
    ),
    "a user between": Case(
        "call_without_result",
        asked(user(), answer("a", "c1"), user(), result("c1"), user()),
        asked(*CALLED, user(), user()),
        also=frozenset({"result_without_call"}),
    ),
    "an assistant between, not on Anthropic": Case(
        "call_without_result",
        asked(user(), answer("a", "c1"), answer("b"), result("c1"), user()),
        asked(*CALLED, answer("b"), user()),
        where=OPENAI,
        also=frozenset({"result_without_call"}),
    ),
    "a system message between": Case(
        "call_without_result",
        asked(user(), answer("a", "c1"), system(), result("c1"), user()),
        asked(*CALLED, system()),
        also=frozenset({"result_without_call", "system_place"}),
    ),
    "an orphan": Case("result_without_call", asked(user(), result("c1"), user()), asked(*CALLED, user())),
    "a result behind a user": Case(
        "result_without_call", asked(*CALLED, user(), result("c1")), asked(*CALLED, user())
    ),
    "two results": Case("result_twice", asked(*CALLED, result("c1")), asked(*CALLED)),
    "a result of nothing": Case("result_without_id", asked(user(), result(None)), asked(*CALLED)),
    "an id twice": Case(
        "call_id_twice",
        asked(*CALLED, answer("a", "c1"), result("c1")),
        asked(*CALLED, answer("a", "c2"), result("c2")),
    ),
    "an id twice in one": Case(
        "call_id_twice",
        asked(user(), answer("a", "c1", "c1"), result("c1")),
        asked(user(), answer("a", "c1", "c2"), result("c1"), result("c2")),
    ),
    "an empty id": Case("call_id_empty", asked(user(), answer("a", ""), result("")), asked(*CALLED)),
    "arguments of no object": Case("arguments", _called(["x"]), _called({"x": ["x"]})),
    "arguments without JSON": Case("arguments", _called({"x": [float("inf")]}), _called({"x": [1.5]})),
}

CONTENT = {
    "calls of a user": Case(
        "call_of_other_role", asked(Message(Role.USER, "u", (CALL,))), asked(*CALLED, user())
    ),
    "an assistant's image": Case(
        "block_of_other_role",
        asked(user(), answer((PICTURE, TEXT)), user()),
        asked(user((PICTURE,)), answer((TEXT,)), user()),
    ),
    "a system message's file": Case(
        "block_of_other_role",
        asked(Message(Role.SYSTEM, (TEXT, FileBlock("text/plain", text="f"))), user()),
        asked(Message(Role.SYSTEM, (TEXT,)), user((FileBlock("text/plain", text="f"),))),
    ),
    "a user's thoughts": Case(
        "block_of_other_role", asked(user((SEALED, TEXT))), asked(user(), answer((SEALED, TEXT)), user())
    ),
    "a picture that is elsewhere": Case(
        "attachment_form", _attached(ImageBlock("image/png", "https://example.com/a.png")), _attached(PICTURE)
    ),
    "a picture without base64": Case(
        "attachment_form", _attached(ImageBlock("image/png", "data:image/png,raw")), _attached(PICTURE)
    ),
    "a file of nothing": Case(
        "attachment_form",
        _attached(FileBlock("application/pdf", name="a.pdf")),
        _attached(FileBlock("application/pdf", data_url="data:application/pdf;base64,AA")),
    ),
    "an empty text": Case("empty_text", asked(user("")), asked(user("u")), ANTHROPIC),
    "an empty block": Case("empty_text", asked(user((TextBlock(""), TEXT))), asked(user((TEXT,))), ANTHROPIC),
    "blanks": Case("blank_text", asked(user(" \n")), asked(user(" \nu")), ANTHROPIC),
    "a block of blanks": Case(
        "blank_text", asked(user((TextBlock("\t"), TEXT))), asked(user((TEXT, TEXT))), ANTHROPIC
    ),
    "nothing": Case("empty_message", asked(user(), answer(None), user()), asked(*CALLED)),
    "no blocks": Case("empty_message", asked(user(())), asked(user((TEXT,)))),
    "half a pair": Case("unicode", asked(user("\ud83d")), asked(user("\U0001f600"))),
    "half a pair in a signature": Case(
        "unicode",
        _thought(ReasoningBlock("h", signature="\ud83d"), TEXT),
        _thought(ReasoningBlock("h", signature="s"), TEXT),
    ),
    "half a pair in a file's name": Case(
        "unicode",
        _attached(FileBlock("text/plain", text="x", name="\ud83d")),
        _attached(FileBlock("text/plain", text="x", name="x")),
    ),
    "half a pair in a call": Case("unicode", _called({"x": "\ud83d"}), _called({"x": "\U0001f600"})),
}

REASONING = {
    "thoughts alone": Case(
        "empty_message",
        _thought(replace(SEALED, signature=None)),
        _thought(replace(SEALED, signature=None), calls=(CALL,)),
    ),
    "thoughts at the end": Case("thinking_last", _thought(TEXT, SEALED), _thought(SEALED, TEXT), ANTHROPIC),
    "nothing but thoughts": Case(
        "thinking_last",
        _thought(SEALED),
        _thought(SEALED, TEXT),
        ANTHROPIC,
        also=frozenset({"empty_message"}),
    ),
    "thoughts behind the last call": Case(
        "thinking_last",
        _thought(TEXT, SEALED, calls=(replace(CALL, after_block=1),)),
        _thought(TEXT, SEALED, calls=(replace(CALL, after_block=2),)),
        ANTHROPIC,
    ),
    "thoughts before what is left out": Case(
        "thinking_last",
        _thought(TEXT, SEALED, ReasoningBlock("never sealed")),
        _thought(TEXT, ReasoningBlock("never sealed")),
        ANTHROPIC,
    ),
    "own thoughts at the end": Case(
        "thinking_last",
        _thought(TEXT, replace(SEALED, model="m")),
        _thought(TEXT, replace(SEALED, model="of another")),
        ANTHROPIC,
    ),
    "hidden thoughts at the end": Case(
        "thinking_last",
        _thought(TEXT, ReasoningBlock("", data="d")),
        _thought(ReasoningBlock("", data="d"), TEXT),
        ANTHROPIC,
    ),
    "an empty signature": Case(
        "thinking_signature", _thought(replace(SEALED, signature=""), TEXT), _thought(SEALED, TEXT), ANTHROPIC
    ),
    "an item at the end": Case("reasoning_last", _thought(TEXT, ITEM), _thought(ITEM, TEXT), RESPONSES),
    "an item without the call it led to": Case(
        "reasoning_last",
        _thought(TEXT, ITEM, calls=(replace(CALL, after_block=0),)),
        _thought(TEXT, ITEM, calls=(CALL,)),
        RESPONSES,
    ),
    "an item twice": Case(
        "reasoning_twice",
        asked(user(), answer((ITEM, TEXT)), user(), answer((ITEM, TEXT)), user()),
        asked(user(), answer((ITEM, TEXT)), user(), answer((replace(ITEM, item_id="rs_2"), TEXT)), user()),
        RESPONSES,
    ),
    "an item twice in one": Case(
        "reasoning_twice",
        _thought(ITEM, ITEM, TEXT),
        _thought(ITEM, replace(ITEM, data=None), TEXT),
        RESPONSES,
    ),
}

PLACES = {
    "a system before a user": Case(
        "system_place", asked(user(), system(), user()), asked(user(), system(), answer(), user()), ANTHROPIC
    ),
    "a system behind an answer": Case(
        "system_place",
        asked(user(), answer(), system(), answer(), user()),
        asked(*CALLED, system()),
        ANTHROPIC,
    ),
    "two systems": Case(
        "system_place",
        asked(user(), system(), system()),
        asked(system(), system(), user(), system()),
        ANTHROPIC,
    ),
    "a system in the middle": Case(
        "system_mid_conversation",
        asked(user(), system(), answer(), user()),
        asked(system(), user(), answer(), user()),
        profile=replace(PROFILE, mid_conversation_system=False),
    ),
    "five marks": Case(
        "cache_marks",
        asked(*(user(cache=CacheMark()) for _ in range(5))),
        asked(*(user(cache=CacheMark()) for _ in range(4)), user()),
        ANTHROPIC,
    ),
    "five marks, system messages too": Case(
        "cache_marks",
        asked(*(system(cache=CacheMark()) for _ in range(3)), *(user(cache=CacheMark()) for _ in range(2))),
        asked(*(system(cache=CacheMark()) for _ in range(3)), user(cache=CacheMark())),
        ANTHROPIC,
    ),
    "an hour behind": Case(
        "cache_ttl",
        asked(user(cache=CacheMark()), user(cache=CacheMark("1h"))),
        asked(user(cache=CacheMark("1h")), user(cache=CacheMark("5m")), user(cache=CacheMark())),
        ANTHROPIC,
    ),
    "a mark on thoughts": Case(
        "cache_mark_target",
        asked(user(), answer((SEALED,), cache=CacheMark()), user()),
        asked(user(), answer((SEALED, TEXT), cache=CacheMark()), user()),
        ANTHROPIC,
        also=frozenset({"empty_message", "thinking_last"}),
    ),
}

WITHOUT_EYES = (
    _attached(ImageBlock("image/png", "https://example.com/a.png")),
    _attached(FileBlock("application/pdf")),
)
