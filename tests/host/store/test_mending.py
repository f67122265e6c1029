"""Sessions whose logs lost records: mended, they resume, and what the model gets next is legal."""

import random
from collections.abc import Collection, Mapping, Sequence

import anyio
import pytest

from actors.address import AgentId
from actors.agent import Agent
from actors.history import EntryId, MessageEntry
from actors.records import (
    AgentOpened,
    EnvelopeAccepted,
    EnvelopesTaken,
    ModeChanged,
    Record,
    RecordsSkipped,
    TurnStop,
)
from actors.state import AgentFold
from host.host import Host
from host.ids import CountingIds
from host.permissions import PermissionMode
from host.store.chain import first_link, link
from host.store.codec import RECORD_KINDS, encode_record
from host.store.identity import Hints, Identities
from host.store.judging import judge
from host.store.memory import MemoryStore
from host.store.mending import mend
from host.store.survey import Found
from host.store.verdicts import Claim, Verdict
from host.store.wreck import Row
from providers.model import Request, text_of
from providers.scripted import Answer, ScriptedProvider, always, call, say, think, wait
from tests.host.hosts import scripted_host
from tests.host.judging import envelopes, records_of
from tests.host.programs import TOOLS, Cast

Logs = Mapping[AgentId, Sequence[Record]]
Places = Collection[tuple[AgentId, int]]


def rows_of(
    agent_id: AgentId, records: Sequence[Record], lost: Collection[int], changed: Collection[int]
) -> list[Row]:
    """The rows of a log, some of them away, some with other data than were written."""
    rows: list[Row] = []
    last = first_link(agent_id)
    for seq, record in enumerate(records):
        encoded = encode_record(record)
        last = link(last, encoded)
        data = encoded.data + b" " if seq in changed else encoded.data
        if seq not in lost:
            row: Row = {"agent_id": agent_id, "seq": seq, "kind": encoded.kind}
            rows.append({**row, "version": encoded.version, "data": data, "hash": last})
    return rows


def found(
    agent_id: AgentId, records: Sequence[Record], lost: Collection[int], changed: Collection[int] = ()
) -> Found:
    """What a store with this damage holds of an agent; its line in the listing is there."""
    opened = records[0]
    assert isinstance(opened, AgentOpened)
    raw: Row = {
        "agent_id": agent_id,
        "root_id": opened.root_id,
        "parent_id": opened.parent_id,
        "name": opened.name,
        "role": opened.role.value,
        "created_at": opened.at,
    }
    rows = rows_of(agent_id, records, lost, changed)
    return Found(agent_id, None, raw, judge(agent_id, rows, {}, Claim(len(records)), has_hashes=True))


async def mended_store(logs: Logs, lost: Places = (), changed: Places = ()) -> MemoryStore:
    """A store with the logs as a repair leaves them."""

    def of(places: Places, agent_id: AgentId) -> set[int]:
        return {seq for one, seq in places if one == agent_id}

    all_found = {
        agent_id: found(agent_id, log, of(lost, agent_id), of(changed, agent_id))
        for agent_id, log in logs.items()
    }
    identities = Identities.of(map(Hints.of, all_found.values()), cwd="/fallback", now_s=1.0)
    ids = CountingIds()
    store = MemoryStore()
    async with store:
        for agent_id, opened in identities.opened.items():
            one = all_found.get(agent_id)
            verdict = Verdict(agent_id, (), (), True) if one is None else one.verdict
            log = mend(verdict, opened, lambda: EntryId(ids.new("marker")), 1.0)
            async with await store.lease(opened.root_id):
                await store.create_all([(opened, tuple(log.records[1:]))])
    return store


async def logs_of(store: MemoryStore) -> dict[AgentId, list[Record]]:
    async with store:
        return {row.agent_id: await records_of(store, row.agent_id) for row in await store.agents()}


async def scripted_session(provider: ScriptedProvider) -> Logs:
    """A session in which most of what can be in a log happens, cut off in the middle of a call."""
    store = MemoryStore()
    async with scripted_host(provider, store=store) as host:
        session = await host.start(Agent("ann", instructions="Work.", tools=TOOLS))
        host.set_mode(session, PermissionMode.BYPASS)
        for number in range(4):
            await session.ask(f"question {number}")
        receipt = await session.post("never mind")
        receipt.withdraw()
        await session.post("the last question")
        await anyio.sleep(3)
        await session.tell("a steer that waits")
        await anyio.sleep(1)
    return await logs_of(store)


