from dataclasses import dataclass
from datetime import date
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import anyio
import pytest
from pydantic import BaseModel, Field, JsonValue

from actors.errors import BadTool, ToolInputInvalid
from actors.history import ResultStatus
from actors.tools import FunctionTool, Tool, ToolContext, ToolOutput, tool
from providers.model import ImageBlock, TextBlock
from tests.actors.tools.fakes import context_in


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Point(BaseModel):
    x: int
    y: int = 0


@dataclass
class Pair:
    left: int
    right: int


@tool
async def paint(
    where: Annotated[Point, Field(description="The point to paint.")],
    colour: Colour = Colour.RED,
    copy: bool = False,
    tags: list[str] = [],  # noqa: B006 - what users write
    day: date | None = None,
) -> str:
    """Paints a point."""
    return f"{where.x},{where.y} {colour.value} {copy} {tags} {day}"


async def run(made: Tool, sent: JsonValue, context: ToolContext | None = None) -> ToolOutput:
    return await made.run(context or context_in(Path("/")), sent)


def test_the_schema_is_what_the_annotations_say() -> None:
    properties = paint.input_schema["properties"]
    assert isinstance(properties, dict)
    assert list(properties) == ["where", "colour", "copy", "tags", "day"]
    assert paint.input_schema["required"] == ["where"]
    assert paint.input_schema["type"] == "object"
    assert paint.input_schema["additionalProperties"] is False
    assert "title" not in paint.input_schema
    where = properties["where"]
    assert isinstance(where, dict)
    assert where["description"] == "The point to paint."


def test_name_and_description_come_from_the_function_unless_given() -> None:
    assert (paint.name, paint.description) == ("paint", "Paints a point.")

    @tool(name="other", description="Says nothing.", is_read_only=True)
    async def silent() -> None: ...

    assert (silent.name, silent.description, silent.is_read_only) == ("other", "Says nothing.", True)


async def test_what_the_model_sends_arrives_as_the_annotated_types() -> None:
    output = await run(paint, {"where": {"x": 1}, "colour": "blue", "day": "2027-01-15", "tags": ["a"]})
    assert output.content == "1,0 blue False ['a'] 2027-01-15"


async def test_a_tool_can_still_be_called_as_the_function_it_was() -> None:
    assert await paint(Point(x=3), Colour.BLUE) == "3,0 blue False [] None"


@pytest.mark.parametrize(
    ("sent", "lines"),
    [
        ({}, ["- where: expected a value, it is required; got none"]),
        ([], ["- arguments: expected one JSON object; got []"]),
        (None, ["- arguments: expected one JSON object; got null"]),
        (
            {"where": {"x": "no"}},
            ["- where.x: expected a valid integer, unable to parse string as an integer"],
        ),
        ({"where": {"x": 1}, "tags": ["a", 2]}, ["- tags[1]: expected a valid string; got 2"]),
        ({"where": {"x": 1}, "colour": "pink"}, ["- colour: expected 'red' or 'blue'; got \"pink\""]),
        (
            {"where": {"x": 1}, "colr": 1},
            ["- colr: expected no argument of this name (there are: where, colour, copy, tags, day)"],
        ),
        ({"where": 1, "copy": "?"}, ["- where: ", "- copy: expected a valid boolean"]),
        ({"where": {"x": "y" * 5_000}}, ["… (5,002 characters)"]),
    ],
)
def test_arguments_that_do_not_fit_are_named_with_path_wanted_and_got(
    sent: JsonValue, lines: list[str]
) -> None:
    with pytest.raises(ToolInputInvalid) as caught:
        paint.check(sent)
    text = str(caught.value)
    assert text.startswith("The arguments of paint do not fit its schema:\n- ")
    for line in lines:
        assert line in text
    assert len(text) < 1_000


async def test_running_with_bad_arguments_raises_the_same_complaint() -> None:
    with pytest.raises(ToolInputInvalid):
        await run(paint, {})


