"""The registry, row by row: what a source is decides where its words may stand."""

import pytest

from actors.errors import UnknownReminderSource
from actors.reminders.registry import REGISTRY, Channel, Durability, Lifecycle, reminder_source

# source, channel, lifecycle, meta, durability, may become a system message mid-conversation
_TABLE = """
context_prefix                    request_prefix     request_prefix   meta  rebuilt        no
skills_listing                    request_prefix     request_prefix   meta  rebuilt        yes
todo_reminder                     current_turn       per_current_turn meta  durable        yes
plugin_reference                  current_turn       per_current_turn meta  durable        yes
task_status                       mid_turn_event     mid_turn_event   meta  durable        yes
tool_result_warning               tool_result        tool_result      meta  durable        no
goal_completion_verification      tool_result        tool_result      meta  durable        no
resume_referenced_session_context history_continuity resume_history   meta  durable        no
plan_file_reference               history_continuity resume_history   meta  durable        no
resume_goal_state                 history_continuity resume_history   meta  durable        yes
rewind_notice                     history_continuity resume_history   meta  durable        yes
conversation_fork                 history_continuity resume_history   meta  durable        no
selection_side_chat               history_continuity resume_history   meta  durable        no
goal_state_change                 mid_turn_event     mid_turn_event   meta  durable        yes
queued_system_notification        mid_turn_event     mid_turn_event   meta  durable        yes
shell_environment_change          mid_turn_event     mid_turn_event   meta  durable        yes
target_continuation               real_user          real_user        user  durable        no
incoming_message                  mid_turn_event     mid_turn_event   meta  process_local  yes
model_anomaly                     mid_turn_event     mid_turn_event   meta  process_local  yes
diagnostics                       mid_turn_event     mid_turn_event   meta  process_local  yes
hook_context                      current_turn       per_current_turn meta  process_local  yes
runtime_mode                      current_turn       per_current_turn meta  process_local  yes
output_style                      current_turn       per_current_turn meta  process_local  yes
referenced_session_context        current_turn       per_current_turn meta  process_local  yes
prompt_attachment                 current_turn       per_current_turn meta  process_local  yes
plan_mode_exit                    current_turn       runtime_local    meta  process_local  yes
date_change                       current_turn       runtime_local    meta  process_local  yes
"""
_ROWS = [line.split() for line in _TABLE.strip().splitlines()]
_STAY = {
    "tool_result_warning",
    "goal_completion_verification",
    "resume_referenced_session_context",
    "plan_file_reference",
    "resume_goal_state",
    "rewind_notice",
    "conversation_fork",
    "selection_side_chat",
    "goal_state_change",
    "target_continuation",
}


def test_the_registry_has_these_sources_in_this_order() -> None:
    assert list(REGISTRY) == [row[0] for row in _ROWS]
    assert [row.name for row in REGISTRY.values()] == list(REGISTRY)


@pytest.mark.parametrize("row", _ROWS, ids=[row[0] for row in _ROWS])
def test_a_source_has_what_its_row_says(row: list[str]) -> None:
    name, channel, lifecycle, meta, durability, may_be_system = row
    source = reminder_source(name)
    assert source.channel == Channel(channel)
    assert source.lifecycle == Lifecycle(lifecycle)
    assert source.is_meta == (meta == "meta")
    assert source.durability == Durability(durability)
    assert source.may_be_system == (may_be_system == "yes")
    assert source.floats == (name not in _STAY)
    assert source.is_prefix == (channel == "request_prefix")


def test_only_some_rows_have_a_rule_of_their_own() -> None:
    assert [row.name for row in REGISTRY.values() if row.stays] == ["goal_state_change"]
    assert [row.name for row in REGISTRY.values() if row.is_read_only] == ["task_status"]
    assert [row.name for row in REGISTRY.values() if row.message_floats] == ["context_prefix"]
    assert {row.name: row.after_wrapper for row in REGISTRY.values() if row.after_wrapper} == {
        "context_prefix": "\n"
    }


def test_an_unknown_source_is_named() -> None:
    with pytest.raises(UnknownReminderSource, match=r"one of the 27 registered sources; got 'other'"):
        reminder_source("other")
