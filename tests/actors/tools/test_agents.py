from pathlib import Path

import pytest

from actors.address import Address, AgentId
from actors.errors import BadInput, UnknownRecipient
from actors.history import ResultStatus
from actors.ports import ChildReport, SpawnOrder
from actors.records import AgentState
from actors.tools import builtin_tools
from tests.actors.tools.fakes import FakeHost, context_in

TOOLS = builtin_tools()
TASK = {"description": "count files", "prompt": "Count the files."}


async def test_an_agent_is_started_as_ordered_and_its_answer_comes_back() -> None:
    host = FakeHost()
    sent = {**TASK, "type": "explore", "name": "helper", "model": "local:small"}
    output = await TOOLS["Agent"].run(context_in(Path("/"), host), dict(sent))
    assert host.orders == [
        SpawnOrder("count files", "Count the files.", "explore", "helper", "local:small", False)
    ]
    assert output.status is ResultStatus.OK
    assert str(output.content).startswith("done\n\n[agent helper (id a2) completed.")


@pytest.mark.parametrize("state", [AgentState.FAILED, AgentState.CANCELLED, AgentState.LOST])
async def test_a_child_that_ended_badly_is_an_error_with_what_it_left(state: AgentState) -> None:
    host = FakeHost(ChildReport(AgentId("a2"), Address("helper"), state, "half"))
    output = await TOOLS["Agent"].run(context_in(Path("/"), host), dict(TASK))
    assert output.status is ResultStatus.ERROR
    assert str(state) in str(output.content)
    assert str(output.content).endswith("half")


async def test_a_background_child_is_told_as_running() -> None:
    host = FakeHost(ChildReport(AgentId("a2"), Address("helper"), AgentState.RUNNING, ""))
    output = await TOOLS["Agent"].run(context_in(Path("/"), host), {**TASK, "run_in_background": True})
    assert host.orders[0].is_background
    assert "works in the background (running). A notification comes" in str(output.content)
    assert "completed" not in str(output.content)


async def test_a_message_is_told_as_accepted_and_not_as_read() -> None:
    host = FakeHost()
    context = context_in(Path("/"), host)
    context.hops = 3
    output = await TOOLS["SendMessage"].run(context, {"to": "helper", "body": "Stop at 3."})
    assert (host.sent[0].sender, host.sent[0].recipient, host.sent[0].body) == ("a1", "helper", "Stop at 3.")
    assert host.sent[0].hops == 3
    assert str(output.content).startswith("Accepted: message e1 to helper, number 1")
    assert "has not been read yet" in str(output.content)


async def test_a_message_to_nobody_is_refused_by_the_postbox() -> None:
    with pytest.raises(UnknownRecipient):
        await TOOLS["SendMessage"].run(context_in(Path("/"), FakeHost()), {"to": "nobody", "body": "?"})


@pytest.mark.parametrize(("name", "sent"), [("Agent", TASK), ("SendMessage", {"to": "a", "body": "b"})])
async def test_without_a_host_there_is_nobody_to_start_or_write_to(name: str, sent: dict[str, str]) -> None:
    with pytest.raises(BadInput, match=f"{name} needs a host"):
        await TOOLS[name].run(context_in(Path("/")), dict(sent))
