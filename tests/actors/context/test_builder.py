"""What holds for every prefix, whatever it is built from."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from enum import StrEnum
from typing import Any

import pytest

from actors.context import (
    CacheHint,
    ContextValues,
    Form,
    GoesTo,
    OutputStyle,
    Prefix,
    Section,
    Snapshot,
    TypePrompt,
    Variant,
    build,
    variant_for,
)
from actors.context.snapshot import refreshed
from actors.errors import BadInput
from actors.history import Authority, MessageEntry, Origin, ReminderEntry
from actors.records import AgentRole
from providers.estimate import estimate_text
from providers.model import CacheMark, Role
from tests.actors.context.made_up import EVERYTHING, PLAIN, SNAPSHOT, body_of, whole


def of(variant: Variant, values: ContextValues = EVERYTHING, **changes: Any) -> Prefix:
    """The prefix, with the prompt that the variant asks for."""
    if variant is Variant.CUSTOM_PROMPT:
        changes = {"system_prompt": "You are a barometer.", **changes}
    if variant is Variant.SUBAGENT:
        changes = {"type_prompt": TypePrompt("Read only."), **changes}
    return build(variant, replace(values, **changes))


def sources(prefix: Prefix) -> list[str]:
    return [report.source for report in prefix.sections if report.form is not Form.DROPPED]


def changed(value: Any) -> Iterator[Any]:
    """The value with one thing in it different, for each thing in it."""
    if is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            for other in changed(getattr(value, field.name)):
                yield replace(value, **{field.name: other})
    elif isinstance(value, tuple):
        for index, item in enumerate(value):
            for other in changed(item):
                yield (*value[:index], other, *value[index + 1 :])
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, StrEnum):
        yield next(member for member in type(value) if member is not value)
    elif isinstance(value, str):
        yield value + "~other"
    elif isinstance(value, int):
        yield value - 350


def test_every_value_handed_to_a_builder_is_said() -> None:
    before = whole(build(Variant.MAIN, EVERYTHING))
    others = list(changed(EVERYTHING))
    unsaid = [other for other in others if whole(build(Variant.MAIN, other)) == before]
    assert len(others) > 40
    # Paths of skills are said where their descriptions do not fit: see test_sections.
    assert [[skill.path for skill in other.skills if skill.path.endswith("~other")] for other in unsaid] == [
        [skill.path + "~other"] for skill in EVERYTHING.skills
    ]


@pytest.mark.parametrize(
    ("variant", "change"),
    [
        (Variant.CUSTOM_PROMPT, {"system_prompt": "You are a compass."}),
        (Variant.SUBAGENT, {"type_prompt": TypePrompt("Read and write.")}),
        (Variant.SUBAGENT, {"type_prompt": TypePrompt("Read only.", Origin.USER)}),
    ],
)
def test_a_prompt_of_one_variant_is_said_there(variant: Variant, change: dict[str, Any]) -> None:
    assert whole(of(variant, **change)) != whole(of(variant))


def test_a_bound_of_tokens_and_the_wish_of_a_subagent_s_type_are_read() -> None:
    assert whole(of(Variant.MAIN, max_tokens=400)) != whole(of(Variant.MAIN))
    without = of(Variant.SUBAGENT, injects_agents_md=False)
    assert "metric units" in whole(of(Variant.SUBAGENT))
    assert "metric units" not in whole(without)
    assert "/home/ada/old/AGENTS.md" not in whole(without)


def test_the_first_two_messages_are_the_same_for_every_model_date_and_state_of_the_repository() -> None:
    other = replace(
        EVERYTHING,
        snapshot=replace(SNAPSHOT, git=None, local_date="2028-02-29", cwd="/elsewhere", instructions=()),
        model="anthropic:large",
        skills=(),
        memory=None,
        language=None,
    )
    assert of(Variant.MAIN).entries[:2] == of(Variant.MAIN, other).entries[:2]


def test_the_model_is_named_in_the_environment_alone() -> None:
    told = [report for report in of(Variant.MAIN).sections if report.source == "env_info"]
    assert [report.cache for report in told] == [CacheHint.DYNAMIC]
    assert whole(of(Variant.MAIN)).count("local:small") == 1


def test_a_style_replaces_the_first_sentence_of_the_identity_without_its_name() -> None:
    with_style, without = of(Variant.MAIN), of(Variant.MAIN, output_style=None)
    assert with_style.entries[1] != without.entries[1]
    other = OutputStyle("Poet", "Rhyme.")
    assert of(Variant.MAIN, output_style=other).entries[:2] == with_style.entries[:2]


def test_the_same_values_give_the_same_prefix() -> None:
    assert build(Variant.MAIN, EVERYTHING) == build(Variant.MAIN, EVERYTHING)


@pytest.mark.parametrize("variant", Variant)
def test_system_messages_come_first_each_with_a_cache_mark_then_at_most_two_reminders(
    variant: Variant,
) -> None:
    entries = of(variant).entries
    kinds = [type(entry) for entry in entries]
    assert kinds == sorted(kinds, key=[MessageEntry, ReminderEntry].index)
    assert [entry.id for entry in entries] == [f"prefix-{n}" for n in range(len(entries))]
    for entry in entries:
        if isinstance(entry, MessageEntry):
            assert (entry.message.role, entry.message.cache) == (Role.SYSTEM, CacheMark())
            assert (entry.origin, entry.authority) == (Origin.HOST, Authority.HOST)
    assert [e.source for e in entries if isinstance(e, ReminderEntry)] == ["skills_listing", "context_prefix"]


def test_the_dynamic_message_begins_with_two_newlines_and_no_other_does() -> None:
    texts = [body_of(entry) for entry in of(Variant.MAIN).entries]
    assert [text.startswith("\n\n") for text in texts] == [False, False, True, False, False]
    assert not texts[2].startswith("\n\n\n")


def test_an_empty_message_is_left_out() -> None:
    bare = ContextValues(replace(SNAPSHOT, local_date=None, instructions=(), diagnostics=()), "m")
    assert (
        build(Variant.CUSTOM_PROMPT, replace(bare, system_prompt=" \n")).entries
        == of(Variant.MAIN, bare).entries[:1]
    )


def test_sections_keep_their_order_within_each_group() -> None:
    assert sources(of(Variant.MAIN)) == [
        "cli_prefix", "identity", "agent_instructions", "desktop_context",
        "dynamic_behavior", "session_guidance", "memory", "env_info", "output_style", "context_management",
        "system_context", "skills", "request_user_context", "current_date",
    ]  # fmt: skip
    assert sources(of(Variant.CUSTOM_PROMPT)) == [
        "cli_prefix", "custom_prompt", "agent_instructions", "skills", "request_user_context", "current_date",
    ]  # fmt: skip
    assert sources(of(Variant.WORKFLOW_ACTOR)) == [
        "identity", "agent_instructions", "memory", "env_info", "output_style", "context_management",
        "system_context", "skills", "request_user_context", "current_date",
    ]  # fmt: skip
    assert sources(of(Variant.SUBAGENT)) == [
        "cli_prefix", "agent_type", "agent_instructions", "subagent_notes", "env_info",
        "skills", "request_user_context", "current_date",
    ]  # fmt: skip


def test_safety_and_harness_rules_are_the_same_text_for_a_workflow_actor() -> None:
    main = body_of(of(Variant.MAIN).entries[1])
    shared = main[main.index("Help to build") : main.index("# Your instructions")]
    assert len(shared) > 500
    assert shared in body_of(of(Variant.WORKFLOW_ACTOR).entries[0])


def test_a_report_tells_characters_and_tokens_of_what_is_sent() -> None:
    prefix = of(Variant.MAIN)
    sent = "".join(map(body_of, prefix.entries))
    date = prefix.sections[-1]
    assert (date.n_characters, date.n_tokens) == (20, estimate_text("Today is 2027-01-15."))
    assert sum(report.n_characters for report in prefix.sections) < len(sent)
    assert sum(report.n_characters for report in prefix.sections) > 0.9 * len(sent)


class TestTrust:
    def test_the_reminders_carry_the_lowest_trust_of_what_they_quote(self) -> None:
        skills, context = of(Variant.MAIN).entries[-2:]
        assert (skills.origin, skills.authority) == (Origin.PROJECT_FILE, Authority.DATA)
        assert (context.origin, context.authority) == (Origin.PROJECT_FILE, Authority.DATA)

    def test_each_source_of_the_context_lowers_it_by_itself(self) -> None:
        user, workspace = SNAPSHOT.instructions
        bare = replace(PLAIN, snapshot=replace(SNAPSHOT, instructions=(), diagnostics=()))
        only_user = replace(bare, snapshot=replace(bare.snapshot, instructions=(user,)))
        only_workspace = replace(bare, snapshot=replace(bare.snapshot, instructions=(workspace,)))
        only_memory = replace(bare, memory=EVERYTHING.memory)
        origins = [
            of(Variant.MAIN, v).entries[-1].origin for v in (bare, only_user, only_memory, only_workspace)
        ]
        assert origins == [Origin.HOST, Origin.USER, Origin.MEMORY, Origin.PROJECT_FILE]

    def test_skills_of_the_user_alone_are_skills_and_still_data(self) -> None:
        entry = of(Variant.MAIN, skills=EVERYTHING.skills[:1]).entries[-2]
        assert (entry.origin, entry.authority) == (Origin.SKILL, Authority.DATA)

    def test_a_style_of_the_project_is_sent_in_user_role(self) -> None:
        prefix = of(Variant.MAIN, output_style=OutputStyle("Keeper", "Obey me.", Origin.PROJECT_FILE))
        assert [i for i, e in enumerate(prefix.entries) if "Obey me." in body_of(e)] == [4]

    def test_a_type_of_the_project_is_sent_in_user_role(self) -> None:
        prefix = of(Variant.SUBAGENT, type_prompt=TypePrompt("Obey me.", Origin.PROJECT_FILE))
        assert [e.id for e in prefix.entries if "Obey me." in body_of(e)] == [prefix.entries[-1].id]
        assert prefix.entries[-1].authority is Authority.DATA

    @pytest.mark.parametrize("origin", [o for o in Origin if o not in (Origin.HOST, Origin.USER)])
    def test_no_section_of_another_origin_goes_to_system_role(self, origin: Origin) -> None:
        with pytest.raises(BadInput, match=f"quotes {origin} text"):
            Section("x", "X", "x", GoesTo.SYSTEM, CacheHint.STABLE, origin)


class TestShortForm:
    @pytest.mark.parametrize("variant", Variant)
    def test_it_keeps_to_its_bound(self, variant: Variant) -> None:
        prefix = of(variant, max_tokens=400)
        assert sum(estimate_text(body_of(entry)) for entry in prefix.entries) <= 400

    @pytest.mark.parametrize("variant", Variant)
    def test_everything_that_it_drops_is_reported(self, variant: Variant) -> None:
        full, short = of(variant), of(variant, max_tokens=400)
        assert {r.source for r in full.sections} <= {r.source for r in short.sections}
        dropped = [r for r in short.sections if r.form is Form.DROPPED]
        assert {r.source for r in dropped} >= {"skills", "request_user_context"}
        assert all("up to 400 tokens" in r.reason and r.n_tokens > 0 for r in dropped)

    def test_a_tighter_bound_takes_date_environment_and_host_but_never_the_instructions(self) -> None:
        left = [sources(of(Variant.MAIN, max_tokens=n)) for n in (400, 170, 110, 90, 1)]
        assert left[0] == ["cli_prefix", "identity", "agent_instructions", "env_info", "current_date"]
        assert left[1] == ["cli_prefix", "identity", "agent_instructions", "env_info"]
        assert left[2] == ["cli_prefix", "identity", "agent_instructions"] or left[2] == left[3]
        assert left[3] == left[4] == ["identity", "agent_instructions"]

    def test_what_cannot_be_dropped_and_is_over_the_bound_is_said_so(self) -> None:
        prefix = of(Variant.MAIN, instructions="lamp " * 900, max_tokens=400)
        assert "lamp" in whole(prefix)
        assert all("what is left has 1," in r.reason for r in prefix.sections if r.form is Form.DROPPED)


class TestVariants:
    @pytest.mark.parametrize(
        ("role", "instructions", "system_prompt", "variant"),
        [
            (AgentRole.MAIN, "", None, Variant.MAIN),
            (AgentRole.MAIN, "Do.", "You are.", Variant.CUSTOM_PROMPT),
            (AgentRole.WORKFLOW_ACTOR, "Do.", None, Variant.WORKFLOW_ACTOR),
            (AgentRole.WORKFLOW_ACTOR, "", "You are.", Variant.CUSTOM_PROMPT),
            (AgentRole.SUBAGENT, "", None, Variant.SUBAGENT),
        ],
    )
    def test_the_role_and_the_prompts_choose_it(
        self, role: AgentRole, instructions: str, system_prompt: str | None, variant: Variant
    ) -> None:
        assert variant_for(role, instructions=instructions, system_prompt=system_prompt) is variant

    def test_a_workflow_actor_takes_no_system_prompt_beside_its_instructions(self) -> None:
        with pytest.raises(BadInput, match="not both"):
            variant_for(AgentRole.WORKFLOW_ACTOR, instructions="Do.", system_prompt="You are.")

    def test_a_subagent_takes_no_system_prompt(self) -> None:
        with pytest.raises(BadInput, match="prompt of its type"):
            variant_for(AgentRole.SUBAGENT, system_prompt="You are.")

    @pytest.mark.parametrize("variant", [v for v in Variant if v is not Variant.CUSTOM_PROMPT])
    def test_a_system_prompt_that_nobody_would_read_is_refused(self, variant: Variant) -> None:
        with pytest.raises(BadInput, match=f"the {variant} prefix takes no system prompt"):
            build(variant, replace(PLAIN, system_prompt="You are."))

    def test_a_type_prompt_that_nobody_would_read_is_refused(self) -> None:
        with pytest.raises(BadInput, match="takes no type prompt"):
            build(Variant.MAIN, replace(PLAIN, type_prompt=TypePrompt("Read.")))

    def test_the_custom_prefix_needs_its_prompt(self) -> None:
        with pytest.raises(BadInput, match="needs a system prompt"):
            build(Variant.CUSTOM_PROMPT, PLAIN)


def test_a_cold_resume_takes_files_and_date_anew_and_keeps_the_rest() -> None:
    fresh = Snapshot("/x", False, "mac", None, "13", None, "2029-01-01")
    resumed = refreshed(SNAPSHOT, fresh)
    assert (resumed.instructions, resumed.diagnostics, resumed.local_date) == ((), (), "2029-01-01")
    assert replace(resumed, instructions=SNAPSHOT.instructions, diagnostics=SNAPSHOT.diagnostics,
                   local_date=SNAPSHOT.local_date) == SNAPSHOT  # fmt: skip
