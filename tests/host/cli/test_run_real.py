"""`callboard run` with a script file, against a model server as a process."""

import json

import pytest

from tests.host.cli.processes import Home, events_of
from tests.real.conftest import LLMock

pytestmark = pytest.mark.real

MODEL = ("--model", "openai:gpt-5.6-terra")
SCRIPT = '''
from host import workflow

@workflow
async def greet(run, names: list[str]) -> list[str]:
    """Greets everybody."""
    if not names:
        raise ValueError("nobody to greet")
    return [await run.agent(f"Greet {name}", name=name) for name in names]
'''


@pytest.fixture
def script(connected: Home) -> str:
    (connected.folder / "greet.py").write_text(SCRIPT)
    return "greet.py"


def test_the_result_goes_to_stdout_and_the_agents_to_stderr(
    connected: Home, model_server: LLMock, script: str
) -> None:
    model_server.script({"type": "reply", "text": "Hello Ada."}, {"type": "reply", "text": "Grüezi."})
    done = connected.run("run", script, "--args", '{"names": ["Ada", "Zoe"]}', *MODEL)
    assert (json.loads(done.stdout), done.code) == (["Hello Ada.", "Grüezi."], 0)
    assert "→ Ada · openai:gpt-5.6-terra · Greet Ada" in done.stderr
    assert "✓ Zoe · completed" in done.stderr
    assert "greet completed · 2 agents" in done.stderr


def test_a_program_reads_the_events_of_a_run(connected: Home, model_server: LLMock, script: str) -> None:
    model_server.script({"type": "reply", "text": "Hello."})
    done = connected.run("run", script, "--args", '{"names": ["Ada"]}', "--json", *MODEL)
    events = events_of(done.stdout)
    assert [event["event"] for event in events] == [
        "run_started",
        "agent_started",
        "agent_ended",
        "run_ended",
    ]
    assert events[-1]["result"] == ["Hello."]
    assert done.stderr == ""


def test_a_script_that_fails_is_told_with_its_line_and_exit_code_1(connected: Home, script: str) -> None:
    done = connected.run("run", script, "--args", '{"names": []}', *MODEL)
    assert (done.stdout, done.code) == ("", 1)
    assert "nobody to greet" in done.stderr
    assert "line 8" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("args", "wanted"),
    [("[1]", "a JSON object wanted"), ("{", "no JSON"), ("{}", "names: it is missing")],
)
def test_arguments_that_do_not_fit_are_told_before_anything_starts(
    connected: Home, script: str, args: str, wanted: str
) -> None:
    done = connected.run("run", script, "--args", args, *MODEL)
    assert (done.stdout, done.code) == ("", 2)
    assert wanted in done.stderr
