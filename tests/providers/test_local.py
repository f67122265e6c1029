from dataclasses import replace

import pytest

from providers.errors import ModelNotFound
from providers.local import local_answer, local_request
from providers.model import (
    Answered,
    Message,
    OutputSchema,
    Request,
    Role,
    StopReason,
    TextDelta,
    ToolChoice,
    ToolSpec,
    Usage,
)

MESSAGES = (Message(Role.USER, "Hello?"),)
SCHEMA = OutputSchema("record", {"type": "object"})


def test_a_text_is_short_and_a_record_longer_where_nothing_is_said() -> None:
    assert local_request(Request("smollm2-135m", MESSAGES)).max_output_tokens == 40
    assert local_request(Request("smollm2-135m", MESSAGES, output=SCHEMA)).max_output_tokens == 160


def test_a_limit_that_is_said_holds() -> None:
    asked = Request("smollm2-135m", MESSAGES, max_output_tokens=7, output=SCHEMA)
    assert local_request(asked).max_output_tokens == 7


def test_only_a_limit_that_somebody_set_can_cut_an_answer() -> None:
    cut = Answered(Message(Role.ASSISTANT, "A mailbox is a"), StopReason.MAX_TOKENS, Usage(), "id", "model")
    unlimited = Request("smollm2-135m", MESSAGES)
    ended = local_answer(unlimited, cut)
    assert isinstance(ended, Answered)
    assert ended.stop is StopReason.END_TURN
    assert local_answer(replace(unlimited, max_output_tokens=40), cut) is cut
    delta = TextDelta("A")
    assert local_answer(unlimited, delta) is delta


def test_no_tools_are_sent() -> None:
    tool = ToolSpec("Read", "Reads.", {"type": "object"})
    sent = local_request(Request("smollm2-135m", MESSAGES, tools=(tool,), tool_choice=ToolChoice.ANY))
    assert sent.tools == ()
    assert sent.tool_choice is ToolChoice.AUTO
    assert sent.messages == MESSAGES


def test_an_unknown_local_model_names_the_one_that_there_is() -> None:
    with pytest.raises(ModelNotFound, match=r"local:llama-70b; there is local:smollm2-135m"):
        local_request(Request("llama-70b", MESSAGES))
