"""Runs a workflow from its arguments to its outcome."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

import anyio
from pydantic import JsonValue
from pydantic_core import PydanticSerializationError, to_jsonable_python

from actors.records import AgentState
from host.errors import WorkflowError
from host.host import Host
from host.workflows.blame import blamed
from host.workflows.cast import Cast
from host.workflows.definition import Workflow
from host.workflows.events import RunEnded, RunEvent, RunStarted
from host.workflows.limits import RunLimits
from host.workflows.run import Run
from providers.model import Usage

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RunOutcome(Generic[T]):
    """How a run ended: `state` is completed or failed; a cancelled run raises.

    `result` is the JSON form of `value`. `error` tells a person what went
    wrong and in which line of the script; `failure` is what was raised.
    """

    state: AgentState
    value: T | None
    result: JsonValue
    error: str | None
    failure: BaseException | None
    n_agents: int
    usage: Usage
    seconds: float


async def run_workflow(
    host: Host,
    workflow: Workflow[T],
    arguments: Mapping[str, object],
    on_event: Callable[[RunEvent], None] = lambda _: None,
    *,
    limits: RunLimits | None = None,
) -> RunOutcome[T]:
    """Runs the script on this host; when this returns, no agent of the run is left.

    `on_event` must not block; it hears `RunStarted` first and `RunEnded`
    last, also of a run that is cancelled. Whatever the script raises is an
    outcome, not an error of this call.

    Raises:
        ArgumentsInvalid, WorkflowInvalid: before anything was started.
    """
    bound = workflow.bind(arguments)
    cast = Cast(host, await host.look(), on_event, limits or RunLimits())
    on_event(RunStarted(workflow.name, _plain(dict(arguments)), cast.at_s()))
    try:
        try:
            value = workflow.checked(await workflow.function(Run(cast, on_event), **bound))
            outcome = _outcome(cast, AgentState.COMPLETED, value=value, result=_json(workflow, value))
        finally:
            await cast.close()
    except anyio.get_cancelled_exc_class():
        _tell_end(workflow, _outcome(cast, AgentState.CANCELLED, error="the run was cancelled"), on_event)
        raise
    except (Exception, SystemExit) as failure:  # noqa: BLE001 - the end of a script, whatever it raised
        error = blamed(failure, inspect.getfile(workflow.function))
        outcome = _outcome(cast, AgentState.FAILED, error=error, failure=failure)
    _tell_end(workflow, outcome, on_event)
    return outcome


def _outcome(
    cast: Cast,
    state: AgentState,
    *,
    value: T | None = None,
    result: JsonValue = None,
    error: str | None = None,
    failure: BaseException | None = None,
) -> RunOutcome[T]:
    return RunOutcome(state, value, result, error, failure, cast.n_agents, cast.usage, cast.at_s())


def _tell_end(workflow: Workflow[T], outcome: RunOutcome[T], on_event: Callable[[RunEvent], None]) -> None:
    on_event(
        RunEnded(
            workflow.name,
            outcome.state,
            outcome.result,
            outcome.error,
            outcome.n_agents,
            outcome.usage,
            outcome.seconds,
        )
    )


def _json(workflow: Workflow[T], value: T) -> JsonValue:
    try:
        result: JsonValue = to_jsonable_python(value, inf_nan_mode="strings")
    except PydanticSerializationError as error:
        raise WorkflowError(
            f"the workflow {workflow.name} returned {type(value).__name__}, which has no JSON form"
        ) from error
    return result


def _plain(arguments: dict[str, object]) -> dict[str, JsonValue]:
    plain: dict[str, JsonValue] = to_jsonable_python(arguments, inf_nan_mode="strings", fallback=repr)
    return plain
