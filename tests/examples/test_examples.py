"""The examples, on a scripted model."""

from pathlib import Path

import pytest

from examples.coordinator_messages import AFTERTHOUGHT, TASK, interrupt
from examples.orchestrate_subagents import QUESTION, orchestrate
from examples.scripted_workflow import Reader, sort_pages
from host import load_workflow, run_workflow
from providers.scripted import ScriptedProvider, otherwise, record, routes, say, wait
from tests.host.hosts import scripted_host

EXAMPLES = Path(__file__).parents[2] / "examples"


async def test_the_coordinator_waits_for_one_subagent_and_is_notified_of_the_other(
    capsys: pytest.CaptureFixture[str],
) -> None:
    provider = ScriptedProvider(
        routes(
            (QUESTION.format("a log"), [[wait(5.0), say("It remembers.")]]),
            (QUESTION.format("a mailbox"), [[wait(1.0), say("It waits for you.")]]),
            ("You coordinate others", ["Both have answered."]),
        )
    )
    async with scripted_host(provider) as host:
        assert await orchestrate(host) == "Both have answered."
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "awaited is completed: It waits for you."
    assert lines[1].startswith("awaited has ended its turn")
    assert lines[2].startswith("in-background has ended its turn")
    assert lines[3].startswith("coordinator is notified:")


async def test_the_message_reaches_the_writer_in_its_turn_and_its_receipt_says_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    provider = ScriptedProvider([[wait(2.0), say("Sent is not read.")], "Know it arrived."])
    async with scripted_host(provider) as host:
        assert await interrupt(host) == "Know it arrived."
    first, second = (" ".join(str(m.content) for m in r.messages) for r in provider.requests[:2])
    assert TASK in first
    assert AFTERTHOUGHT not in first
    assert AFTERTHOUGHT in second
    states = [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()]
    assert states == ["accepted", "taken", "presented", "answered"]


async def test_the_workflow_sorts_the_pages_by_what_the_agents_chose(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.md").write_text(f"# Page {name}")
    provider = ScriptedProvider(
        routes(("Page b", [record({"value": "developer"})]), (otherwise, [record({"value": "newcomer"})] * 2))
    )
    async with scripted_host(provider) as host:
        outcome = await run_workflow(host, sort_pages, {"folder": str(tmp_path)})
    assert outcome.value == {
        Reader.NEWCOMER: ["a.md", "c.md"],
        Reader.USER: [],
        Reader.DEVELOPER: ["b.md"],
    }


def test_the_workflow_can_be_run_from_its_file() -> None:
    assert load_workflow(EXAMPLES / "scripted_workflow.py").name == "sort_pages"


def test_every_example_fits_on_a_screen() -> None:
    files = [file for file in EXAMPLES.glob("*.py") if file.name != "__init__.py"]
    assert len(files) >= 3
    assert {file.name for file in files if len(file.read_text().splitlines()) >= 60} == set()
