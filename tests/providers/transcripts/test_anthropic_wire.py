"""What Anthropic refuses in a body, though our own messages could not say it, is noted at its place."""

import pytest
from pydantic import JsonValue

from tests.providers.transcripts.reading import notes, transcript

_HI: JsonValue = {"role": "user", "content": "Hi"}
_MARK: JsonValue = {"type": "ephemeral"}


def _body(*messages: JsonValue, **fields: JsonValue) -> JsonValue:
    return {"model": "claude-opus-4-5", "max_tokens": 9, "system": "S", "messages": list(messages), **fields}


def _message(role: str, *blocks: JsonValue) -> JsonValue:
    return {"role": role, "content": list(blocks)}


def _texts(n_marked: int) -> list[JsonValue]:
    return [{"type": "text", "text": str(n), "cache_control": _MARK} for n in range(n_marked)]


def _result(content: JsonValue, **more: JsonValue) -> JsonValue:
    return {"type": "tool_result", "tool_use_id": "t1", "content": content, **more}


def _image(media_type: str) -> JsonValue:
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": "AA"}}


def test_marks_in_one_message_and_within_its_blocks_are_counted_together() -> None:
    in_one = _body(_HI, _message("assistant", *_texts(5)), _HI)
    assert notes(in_one) == [("cache_mark", "messages[1].content[4]", True)]
    in_result = _body(_message("user", _result(_texts(5))))
    assert notes(in_result) == [("cache_mark", "messages[0].content[0].content[4]", True)]
    source: JsonValue = {"type": "content", "content": _texts(5)}
    in_document = _body(_message("user", {"type": "document", "source": source}))
    assert notes(in_document) == [("cache_mark", "messages[0].content[0].source.content[4]", True)]


def test_tools_and_system_prompt_and_body_have_marks_too() -> None:
    tool: JsonValue = {"name": "t", "input_schema": {"type": "object"}, "cache_control": _MARK}
    around: dict[str, JsonValue] = {"tools": [tool], "system": _texts(1), "cache_control": _MARK}
    said = _message("assistant", *_texts(2))
    assert notes(_body(_HI, said, **around)) == [("cache_mark", "cache_control", True)]
    assert notes(_body(_HI, _message("assistant", *_texts(1)), **around)) == []


def test_four_marks_are_allowed_and_what_a_tool_is_given_has_none() -> None:
    given: JsonValue = {"content": _texts(9), "cache_control": _MARK}
    use: JsonValue = {"type": "tool_use", "id": "t1", "name": "look", "input": given}
    assert notes(_body(_HI, _message("assistant", *_texts(4), use))) == []


def test_more_marks_than_allowed_on_messages_are_left_to_the_rule() -> None:
    assert notes(_body(*(_message("user", *_texts(1)) for _ in range(5)))) == []


@pytest.mark.parametrize(
    ("call_id", "is_taken"), [("toolu_1-A", True), ("a b", False), ("a:1", False), ("a\n", False)]
)
def test_ids_of_calls_have_a_form(call_id: str, is_taken: bool) -> None:
    use: JsonValue = {"type": "tool_use", "id": call_id, "name": "look", "input": {}}
    result: JsonValue = {"type": "tool_result", "tool_use_id": call_id}
    places = ["messages[1].content[0]", "messages[2].content[0]"]
    wanted = [] if is_taken else [("call_id_form", place, True) for place in places]
    assert notes(_body(_HI, _message("assistant", use), _message("user", result))) == wanted


def test_a_failed_call_has_no_picture() -> None:
    content: JsonValue = [{"type": "text", "text": "x"}, _image("image/png")]
    assert notes(_body(_message("user", _result(content, is_error=True)))) == [
        ("wrong_place", "messages[0].content[0].content[1]", True)
    ]
    for fine in (_result(content), _result(content, is_error=False), _result("x", is_error=True)):
        assert notes(_body(_message("user", fine))) == []


@pytest.mark.parametrize("media_type", ["image/tiff", "image/jpg", "image/svg+xml", "application/pdf"])
def test_a_picture_of_another_media_type_is_refused(media_type: str) -> None:
    refused = [("media_type", "messages[0].content[0]", True)]
    assert notes(_body(_message("user", _image(media_type)))) == refused
    in_result = _body(_message("user", _result([_image(media_type)])))
    assert notes(in_result) == [("media_type", "messages[0].content[0].content[0]", True)]


@pytest.mark.parametrize("kind", ["jpeg", "png", "gif", "webp"])
def test_pictures_of_four_media_types_are_taken(kind: str) -> None:
    assert notes(_body(_message("user", _image(f"image/{kind}")))) == []


def test_a_system_message_is_not_first() -> None:
    late: JsonValue = {"role": "system", "content": "s"}
    assert notes(_body(late, late, _HI)) == [("wrong_place", f"messages[{at}]", True) for at in (0, 1)]
    assert notes(_body(_HI, late)) == []


def test_a_body_that_names_its_model_needs_a_limit() -> None:
    (note,) = transcript(_body(_HI, max_tokens=None)).reading.notes
    assert (note.rule.value, note.text, note.is_refused, note.is_whole) == (
        "missing_field",
        "max_tokens is missing",
        True,
        True,
    )
    assert notes({"system": "S", "messages": [_HI]}) == []
