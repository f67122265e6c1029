"""What a resumed agent is told about calls that its process did not finish."""

import anyio

from actors.agent import Agent
from actors.history import MessageEntry, ResultStatus
from actors.records import EntriesAppended, TurnEnded, TurnStop
from actors.state import AgentFold
from actors.tools import tool
from host.ids import CountingIds
from host.recovery import closing_records
from host.store.memory import MemoryStore
from host.testing import VirtualClock
from providers.scripted import ScriptedProvider, call
from tests.host.hosts import scripted_host


@tool
async def change(what: str) -> str:
    """Changes something, which takes ten seconds."""
    await anyio.sleep(10)
    return f"changed {what}"


async def cut_off_log() -> AgentFold:
    """The log of a turn with two changing calls, as a kill during the first one leaves it."""
    store = MemoryStore()
    provider = ScriptedProvider([[call("change", {"what": "a"}), call("change", {"what": "b"})]])
    fold = AgentFold()
    async with scripted_host(provider, store=store) as host:
        session = await host.start(Agent("main", tools=[change]))
        await session.post("Begin.")
        await anyio.sleep(5)
        for stored in (await store.load(session.id)).records:
            fold.apply(stored.record)
    return fold


async def test_a_call_with_effects_is_logged_before_it_runs() -> None:
    fold = await cut_off_log()
    assert fold.turn is not None
    assert len(fold.turn.started_calls) == 1


async def test_a_begun_call_may_have_had_effects_and_one_not_begun_had_none() -> None:
    fold = await cut_off_log()
    results, ended = closing_records(fold, CountingIds(), VirtualClock())
    assert isinstance(results, EntriesAppended)
    statuses = [entry.status for entry in results.entries if isinstance(entry, MessageEntry)]
    assert statuses == [ResultStatus.INTERRUPTED, ResultStatus.NOT_STARTED]
    assert isinstance(ended, TurnEnded)
    assert ended.stop is TurnStop.LOST


async def test_without_an_open_turn_there_is_nothing_to_close() -> None:
    fold = await cut_off_log()
    for record in closing_records(fold, CountingIds(), VirtualClock()):
        fold.apply(record)
    assert fold.turn is None
    assert closing_records(fold, CountingIds(), VirtualClock()) == ()
