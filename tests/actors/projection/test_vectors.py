"""The recorded cases: some must come out exactly, the others legal and whole."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import JsonValue

from actors.history import MessageEntry
from actors.prefix import prefix_length
from actors.projection import ProjectionOptions, project
from actors.projection.case_format import Case, read_case
from actors.projection.cases import TokenPresenter, options_of, run_case
from actors.reminders import Presenter, TextPresenter, runtime_mode_due, todo_reminder_due
from tests.actors.projection.checks import lost_texts, refusals, wrongly_dropped
from tests.actors.projection.histories import as_stored

VECTORS = Path(__file__).parents[2] / "vectors"
EXPECTED_KEYS = ("messages", "latest_real_user_index", "cache_control_index", "error")


def _lines(name: str) -> list[dict[str, JsonValue]]:
    # Not splitlines(): texts of the vectors hold U+2028, which is no end of a line here.
    return [json.loads(line) for line in (VECTORS / name).read_text("utf-8").split("\n") if line]


def _failing(name: str, n_lines: int, holds: Callable[[dict[str, JsonValue]], bool]) -> list[JsonValue]:
    lines = _lines(name)
    assert len(lines) == n_lines
    return [line["name"] for line in lines if not holds(line)]


def test_recorded_projections_come_out_exactly() -> None:
    def holds(line: dict[str, JsonValue]) -> bool:
        result = run_case(line, tokens=True)
        return {key: result[key] for key in EXPECTED_KEYS if key in result} == line["expected"]

    assert _failing("projection-reproduce.jsonl", 691, holds) == []


def _is_repaired(case: Case, options: ProjectionOptions, *, takes_system: bool) -> bool:
    projection = project(case.entries, options)
    refused = [
        finding
        for _, finding in refusals(projection.messages, mid_conversation_system=takes_system)
        # The recorded system sends texts of blanks, so cases keep them; hosts do not.
        if finding.rule != "blank_text" or not options.as_recorded
    ]
    return (
        refused == []
        and lost_texts(case.entries, projection) == []
        and wrongly_dropped(case.entries, projection) == []
        and project(as_stored(projection.messages), options).messages == projection.messages
    )


def _as_a_host_would(case: Case, presenter: Presenter) -> ProjectionOptions:
    return ProjectionOptions(
        mid_conversation_system=case.mid_conversation_system,
        apply_cache_control=case.apply_cache_control,
        skip_cache_write=case.skip_cache_write,
        presenter=presenter,
    )


@pytest.mark.parametrize("presenter", [TokenPresenter(), TextPresenter()])
def test_refused_histories_become_legal_and_keep_their_texts(presenter: Presenter) -> None:
    def holds(line: dict[str, JsonValue]) -> bool:
        case = read_case(line)
        options = _as_a_host_would(case, presenter)
        return _is_repaired(case, options, takes_system=case.mid_conversation_system)

    assert _failing("projection-repair.jsonl", 401, holds) == []


def test_refused_histories_become_legal_where_cases_keep_stored_system_messages() -> None:
    def holds(line: dict[str, JsonValue]) -> bool:
        case = read_case(line)
        return _is_repaired(case, options_of(case, tokens=True), takes_system=True)

    assert _failing("projection-repair.jsonl", 401, holds) == []


def test_recorded_histories_are_legal_once_cache_marks_are_limited() -> None:
    def holds(line: dict[str, JsonValue]) -> bool:
        case = read_case(line)
        options = _as_a_host_would(case, TokenPresenter())
        return _is_repaired(case, options, takes_system=case.mid_conversation_system)

    lines = [
        line for line in _lines("projection-reproduce.jsonl") if "error" not in _object(line["expected"])
    ]
    assert [line["name"] for line in lines if not holds(line)] == []


def test_recorded_prefixes_are_counted() -> None:
    def holds(line: dict[str, JsonValue]) -> bool:
        return {"prefix_count": prefix_length(read_case(line).entries)} == line["expected"]

    assert _failing("prefix.jsonl", 76, holds) == []


def test_recorded_cadences_are_kept() -> None:
    def holds(line: dict[str, JsonValue]) -> bool:
        wanted = _object(line["input"])
        entries = read_case({"name": line["name"], "input": {"entries": wanted["entries"]}}).entries
        if line["kind"] == "runtime_mode":
            due = runtime_mode_due(entries, is_plan_mode=wanted["plan_enabled"] is True)
            return {"decision": due.value} == line["expected"]
        cadence = todo_reminder_due(entries, todo_tool="TodoWrite")
        return line["expected"] == {
            "due": cadence.is_due,
            "assistant_messages_since_write": cadence.steps_since_write,
            "assistant_messages_since_reminder": cadence.steps_since_reminder,
        }

    assert _failing("cadence.jsonl", 226, holds) == []


def _object(value: JsonValue) -> dict[str, JsonValue]:
    assert isinstance(value, dict)
    return value


def test_messages_that_nothing_changes_are_the_stored_ones() -> None:
    n_same = 0
    for line in _lines("projection-reproduce.jsonl"):
        case = read_case(line)
        if "error" in _object(line["expected"]) or case.apply_cache_control:
            continue
        projection = project(case.entries, options_of(case, tokens=True))
        for message, sources in zip(projection.messages, projection.sources, strict=True):
            entry = case.entries[sources[0]]
            if isinstance(entry, MessageEntry) and entry.message == message:
                assert entry.message is message
                n_same += 1
    assert n_same > 500


def test_a_recorded_history_needs_no_repair_but_order() -> None:
    for line in _lines("projection-reproduce.jsonl"):
        repaired = run_case(line, tokens=True).get("repaired", [])
        assert isinstance(repaired, list)
        assert {_object(repair)["rule"] for repair in repaired} <= {"moved_behind_results"}
