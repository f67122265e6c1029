"""The command `check`: what it reads, what it prints, how it ends."""

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from pydantic import JsonValue

from actors.checking import Report
from actors.errors import BadInput
from host.cli.app import app
from host.cli.boundary import guarded
from host.cli.check_view import report_lines, report_values
from tests.actors.checking.asking import reports
from tests.actors.checking.damage import DAMAGED
from tests.host.cli.processes import ROOT, Done, Home, events_of

VECTORS = ROOT / "tests" / "vectors"
_HI: JsonValue = {"role": "user", "content": "Hi"}
_LATE: JsonValue = [
    _HI,
    {"role": "system", "content": "late"},
    {"role": "assistant", "content": "a"},
    _HI,
]
_BROKEN = """\
{
  "model": "claude-opus-4-5",
  "max_tokens": 1024,
  "system": "You answer questions about the manual.",
  "messages": [
    {"role": "user", "content": "How do I reset it?"},
    {
      "role": "assistant",
      "content": [
        {"type": "text", "text": "Two pages may tell."},
        {"type": "tool_use", "id": "toolu_1", "name": "read_page", "input": {"page": 12}},
        {"type": "tool_use", "id": "toolu_2", "name": "read_page", "input": {"page": 13}}
      ]
    },
    {
      "role": "user",
      "content": [
        {"type": "text", "text": "Be quick, please."},
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "Hold the button for ten seconds."}
      ]
    },
    {"role": "system", "content": "The user has gone to the workshop."},
    {"role": "user", "content": "And then?"}
  ]
}
"""
_SHOWN = """\
broken.json: Anthropic Messages, 5 messages
judged as anthropic for claude-opus-4-5

line 7: messages[1] (assistant)
    line 11, content[1]: refused by anthropic: no result right behind the call 'toolu_1' [call_without_result]
    line 12, content[2]: refused by anthropic: no result right behind the call 'toolu_2' [call_without_result]
    repair: adds a result that says truthfully that the outcome of the call is unknown [result_missing]

line 18: messages[2].content[0] (user)
    repair: moves the message behind the results that it keeps from their call [moved_behind_results]

line 19: messages[2].content[1] (tool)
    refused by anthropic: no call 'toolu_1' right before [result_without_call]

line 22: messages[3] (system)
    refused by anthropic: claude-opus-4-5 takes system messages only in front [system_mid_conversation]
    repair: makes wrapped user text of the system message, which may not stand here [system_place]

5 messages; refused: anthropic 4
repair changes 3 messages: 1 result_missing, 1 moved_behind_results, 1 system_place
repaired, its messages are legal for anthropic
"""