def answers() -> ScriptedProvider:
    n_asked = 0

    def answer(request: Request) -> Answer:
        nonlocal n_asked
        n_asked += 1
        match n_asked % 6:
            case 1:
                return [think("hm"), say("Two."), call("look"), call("change")]
            case 2:
                return [
                    think("so"),
                    say("Done."),
                    call("Agent", {"description": "a task", "prompt": "Do it."}),
                ]
            case 3:
                return [think("and"), say("It is done.")]
            case 4:
                return [call("change", {"for_s": 5}), call("nothing_of_this_name")]
            case 5:
                return [wait(1), say("Slowly.")]
            case _:
                return "Yes."

    return ScriptedProvider(answer)


async def assert_goes_on(store: MemoryStore, provider: ScriptedProvider, root: AgentId) -> Sequence[Record]:
    """The session resumes, works off what it has and answers; the provider refuses what is not legal."""
    async with scripted_host(provider, store=store, ids=CountingFrom(10_000)) as host:
        session = await host.resume(root, tools=TOOLS)
        await anyio.sleep(1_000)
        await session.ask("And now?")
        await anyio.sleep(1_000)
        last = session.fold.last_turn
        assert last is not None
        assert last.stop is TurnStop.DONE, last.error
        for one in host.agents():
            folded = AgentFold()
            log = await records_of(store, one.id)
            for record in log:
                folded.apply(record)
            assert folded == one.fold
        return await records_of(store, root)


class CountingFrom(CountingIds):
    """Ids that an earlier host has not given."""

    def __init__(self, first: int) -> None:
        super().__init__()
        for _ in range(first):
            self.new("")


@pytest.mark.parametrize("step", [9, pytest.param(1, marks=pytest.mark.slow)])
async def test_whichever_record_is_lost_the_session_goes_on(step: int) -> None:
    provider = answers()
    logs = await scripted_session(provider)
    assert {type(record) for log in logs.values() for record in log} >= KINDS_IN_EVERY_SESSION
    root = next(iter(logs))
    for agent_id, log in logs.items():
        for seq in range(0, len(log), step):
            for damage in ("lost", "changed"):
                store = await mended_store(logs, **{damage: {(agent_id, seq)}})
                try:
                    after = await assert_goes_on(store, provider, root)
                except BaseException as error:
                    raise AssertionError(
                        f"{damage}: record {seq} of {agent_id}, {log[seq]}: {error!r}"
                    ) from error
                if agent_id == root:
                    assert sum(r.n_records for r in after if isinstance(r, RecordsSkipped)) == 1


KINDS_IN_EVERY_SESSION = {
    RECORD_KINDS[name]
    for name in (
        *("agent_opened", "snapshot_taken", "envelope_accepted", "envelopes_taken", "envelopes_presented"),
        *(
            "envelope_dropped",
            "entries_appended",
            "turn_started",
            "prefix_built",
            "request_made",
            "calls_started",
        ),
        *("turn_ended", "mode_changed"),
    )
}


async def run_with_holes(seed: int) -> None:
    """A random program, then holes of any size in its logs."""
    dice = random.Random(seed)
    store = MemoryStore()
    cast = Cast(dice)
    async with scripted_host(ScriptedProvider(cast.answer), store=store, ids=cast.ids) as host:
        await live(host, cast)
    logs = await logs_of(store)
    places = [(agent_id, seq) for agent_id, log in logs.items() for seq in range(len(log))]
    for _ in range(3):
        provider = ScriptedProvider(always("As before."))  # what fails from here on is not the model
        lost: set[tuple[AgentId, int]] = set()
        for _ in range(dice.choice((1, 2, 5))):
            begin = dice.randrange(len(places))
            lost.update(places[begin : begin + dice.choice((1, 1, 3, 20))])
        mended = await mended_store(logs, lost)
        async with scripted_host(provider, store=mended, ids=cast.ids) as host:
            for root in cast.roots:
                session = await host.resume(root, tools=TOOLS)
                await anyio.sleep(2_000)
                await session.ask("And now?")
                last = session.fold.last_turn
                assert last is not None
                assert last.stop is TurnStop.DONE, last.error


