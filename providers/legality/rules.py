"""All rules together: what a provider would refuse, found before it is sent."""

from providers.legality import content, output, pairing, places, reasoning, tools, whole
from providers.legality.finding import Finding, Rule
from providers.model import Dialect, ModelProfile, Request

RULES: tuple[Rule, ...] = (
    pairing.calls_have_results,
    pairing.results_have_calls,
    pairing.call_ids_are_unique,
    pairing.arguments,
    content.roles_hold_their_own,
    content.blocks_fit_the_role,
    content.no_empty_text,
    content.no_blank_text,
    content.something_is_said,
    content.attachments_have_a_form,
    content.unicode,
    reasoning.thinking,
    reasoning.reasoning_items,
    places.system_places,
    places.cache_marks,
    places.cache_mark_targets,
    tools.tool_names,
    tools.number_of_tools,
    tools.tool_descriptions,
    tools.tool_schemas,
    tools.tool_properties,
    tools.tool_arrays,
    output.output_schema,
    output.output_name,
    output.output_limit,
    whole.number_of_messages,
    whole.request_as_a_whole,
)


def check(request: Request, dialect: Dialect, profile: ModelProfile) -> tuple[Finding, ...]:
    """Everything in the request that this dialect refuses; empty for a legal one."""
    return tuple(finding for rule in RULES for finding in rule(request, dialect, profile))
