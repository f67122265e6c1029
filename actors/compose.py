"""From history to one request that fits: projection, then the budget."""

from collections.abc import Sequence
from dataclasses import dataclass

from actors.budget import RequestSize, reserve_tokens
from actors.history import Entry
from actors.ports import ResolvedModel
from actors.projection import Projection, ProjectionOptions, project
from providers.model import OutputSchema, Priority, Request, ToolSpec


@dataclass(frozen=True, slots=True)
class Composed:
    """A request, the projection that it came from, and its size in tokens."""

    request: Request
    projection: Projection
    size: RequestSize


def compose(
    prefix: Sequence[Entry],
    history: Sequence[Entry],
    tools: tuple[ToolSpec, ...],
    model: ResolvedModel,
    options: ProjectionOptions,
    *,
    max_output_tokens: int | None = None,
    output: OutputSchema | None = None,
    priority: Priority = Priority.HUMAN,
) -> Composed:
    """One legal request, and whether it fits; one that does not is the caller's to refuse."""
    projection = project((*prefix, *history), options)
    profile = model.profile
    request = Request(
        model=profile.name,
        messages=projection.messages,
        tools=tools,
        max_output_tokens=max_output_tokens,
        output=output,
        priority=priority,
    )
    return Composed(request, projection, _size(request, projection, len(prefix), model))


def _size(request: Request, projection: Projection, n_prefix: int, model: ResolvedModel) -> RequestSize:
    count = model.counter.count_message
    prefix = conversation = 0
    for message, sources in zip(request.messages, projection.sources, strict=True):
        if sources and sources[0] < n_prefix:
            prefix += count(message)
        else:
            conversation += count(message)
    profile = model.profile
    limit = request.max_output_tokens or profile.max_output_tokens
    return RequestSize(
        prefix=prefix,
        tools=model.counter.count_tools(request.tools) if request.tools else 0,
        conversation=conversation,
        window=profile.window_tokens,
        reserve=reserve_tokens(limit, profile.window_tokens),
    )
