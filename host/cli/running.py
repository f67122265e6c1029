"""Runs a workflow script and shows what happens."""

import json
import sys
from pathlib import Path
from typing import assert_never

from pydantic import JsonValue

from actors.errors import BadInput
from actors.records import AgentState
from host.cli.boundary import ExitCode
from host.cli.options import Settings
from host.cli.output import one_line, put, put_json, visible
from host.cli.view import duration, spent
from host.opening import open_host
from host.workflows import RunEvent, load_workflow, run_event_to_json, run_workflow
from host.workflows.events import (
    AgentEnded,
    AgentStarted,
    Logged,
    PhaseEnded,
    PhaseStarted,
    Reported,
    RunEnded,
    RunStarted,
)

_PREVIEW_CHARACTERS = 80


async def run_file(file: Path, name: str | None, args: str, settings: Settings, *, as_json: bool) -> int:
    """Runs the workflow of a file; gives the exit code.

    Raises:
        WorkflowInvalid, ArgumentsInvalid, BadInput: nothing was started.
    """
    workflow = load_workflow(file, name)
    arguments = read_arguments(args)
    on_event = _put_event if as_json else _put_line
    async with open_host(arguments=settings.arguments(), cwd=settings.folder()) as host:
        outcome = await run_workflow(host, workflow, arguments, on_event)
    if outcome.state is not AgentState.COMPLETED:
        return ExitCode.FAILED
    if not as_json:
        put(json.dumps(outcome.result, ensure_ascii=False, indent=2) + "\n")
    return ExitCode.DONE


def read_arguments(text: str) -> dict[str, JsonValue]:
    """The arguments of a workflow from the command line.

    Raises:
        BadInput: no JSON, or no object.
    """
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"--args: a JSON object wanted, but this is no JSON: {error}") from error
    if not isinstance(value, dict):
        raise BadInput(f"--args: a JSON object wanted, got {one_line(text, _PREVIEW_CHARACTERS)}")
    return value


def _put_event(event: RunEvent) -> None:
    put_json(run_event_to_json(event))


def _put_line(event: RunEvent) -> None:
    put(visible(line_of(event)) + "\n", sys.stderr)


def line_of(event: RunEvent) -> str:
    """What a person reads of an event of a run, indented by its phases."""
    match event:
        case RunStarted():
            return f"{event.workflow} began"
        case PhaseStarted():
            return f"{'  ' * len(event.phase)}{event.phase[-1]}"
        case PhaseEnded():
            return (
                f"{'  ' * len(event.phase)}{event.phase[-1]}: {event.state.value} · {duration(event.seconds)}"
            )
        case AgentStarted():
            preview = one_line(event.preview, _PREVIEW_CHARACTERS)
            return f"{_inside(event.phase)}→ {event.label} · {event.model} · {preview}"
        case AgentEnded():
            return _inside(event.phase) + _agent_ended(event)
        case Logged():
            return _inside(event.phase) + event.text
        case Reported():
            item = json.dumps(event.item, ensure_ascii=False)
            return f"{_inside(event.phase)}• {one_line(item, 2 * _PREVIEW_CHARACTERS)}"
        case RunEnded():
            agents = f"{event.n_agents} {'agent' if event.n_agents == 1 else 'agents'}"
            cost = f"{agents} · {duration(event.at_s)} · {spent(event.usage)}"
            error = "" if event.error is None else f"\n! {event.error}"
            return f"{event.workflow} {event.state.value} · {cost}{error}"
        case _:
            assert_never(event)


def _agent_ended(event: AgentEnded) -> str:
    mark = "✓" if event.state is AgentState.COMPLETED else "✗"
    line = f"{mark} {event.label} · {event.state.value} · {duration(event.seconds)} · {spent(event.usage)}"
    return line if event.error is None else f"{line} · {one_line(event.error, 2 * _PREVIEW_CHARACTERS)}"


def _inside(phase: tuple[str, ...]) -> str:
    return "  " * (len(phase) + 1)