async def test_the_context_reaches_the_function_and_is_not_shown() -> None:
    @tool
    async def who(context: ToolContext) -> str:
        """Who calls."""
        return context.agent_name

    assert who.input_schema == {"type": "object", "properties": {}, "additionalProperties": False}
    assert (await run(who, {})).content == "main"
    with pytest.raises(ToolInputInvalid):
        who.check({"context": {}})


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ("text", "text"),
        (None, ""),
        ({"a": Point(x=1)}, '{"a":{"x":1,"y":0}}'),
        (Pair(1, 2), '{"left":1,"right":2}'),
        ([1, 2.5, None], "[1,2.5,null]"),
        ([], "[]"),
        (Colour.RED, '"red"'),
        (TextBlock("b"), (TextBlock("b"),)),
        (
            [TextBlock("b"), ImageBlock("image/png", "data:")],
            (TextBlock("b"), ImageBlock("image/png", "data:")),
        ),
        (ToolOutput("no", ResultStatus.ERROR), "no"),
    ],
)
async def test_a_function_may_return_text_blocks_or_anything_with_a_json_form(
    value: object, content: object
) -> None:
    @tool
    async def give() -> object:
        """Gives it."""
        return value

    output = await run(give, {})
    assert output.content == content
    assert (output.status is ResultStatus.ERROR) == isinstance(value, ToolOutput)


@pytest.mark.parametrize("value", [object(), [TextBlock, 1], "\ud800"])
async def test_a_value_without_a_json_form_is_a_bad_tool(value: object) -> None:
    @tool
    async def give() -> list[object]:
        """Gives it."""
        return [value]

    with pytest.raises(BadTool, match="give returned a list that has no JSON form"):
        await run(give, {})


def test_a_plain_function_runs_in_a_worker_thread(real_backend: str) -> None:
    import threading

    @tool
    def slow(n: int) -> int:
        """Counts."""
        assert threading.current_thread() is not threading.main_thread()
        return n + 1

    async def main() -> None:
        assert (await run(slow, {"n": 1})).content == "2"

    anyio.run(main, backend=real_backend)


def test_cancelling_a_plain_function_does_not_wait_for_its_thread(real_backend: str) -> None:
    import threading

    go_on = threading.Event()

    @tool
    def stuck() -> str:
        """Waits."""
        go_on.wait(10)
        return ""

    async def main() -> None:
        with anyio.fail_after(5), anyio.move_on_after(0.05) as scope:
            await run(stuck, {})
        assert scope.cancelled_caught
        go_on.set()

    anyio.run(main, backend=real_backend)


def bare(path) -> str:  # type: ignore[no-untyped-def]  # what is tested
    """No annotation."""
    return str(path)


async def positional(path: str, /) -> str:
    """By position."""
    return path


async def many(*paths: str) -> str:
    """Any number."""
    return str(paths)


async def keywords(**paths: str) -> str:
    """Any keywords."""
    return str(paths)


async def twice(a: ToolContext, b: ToolContext) -> str:
    """Two contexts."""
    return ""


async def lock_of(lock: anyio.Lock, n: int) -> str:
    """No schema."""
    return ""


async def silent(n: int) -> str:
    return ""


async def unresolved(n: "Missing") -> str:  # type: ignore[name-defined]  # noqa: F821 - what is tested
    """An annotation that names nothing."""
    return ""


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (bare, r"bare\(\): parameter 'path' has no annotation"),
        (positional, r"positional\(\): parameter 'path' is positional-only"),
        (many, r"many\(\): parameter 'paths' is variadic positional"),
        (keywords, r"keywords\(\): parameter 'paths' is variadic keyword"),
        (twice, r"twice\(\): parameter 'b' is a second ToolContext"),
        (lock_of, r"lock_of\(\): no schema can be made for parameter 'lock'"),
        (silent, r"silent\(\): has no docstring"),
        (unresolved, r"unresolved\(\): an annotation names 'Missing'"),
        (lambda: "", r"a tool's name is .*'<lambda>'"),
    ],
)
def test_a_function_that_cannot_be_a_tool_is_refused_by_name(function: Any, says: str) -> None:
    with pytest.raises(BadTool, match=says):
        tool(function)


def test_a_subject_is_the_value_of_its_parameter() -> None:
    made: FunctionTool[[str], str]

    @tool(subject="path")
    def look(path: str) -> str:
        """Looks."""
        return path

    made = look
    assert made.subject({"path": "a.txt"}) == "a.txt"
    assert made.subject({}) is None
    assert made.subject([]) is None
    assert paint.subject({"where": 1}) is None


def test_a_subject_that_is_no_parameter_is_refused() -> None:
    with pytest.raises(BadTool, match=r"subject='file' is not one of its parameters \(n\)"):

        @tool(subject="file")
        def look(n: int) -> str:
            """Looks."""
            return ""


def test_methods_and_callable_objects_can_be_tools() -> None:
    class Shelf:
        def count(self, n: int) -> int:
            """Counts."""
            return n

        async def __call__(self, n: int) -> int:
            return n

    assert tool(Shelf().count).input_schema["required"] == ["n"]
    assert tool(name="shelf", description="Calls.")(Shelf()).input_schema["required"] == ["n"]