async def live(host: Host, cast: Cast) -> None:
    cast.roots.append((await host.start(Agent("ann", tools=TOOLS))).id)
    async with anyio.create_task_group() as people:
        for _ in range(3):
            people.start_soon(cast.person, host)
        await anyio.sleep(60)
        people.cancel_scope.cancel()


@pytest.mark.parametrize("seed", range(8))
async def test_a_random_session_with_holes_goes_on(seed: int) -> None:
    await run_with_holes(seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(100, 1100, 100))
async def test_hundreds_of_random_sessions_with_holes_go_on(first: int) -> None:
    for seed in range(first, first + 100):
        try:
            await run_with_holes(seed)
        except BaseException as error:
            raise AssertionError(f"seed {seed}: {error!r}") from error


async def test_the_model_is_told_at_its_place_what_is_gone() -> None:
    provider = answers()
    logs = await scripted_session(provider)
    root = next(iter(logs))
    store = await mended_store(logs, lost={(root, 12), (root, 13)})
    async with scripted_host(provider, store=store, ids=CountingFrom(10_000)) as host:
        session = await host.resume(root, tools=TOOLS)
        said = [text_of(e.message.content) for e in session.history if isinstance(e, MessageEntry)]
        assert [text for text in said if "2 records could not be read back" in text] != []
        await session.ask("And now?")
    assert "2 records could not be read back" in str(provider.requests[-1].messages)


async def test_a_message_that_stands_in_the_history_is_not_given_twice() -> None:
    provider = answers()
    logs = await scripted_session(provider)
    root = next(iter(logs))
    taken = [seq for seq, record in enumerate(logs[root]) if isinstance(record, EnvelopesTaken)]
    for seq in taken:
        store = await mended_store(logs, lost={(root, seq)})
        after = await assert_goes_on(store, provider, root)
        ids = [one for record in after if isinstance(record, EnvelopesTaken) for one in record.envelope_ids]
        assert len(ids) == len(set(ids))
        assert {e.id for e in envelopes(list(after))} >= {e.id for e in envelopes(list(logs[root]))}
        for text in ("question 0", "question 3", "the last question", "a steer that waits"):
            assert str(provider.requests[-1].messages).count(text) == 1, (seq, text)


async def test_a_lost_change_of_the_mode_gives_no_more_freedom_than_before() -> None:
    provider = answers()
    logs = await scripted_session(provider)
    root = next(iter(logs))
    behind = next(seq for seq, record in enumerate(logs[root]) if isinstance(record, ModeChanged)) + 1
    async with await mended_store(logs, lost={(root, behind)}) as store:
        assert modes(await records_of(store, root)) == [PermissionMode.BYPASS, PermissionMode.DEFAULT]
    async with await mended_store(logs, changed={(root, behind)}) as store:
        # What was changed tells its kind still: it was no mode.
        assert modes(await records_of(store, root)) == [PermissionMode.BYPASS]
    async with await mended_store(logs, lost={(root, behind - 2)}) as store:
        # What was set afterwards holds, whatever was lost before it.
        assert modes(await records_of(store, root)) == [PermissionMode.BYPASS]


async def test_a_whole_log_is_left_as_it_is() -> None:
    logs = await scripted_session(answers())
    assert await logs_of(await mended_store(logs)) == logs


def modes(log: Sequence[Record]) -> list[str]:
    return [record.mode for record in log if isinstance(record, ModeChanged)]


async def test_children_of_a_lost_root_come_back_below_one_made_again() -> None:
    provider = answers()
    logs = await scripted_session(provider)
    root, child, *_ = logs
    store = await mended_store({child: logs[child]})
    async with store:
        rows = await store.agents()
        assert [(row.agent_id, row.parent_id) for row in rows] == [(root, None), (child, root)]
        accepted = next(r.envelope for r in logs[child] if isinstance(r, EnvelopeAccepted))
        assert rows[0].name == accepted.sender == "ann"
        kinds = [type(record) for record in await records_of(store, root)]
        assert kinds == [AgentOpened, RecordsSkipped, ModeChanged]
    await assert_goes_on(store, provider, root)
