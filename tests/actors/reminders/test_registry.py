"""The registry of sources, against what is written about it."""

import pytest

from actors.errors import UnknownReminderSource
from actors.reminders import REGISTRY, Channel, Durability, reminder_source


def _names(**wanted: object) -> set[str]:
    return {name for name, row in REGISTRY.items() if all(getattr(row, k) == v for k, v in wanted.items())}


def test_there_are_27_sources_2_rebuilt_15_durable_10_of_the_process() -> None:
    assert len(REGISTRY) == 27
    counts = [sum(row.durability is kind for row in REGISTRY.values()) for kind in Durability]
    assert dict(zip(Durability, counts, strict=True)) == {
        Durability.REBUILT: 2,
        Durability.DURABLE: 15,
        Durability.PROCESS_LOCAL: 10,
    }


def test_eight_sources_never_become_system_messages() -> None:
    assert _names(may_be_system=False) == {
        "context_prefix",
        "tool_result_warning",
        "goal_completion_verification",
        "resume_referenced_session_context",
        "plan_file_reference",
        "conversation_fork",
        "selection_side_chat",
        "target_continuation",
    }


def test_floating_is_meta_and_outside_the_three_fixed_channels_but_for_one() -> None:
    fixed = {Channel.HISTORY_CONTINUITY, Channel.TOOL_RESULT, Channel.REAL_USER}
    for name, row in REGISTRY.items():
        assert row.floats == (row.is_meta and row.channel not in fixed and name != "goal_state_change")


def test_only_the_prefix_is_rebuilt() -> None:
    assert (
        _names(is_prefix=True)
        == _names(durability=Durability.REBUILT)
        == {"context_prefix", "skills_listing"}
    )


def test_only_a_continued_goal_is_not_meta() -> None:
    assert _names(is_meta=False) == {"target_continuation"}


def test_only_the_prefix_ends_its_tag_with_a_newline() -> None:
    assert {name for name, row in REGISTRY.items() if row.after_wrapper} == {"context_prefix"}


@pytest.mark.parametrize("name", ["gossip", "real_user", "legacy_synthetic", "shared_context", ""])
def test_sources_of_messages_are_not_in_the_registry(name: str) -> None:
    with pytest.raises(UnknownReminderSource, match="27 registered"):
        reminder_source(name)