Check = Callable[..., Done]


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Check:
    """Runs the command on a file with this text (None: no file), in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def run(content: str | bytes | None, *arguments: str, name: str = "file.json") -> Done:
        if content is not None:
            data = content.encode() if isinstance(content, str) else content
            (tmp_path / name).write_bytes(data)
        capfd.readouterr()
        code = guarded(lambda: app(["check", name, *arguments]))
        out, err = capfd.readouterr()
        return Done(out, err, code)

    return run


def _summary(done: Done) -> dict[str, JsonValue]:
    return events_of(done.stdout)[-1]


@pytest.mark.real
def test_a_broken_transcript_is_told_line_by_line(home: Home) -> None:
    (home.folder / "broken.json").write_text(_BROKEN)
    done = home.run("check", "broken.json")
    assert (done.stdout, done.stderr, done.code) == (_SHOWN, "", 1)


@pytest.mark.real
def test_a_terminal_shows_the_same_words(home: Home) -> None:
    (home.folder / "broken.json").write_text(_BROKEN)
    with home.terminal("check", "broken.json") as terminal:
        assert terminal.ends() == 1
        assert terminal.text.replace("\r\n", "\n") == _SHOWN


@pytest.mark.real
def test_standard_input_is_read_and_a_legal_history_ends_with_0(home: Home) -> None:
    data = json.dumps([_HI]) + "\n"
    done = home.run("check", "-", stdin=data)
    assert (done.stderr, done.code) == ("", 0)
    assert done.stdout.startswith("standard input: OpenAI Chat Completions, 1 message\n")
    assert "as it is, its messages are legal for anthropic, openai_chat, openai_responses" in done.stdout


def test_programs_get_one_object_a_line(check: Check) -> None:
    done = check(_BROKEN, "--json")
    rows = events_of(done.stdout)
    assert done.code == 1
    assert [row["type"] for row in rows] == ["finding"] * 4 + ["repair"] * 3 + ["summary"]
    assert rows[0] == {
        "type": "finding",
        "history": None,
        "line": 11,
        "path": "messages[1].content[1]",
        "role": "assistant",
        "kind": "history",
        "dialects": ["anthropic"],
        "refused": True,
        "rule": "call_without_result",
        "text": "no result right behind the call 'toolu_1'",
    }
    summary = rows[-1]
    assert summary["findings"] == {"anthropic": 4}
    assert summary["repairs"] == {"result_missing": 1, "moved_behind_results": 1, "system_place": 1}
    assert summary["legal_when_repaired"] == {"anthropic": True}
    assert (summary["format"], summary["messages"], summary["refused"]) == ("anthropic", 5, True)


_TEXT: JsonValue = {"type": "text", "text": "a"}
_UNSIGNED: JsonValue = {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, _TEXT]}


@pytest.mark.parametrize("message", [_UNSIGNED, {"role": "model", "content": "a"}])
def test_what_is_refused_as_it_stands_in_the_file_is_not_called_legal(
    check: Check, message: JsonValue
) -> None:
    body = json.dumps({"model": "claude-opus-4-5", "max_tokens": 9, "messages": [_HI, message, _HI]})
    summary = _summary(check(body, "--json"))
    assert (summary["refused"], summary["legal_when_repaired"]) == (True, {"anthropic": False})
    shown = check(body).stdout
    assert "not repaired, since it is not what it has to be in the file: 1 place" in shown
    assert "messages are legal" not in shown


def test_what_only_the_request_lacks_leaves_its_messages_legal(check: Check) -> None:
    body = json.dumps({"model": "claude-opus-4-5", "messages": [_HI]})
    summary = _summary(check(body, "--json"))
    assert (summary["refused"], summary["legal_when_repaired"]) == (True, {"anthropic": True})
    shown = check(body).stdout
    assert "left to whoever sends it (anthropic): max_tokens is missing [missing_field]" in shown


def test_compact_and_pretty_say_the_same(check: Check) -> None:
    value = json.loads(_BROKEN)
    shown = [events_of(check(json.dumps(value, indent=n), "--json").stdout) for n in (None, 3)]
    assert [{**row, "line": 0} for row in shown[0]] == [{**row, "line": 0} for row in shown[1]]


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ((), ["anthropic", "openai_chat", "openai_responses"]),
        (("--dialect", "openai_chat"), ["openai_chat"]),
        (("--dialect", "openai_chat", "--dialect", "anthropic"), ["openai_chat", "anthropic"]),
        (("--model", "claude-opus-5"), ["anthropic"]),
        (("--model", "claude-opus-4-5-20251101"), ["anthropic"]),
        (("--model", "openai:gpt-99"), ["openai_chat", "openai_responses"]),
        (("--model", "gpt-5", "--dialect", "anthropic"), ["anthropic"]),
        (("--model", "local:smollm2-135m"), ["anthropic", "openai_chat", "openai_responses"]),
    ],
)
def test_dialects_come_from_the_options(check: Check, arguments: tuple[str, ...], wanted: list[str]) -> None:
    assert _summary(check(json.dumps([_HI]), "--json", *arguments))["dialects"] == wanted


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--dialect", "anthropic"), 1),
        (("--dialect", "anthropic", "--force-mcs"), 0),
        (("--model", "claude-opus-4-5"), 1),
        (("--model", "claude-opus-5"), 0),
        (("--model", "anthropic:claude-opus-5"), 0),
        (("--dialect", "openai_chat"), 0),
    ],
)
def test_the_model_says_where_system_messages_may_stand(
    check: Check, arguments: tuple[str, ...], code: int
) -> None:
    assert check(json.dumps(_LATE), *arguments).code == code


def test_the_model_that_the_file_names_counts_where_none_was_given(check: Check) -> None:
    body: dict[str, JsonValue] = {"max_tokens": 9, "messages": _LATE, "system": "S"}
    assert check(json.dumps(body | {"model": "claude-opus-5"})).code == 0
    assert check(json.dumps(body | {"model": "claude-opus-4-5"})).code == 1
    assert check(json.dumps(body | {"model": "claude-opus-4-5"}), "--model", "claude-opus-5").code == 0


def test_of_many_histories_the_good_ones_need_no_words(check: Check) -> None:
    lines = [json.dumps({"messages": [_HI]}), json.dumps(json.loads(_BROKEN)), json.dumps({"input": "Hi"})]
    done = check("\n".join(lines))
    assert done.stdout.count("judged as") == 1
    assert done.stdout.startswith("file.json, line 2: Anthropic Messages, 5 messages\n")
    assert done.stdout.endswith("3 histories; 1 with something that would be refused\n")
    assert done.code == 1


@pytest.mark.parametrize("name", ["projection-repair.jsonl", "projection-reproduce.jsonl"])
def test_what_repair_makes_of_the_vectors_is_legal_everywhere(check: Check, name: str) -> None:
    rows = events_of(check((VECTORS / name).read_bytes(), "--json", name=name).stdout)
    summaries = [row for row in rows if row["type"] == "summary"]
    n_cases = (VECTORS / name).read_bytes().count(b"\n")
    assert len(summaries) == n_cases
    illegal = [
        row["history"]
        for row in summaries
        if row["failure"] is None and row["legal_when_repaired"] != dict.fromkeys(_dialects(row), True)
    ]
    assert illegal == []


def _dialects(row: dict[str, JsonValue]) -> list[str]:
    assert isinstance(row["dialects"], list)
    return [str(dialect) for dialect in row["dialects"]]


@pytest.mark.parametrize(
    ("content", "arguments", "wanted"),
    [
        (None, (), "file.json: a transcript wanted, but it cannot be read: No such file"),
        ("", (), "file.json: a transcript wanted, got nothing"),
        ("hello", (), "file.json: line 1: this is no JSON"),
        (b"[]\n\xff\xfe", (), "file.json: line 2: UTF-8 wanted"),
        ("[" * 100_000, (), "nested deeper"),
        ("[NaN]", (), "NaN is no JSON number"),
        ('{"\x1b[2J\u202e": 1', (), "this is no JSON"),
        ("[]", ("--dialect", "latin"), "latin"),
        ("[]", ("--model", "gpt-nobody-knows"), "a model of the catalogue wanted"),
        ("[]", ("--model", "nobody:gpt-5"), "openai:NAME"),
        ("[]", ("--colour",), "--colour"),
    ],
)
def test_what_cannot_be_used_is_one_message_and_exit_code_2(
    check: Check, content: str | bytes | None, arguments: tuple[str, ...], wanted: str
) -> None:
    done = check(content, *arguments)
    assert (done.stdout, done.code) == ("", 2)
    assert wanted in done.stderr
    assert "Traceback" not in done.stderr
    assert "\x1b" not in done.stderr


def test_a_folder_is_no_transcript(check: Check, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    done = check(None, name="folder")
    assert (done.stdout, done.code) == ("", 2)


def test_a_byte_order_mark_is_no_part_of_the_text(check: Check) -> None:
    assert check("\ufeff" + json.dumps([_HI])).code == 0


def test_texts_of_a_file_do_not_steer_the_terminal(check: Check) -> None:
    evil = "\x1b[2J\x07\u202e\u2028\nfirst\x9b1m"
    call: JsonValue = {"id": evil, "type": "function", "function": {"name": evil, "arguments": evil}}
    value: JsonValue = {
        "model": evil,
        "messages": [{"role": evil, "content": [{"type": evil}], evil: 1, "tool_calls": [call]}],
    }
    case: JsonValue = {
        "name": evil,
        "input": {"entries": [{"kind": "reminder", "source": evil, "content": "x"}]},
    }
    for one in (value, case):
        done = check(json.dumps(one))
        assert done.code == 1
        assert not any(character in done.stdout for character in "\x1b\x07\u202e\x9b")


@settings(max_examples=100, deadline=None, derandomize=True)
@given(DAMAGED)
def test_every_report_can_be_shown(text: str) -> None:
    found: list[Report] = []
    with suppress(BadInput):
        found = reports(text)
    for report in found:
        lines = list(report_lines(report, "file"))
        assert all("\n" not in line.text and "\x1b" not in line.text for line in lines)
        assert all(json.loads(json.dumps(value)) == value for value in report_values(report))


def test_halves_of_a_pair_are_told_and_repaired(check: Check) -> None:
    done = check(json.dumps([{"role": "user", "content": "half \ud83d of a pair"}]))
    assert done.code == 1
    assert "[unicode]" in done.stdout


@pytest.mark.real
def test_cases_are_split_at_line_feeds_only(home: Home) -> None:
    text = "a\u2028b\u2029c\x85d"
    case = {"name": "n", "input": {"entries": [{"kind": "message", "role": "user", "content": text}]}}
    # A carriage return between two members is a blank of JSON, and so is one at the end of a line.
    line = json.dumps(case, ensure_ascii=False).replace(', "input"', ',\r"input"')
    data = f"{line}\r\n{line}".encode()
    rows = events_of(home.run("project", "-", stdin=data).stdout)
    assert [row.get("messages") for row in rows] == [[{"role": "user", "content": text}]] * 2
    assert len(events_of(home.run("check", "-", "--json", stdin=data).stdout)) == 2
