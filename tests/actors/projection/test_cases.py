"""Cases as JSON: what is read, what is written, and what a bad one is told."""

import json

import pytest
from pydantic import JsonValue

from actors.errors import BadInput
from actors.projection.cases import run_case


def _case(*entries: JsonValue, **options: JsonValue) -> dict[str, JsonValue]:
    return {"name": "n", "input": {"entries": list(entries), **options}}


USER: JsonValue = {"kind": "message", "role": "user", "content": "u", "source": "real_user"}
STEER: JsonValue = {
    "kind": "message",
    "role": "user",
    "content": "p",
    "source": "legacy_synthetic",
    "presentation": "subagent_reply_steer",
    "sender": "helper-7",
}


def test_a_result_has_the_documented_members() -> None:
    result = run_case(_case(USER), tokens=True)
    assert result == {
        "name": "n",
        "messages": [{"role": "user", "content": "u"}],
        "latest_real_user_index": 0,
        "cache_control_index": None,
        "moved": [],
        "repaired": [],
    }


def test_repairs_and_moves_are_told_by_entry() -> None:
    call: JsonValue = {
        "kind": "message",
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "c", "name": "t", "input": None}],
    }
    result = run_case(
        _case(USER, call, {"kind": "reminder", "source": "date_change", "content": "x"}), tokens=True
    )
    assert result["repaired"] == [
        {"rule": "empty_text", "entry": 1},
        {"rule": "arguments", "entry": 1},
        {"rule": "result_missing", "entry": 1},
    ]
    messages = result["messages"]
    assert isinstance(messages, list)
    assert messages[1] == {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "name": "t", "input": {}}],
    }


def test_an_error_is_its_code() -> None:
    bad: JsonValue = {"kind": "reminder", "source": "gossip", "content": "x"}
    assert run_case(_case(USER, bad), tokens=True) == {"name": "n", "error": "unknown_reminder_source"}


def test_every_kind_of_block_passes_unchanged_with_members_that_nobody_knows() -> None:
    blocks: JsonValue = [
        {"type": "text", "text": "a", "annotations": [1]},
        {"type": "image", "media_type": "image/png", "data_url": "data:image/png;base64,AA", "detail": "low"},
        {"type": "file", "media_type": "text/plain", "text": "b", "filename": "x.txt"},
    ]
    thoughts: JsonValue = [
        {"type": "reasoning", "text": "h", "signature": "s", "extra": None},
        {"type": "text", "text": "a"},
    ]
    user: JsonValue = {"kind": "message", "role": "user", "content": blocks}
    answer: JsonValue = {"kind": "message", "role": "assistant", "content": thoughts}
    assert run_case(_case(user, answer), tokens=True)["messages"] == [
        {"role": "user", "content": blocks},
        {"role": "assistant", "content": thoughts},
    ]


def test_the_real_words_are_the_default_of_a_host() -> None:
    result = json.dumps(run_case(_case(USER, STEER), tokens=False))
    assert "permission laundering" in result
    assert "helper-7" in result
    assert "⟦" not in result


def test_an_entry_without_an_origin_is_believed_no_further_than_its_weakest_author() -> None:
    notice: JsonValue = {"kind": "reminder", "source": "queued_system_notification", "content": "x"}
    for entry, roles in ((STEER, ["user", "user"]), (notice, ["user", "user"])):
        messages = run_case(_case(USER, entry, mid_conversation_system=True), tokens=True)["messages"]
        assert isinstance(messages, list)
        assert [message["role"] for message in messages if isinstance(message, dict)] == roles


def test_an_entry_may_say_its_origin() -> None:
    listing: JsonValue = {"kind": "reminder", "source": "skills_listing", "content": "x", "origin": "host"}
    messages = run_case(_case(USER, listing, mid_conversation_system=True), tokens=True)["messages"]
    assert messages == [{"role": "user", "content": "u"}, {"role": "system", "content": "x"}]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "not a projection case"),
        ([], "not a projection case"),
        ({"name": "n"}, "input: Field required"),
        ({"name": "n", "input": {}}, "input.entries"),
        (_case({"kind": "rumour"}), "input.entries.0"),
        (_case(USER, {"kind": "message", "role": "king", "content": "x"}), "input.entries.1"),
        (_case({"kind": "reminder", "source": "date_change"}), "content"),
        (_case({"kind": "message", "role": "user", "content": [{"type": "song"}]}), "song"),
        (
            _case({"kind": "message", "role": "user", "content": "x", "cache_control": {"type": "x"}}),
            "cache_control",
        ),
        (_case({"kind": "message", "role": "user", "content": "x", "colour": "red"}), "colour"),
        (_case(USER, mid_conversation_system="perhaps"), "mid_conversation_system"),
    ],
)
def test_what_is_no_case_is_told_where(value: JsonValue, words: str) -> None:
    with pytest.raises(BadInput, match="is not a projection case") as caught:
        run_case(value, tokens=True)
    assert words in str(caught.value)


def test_a_case_with_many_faults_names_a_few_and_counts_the_rest() -> None:
    with pytest.raises(BadInput, match="and 7 more"):
        run_case({"name": "n", "input": {"entries": [{"kind": "rumour"} for _ in range(12)]}}, tokens=True)
