"""Answers of a type, by the provider's own structured output and by a tool."""

from dataclasses import replace
from typing import Literal

import pytest
from pydantic import BaseModel, Field, JsonValue

from actors.agent import Agent
from actors.errors import ResultInvalid
from actors.results import SUBMIT_TOOL
from host.typed import ResultType
from providers.model import ModelProfile, Request
from providers.scripted import SCRIPTED_PROFILE, ScriptedProvider, call, record
from tests.host.hosts import scripted_host

BY_TOOL = replace(SCRIPTED_PROFILE, structured_output=False)


class Verdict(BaseModel):
    """What a reviewer thinks."""

    grade: Literal["good", "bad"]
    lines: tuple[int, ...] = Field(max_length=3)


def sent(provider: ScriptedProvider, n: int) -> Request:
    return provider.requests[n]


async def test_a_typed_answer_comes_as_a_value_of_its_type() -> None:
    provider = ScriptedProvider([record({"grade": "good", "lines": [1, 2]})])
    async with scripted_host(provider) as host:
        session = await host.start(Agent("main"))
        assert await session.ask("Judge.", returns=Verdict) == Verdict(grade="good", lines=(1, 2))
    output = sent(provider, 0).output
    assert output is not None
    assert output.schema["additionalProperties"] is False


@pytest.mark.parametrize(("wanted", "value"), [(int, 7), (list[str], ["a"]), (Literal["a", "b"], "b")])
async def test_types_that_are_no_objects_travel_as_a_field_of_one(wanted: type, value: JsonValue) -> None:
    provider = ScriptedProvider([record({"value": value})])
    async with scripted_host(provider) as host:
        session = await host.start(Agent("main"))
        assert await session.ask("Judge.", returns=wanted) == value


async def test_an_answer_that_does_not_fit_is_asked_for_again_with_what_was_wrong() -> None:
    provider = ScriptedProvider(
        [record({"grade": "fair", "lines": []}), "no json", record({"grade": "bad", "lines": [3]})]
    )
    async with scripted_host(provider) as host:
        session = await host.start(Agent("main"))
        assert await session.ask("Judge.", returns=Verdict) == Verdict(grade="bad", lines=(3,))
    first = str(sent(provider, 1).messages[-1].content)
    assert "grade: Input should be 'good' or 'bad'; got fair" in first
    assert "is not JSON" in str(sent(provider, 2).messages[-1].content)


async def test_after_three_repairs_the_ask_fails_and_keeps_the_last_text() -> None:
    provider = ScriptedProvider(["nonsense"] * 4)
    async with scripted_host(provider) as host:
        session = await host.start(Agent("main"))
        with pytest.raises(ResultInvalid) as caught:
            await session.ask("Judge.", returns=Verdict)
    assert caught.value.text == "nonsense"
    assert len(provider.requests) == 4


@pytest.mark.parametrize("profile", [BY_TOOL])
async def test_without_native_support_the_value_is_handed_in_by_a_tool(profile: ModelProfile) -> None:
    provider = ScriptedProvider(
        [[call(SUBMIT_TOOL, {"grade": "fair"})], [call(SUBMIT_TOOL, {"grade": "bad", "lines": []})]],
        profile=profile,
    )
    async with scripted_host(provider) as host:
        session = await host.start(Agent("main"))
        assert await session.ask("Judge.", returns=Verdict) == Verdict(grade="bad", lines=())
    assert sent(provider, 0).output is None
    assert [spec.name for spec in sent(provider, 0).tools] == [SUBMIT_TOOL]
    assert "lines: Field required" in str(sent(provider, 1).messages[-1].content)


async def test_ending_without_a_result_earns_one_nudge() -> None:
    provider = ScriptedProvider(["I think it is good.", "Really."], profile=BY_TOOL)
    async with scripted_host(provider) as host:
        session = await host.start(Agent("main"))
        with pytest.raises(ResultInvalid):
            await session.ask("Judge.", returns=Verdict)
    assert SUBMIT_TOOL in str(sent(provider, 1).messages[-1].content)
    assert len(provider.requests) == 2


async def test_the_next_question_after_a_typed_one_is_free_again() -> None:
    provider = ScriptedProvider([record({"value": 7}), "Seven, as I said."])
    async with scripted_host(provider) as host:
        session = await host.start(Agent("main"))
        await session.ask("How many?", returns=int)
        assert await session.ask("Sure?") == "Seven, as I said."
    assert sent(provider, 1).output is None


def test_every_problem_of_a_value_is_named_by_its_place() -> None:
    problem = ResultType(Verdict).check({"grade": "x", "lines": [1, "two", 3, 4]})
    assert problem is not None
    assert "- grade:" in problem
    assert "- lines" in problem
