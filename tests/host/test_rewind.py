"""A conversation taken back to what it was before a turn."""

from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from pydantic import JsonValue

from actors import builtin_tools
from actors.address import AgentId
from actors.agent import Agent
from actors.errors import BadInput
from actors.events import WarningRaised
from actors.history import MessageEntry, ReminderEntry
from actors.ports import SpawnOrder
from actors.records import AgentState, EnvelopeAccepted, EnvelopeDropped, EnvelopesTaken, Rewound
from actors.state import folded
from actors.tools import tool
from host.config import Config
from host.errors import RestoreRefused, StoreUnavailable
from host.host import Host
from host.hub import Subscription
from host.ids import CountingIds
from host.permissions import PermissionMode
from host.session import Session
from host.store.memory import MemoryStore
from host.store.ports import AgentRow
from providers.model import Request, Role, text_of
from providers.script import Say, WaitFor
from providers.scripted import Answer, ScriptedProvider, always, call, otherwise, routes, say, wait, wait_for
from tests.host.hosts import scripted_host
from tests.host.lagging import LaggingStore
from tests.host.stepping import cancelled_after

BYPASS = Config(store="unused", permission_mode=PermissionMode.BYPASS)


def said(session: Session) -> list[str]:
    return [text_of(e.message.content) for e in session.history if isinstance(e, MessageEntry)]


def notices(session: Session) -> list[str]:
    reminders = [e for e in session.history if isinstance(e, ReminderEntry)]
    return [e.body for e in reminders if e.source == "rewind_notice"]


# --- history


async def test_the_last_turn_is_gone_from_the_history_and_the_model_is_told() -> None:
    provider = ScriptedProvider(["One.", "Two.", "Other."])
    async with scripted_host(provider) as host:
        session = await host.start(Agent("main"))
        await session.ask("First.")
        await session.ask("Second.")
        report = await session.rewind()
        assert report.text == "Second."
        assert said(session) == ["First.", "One."]
        assert await session.ask("Rather this.") == "Other."
        sent = [text_of(m.content) for m in provider.requests[-1].messages]
        assert not any("Second." in text or "Two." in text for text in sent)
        assert any("took the conversation back to this point" in text for text in sent)


async def test_everything_from_the_named_turn_on_is_gone() -> None:
    async with scripted_host(ScriptedProvider(always("Yes."))) as host:
        session = await host.start(Agent("main"))
        for text in ("First.", "Second.", "Third."):
            await session.ask(text)
        turns = session.turns
        report = await session.rewind(turns[1].turn_id)
        assert report.turns == (turns[1].turn_id, turns[2].turn_id)
        assert report.text == "Second."
        assert said(session) == ["First.", "Yes."]
        assert session.fold.last_turn == turns[0].ended


async def test_all_of_it_can_be_taken_back() -> None:
    provider = ScriptedProvider(always("Yes."))
    async with scripted_host(provider) as host:
        session = await host.start(Agent("main"))
        await session.ask("First.")
        await session.rewind()
        assert said(session) == []
        assert await session.ask("Anew.") == "Yes."
        with pytest.raises(BadInput, match="the history holds no turn turn_77; it has 1 turns"):
            await session.rewind("turn_77")


async def test_taken_back_twice_to_one_place_there_is_one_notice() -> None:
    async with scripted_host(ScriptedProvider(always("Yes."))) as host:
        session = await host.start(Agent("main"))
        await session.ask("First.")
        for text in ("Second.", "Third."):
            await session.ask(text)
            await session.rewind()
        assert said(session) == ["First.", "Yes."]
        assert len(notices(session)) == 1


async def test_nothing_is_deleted_and_what_was_spent_stays_spent() -> None:
    store = MemoryStore()
    async with scripted_host(ScriptedProvider(always("Yes.")), store=store) as host:
        session = await host.start(Agent("main"))
        await session.ask("First.")
        before = await store.load(session.id)
        spent = session.spent
        await session.rewind()
        after = await store.load(session.id)
        assert after.records[: len(before.records)] == before.records
        assert session.spent == spent


async def test_a_resumed_session_is_as_rewound_as_the_live_one() -> None:
    store, ids = MemoryStore(), CountingIds()
    async with scripted_host(ScriptedProvider(always("Yes.")), store=store, ids=ids) as host:
        session = await host.start(Agent("main"))
        for text in ("First.", "Second.", "Third."):
            await session.ask(text)
        await session.rewind(session.turns[1].turn_id)
        await session.ask("Fourth.")
        log = await store.load(session.id)
        assert folded(stored.record for stored in log.records) == session.fold
        live = session.history
        await session.stop()
        resumed = await host.resume(session.id)
        assert resumed.history == live
        assert said(resumed) == ["First.", "Yes.", "Fourth.", "Yes."]
        await resumed.rewind()
        assert said(resumed) == ["First.", "Yes."]


async def test_without_a_turn_there_is_nothing_to_take_back() -> None:
    async with scripted_host(ScriptedProvider([])) as host:
        session = await host.start(Agent("main"))
        with pytest.raises(BadInput, match="no turn that could be taken back"):
            await session.rewind()


# --- turns at work


async def test_a_running_turn_is_cancelled_and_taken_back() -> None:
    async with scripted_host(ScriptedProvider(["One.", [say("Two"), wait(60)], "Three."])) as host:
        session = await host.start(Agent("main"))
        await session.ask("First.")
        receipt = await session.post("Second.")
        await anyio.sleep(5)
        await session.rewind()
        assert (await receipt.answered()).stop == "cancelled"
        assert said(session) == ["First.", "One."]
        assert session.state is AgentState.IDLE
        assert await session.ask("Third.") == "Three."


async def test_what_waits_in_the_mailbox_is_worked_on_behind_the_cut() -> None:
    async with scripted_host(ScriptedProvider([[wait(60), say("One.")], "Two."])) as host:
        session = await host.start(Agent("main"))
        first = await session.post("First.")
        second = await session.post("Second.")
        await first.taken()
        await session.rewind()
        assert (await second.answered()).text == "Two."
        assert said(session) == ["Second.", "Two."]


async def test_an_agent_cannot_take_itself_back_from_inside_its_turn() -> None:
    sessions: list[Session] = []

    @tool
    async def undo() -> str:
        """Takes the conversation back."""
        await sessions[0].rewind()
        return "done"

    provider = ScriptedProvider([[call("undo", {})], "No."])
    async with scripted_host(provider) as host:
        sessions.append(await host.start(Agent("main", tools=[undo])))
        assert await sessions[0].ask("Undo.") == "No."
        results = [e.message for e in sessions[0].history if isinstance(e, MessageEntry)]
        assert any("from inside its own turn" in text_of(m.content) for m in results if m.role is Role.TOOL)


# --- tasks

BACKGROUND: dict[str, JsonValue] = {
    "description": "doors",
    "prompt": "count the doors",
    "run_in_background": True,
}


def family(*answers: Answer) -> ScriptedProvider:
    """A chief with these answers, whose children take a minute."""
    child = always([wait(60), say("Seven.")])
    return ScriptedProvider(routes(("count the doors", child), (otherwise, [*answers, *["I see."] * 9])))


async def chief(host: Host) -> Session:
    return await host.start(Agent("chief", tools=[builtin_tools()["Agent"], builtin_tools()["SendMessage"]]))


async def test_tasks_of_removed_turns_are_stopped_and_never_heard_of_again() -> None:
    store = MemoryStore()
    async with scripted_host(family("One.", [call("Agent", BACKGROUND)], "Started."), store=store) as host:
        session = await chief(host)
        await session.ask("First.")
        await session.ask("Count.")
        child = host.agents()[1]
        report = await session.rewind()
        assert report.stopped == (child.name,)
        assert [s.name for s in host.agents()] == ["chief"]
        await anyio.sleep(600)
        assert said(session) == ["First.", "One."]
        log = [stored.record for stored in (await store.load(session.id)).records]
        told = {
            r.envelope.id for r in log if isinstance(r, EnvelopeAccepted) and r.envelope.task_id == child.id
        }
        taken = {one for r in log if isinstance(r, EnvelopesTaken) for one in r.envelope_ids}
        assert not told & taken
        assert session.waiting == ()
        last = folded(stored.record for stored in (await store.load(child.id)).records).last_turn
        assert last is not None
        assert last.stop == "cancelled"


async def test_nor_behind_a_resume() -> None:
    store, ids = MemoryStore(), CountingIds()
    provider = family("One.", [call("Agent", BACKGROUND)], "Started.")
    async with scripted_host(provider, store=store, ids=ids) as host:
        session = await chief(host)
        await session.ask("First.")
        await session.ask("Count.")
        await session.rewind()
    async with scripted_host(family(), store=store, ids=ids) as host:
        session = await host.resume(session.id, tools=list(builtin_tools().values()))
        await anyio.sleep(600)
        assert said(session) == ["First.", "One."]
        assert [s.name for s in host.agents()] == ["chief"]


async def test_a_report_that_waits_is_withdrawn_with_its_task() -> None:
    store = MemoryStore()
    provider = ScriptedProvider(
        routes(
            ("count the doors", [[wait(5), say("Seven.")]]),
            (otherwise, ["One.", [call("Agent", BACKGROUND)], [wait(60), say("Started.")], "Then."]),
        )
    )
    async with scripted_host(provider, store=store) as host:
        session = await chief(host)
        await session.ask("First.")
        await session.post("Count.")
        await anyio.sleep(20)
        assert [e.task_id for e in session.waiting] == [host.agents()[1].id]
        await session.rewind()
        assert session.waiting == ()
        log = [stored.record for stored in (await store.load(session.id)).records]
        assert [r.state for r in log if isinstance(r, EnvelopeDropped)] == ["withdrawn"]


async def test_reports_of_tasks_of_kept_turns_still_arrive() -> None:
    async with scripted_host(family([call("Agent", BACKGROUND)], "Started.", "Two.")) as host:
        session = await chief(host)
        await session.ask("Count.")
        await session.ask("Second.")
        await session.rewind()
        await anyio.sleep(600)
        told = [e for e in session.history if e.presentation == "task_notification"]
        assert len(told) == 1
        assert "I see." in said(session)[-1]


async def test_a_name_of_a_task_that_was_taken_back_is_free_again() -> None:
    named = {**BACKGROUND, "name": "counter"}
    async with scripted_host(
        family([call("Agent", named)], "Started.", [call("Agent", named)], "Again.")
    ) as host:
        session = await chief(host)
        await session.ask("Count.")
        first = host.find("counter").id
        await session.rewind()
        await session.ask("Count.")
        assert host.find("counter").id != first


async def test_a_subagent_is_not_taken_back_by_itself() -> None:
    async with scripted_host(family()) as host:
        session = await chief(host)
        report = await host.spawn(session, SpawnOrder("doors", "count the doors", is_background=True))
        with pytest.raises(BadInput, match="is a subagent"):
            await host.find(report.agent_id).rewind()


# --- files


def writing(path: Path, content: str) -> Answer:
    return [call("Write", {"path": str(path), "content": content})]


async def writer(host: Host) -> Session:
    return await host.start(
        Agent("main", tools=[builtin_tools()[n] for n in ("Read", "Write", "Edit", "Agent")])
    )


async def test_files_are_as_before_the_turn_again(tmp_path: Path) -> None:
    old, new = tmp_path / "old.txt", tmp_path / "made" / "new.txt"
    old.write_text("old")
    provider = ScriptedProvider(
        [[call("Read", {"path": str(old)})], writing(old, "changed"), writing(new, "new"), "Done.", "Yes."]
    )
    async with scripted_host(provider, config=BYPASS) as host:
        session = await writer(host)
        await session.ask("Write.")
        assert (old.read_text(), new.read_text()) == ("changed", "new")
        report = await session.rewind()
        assert old.read_text() == "old"
        assert not new.parent.exists()
        assert {Path(file.path) for file in report.files} == {old, new}
        assert "again as they were" in notices(session)[0]
        assert await session.ask("Still there?") == "Yes."


async def test_they_can_be_left_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "new.txt"
    async with scripted_host(ScriptedProvider([writing(path, "new"), "Done."]), config=BYPASS) as host:
        session = await writer(host)
        await session.ask("Write.")
        report = await session.rewind(restore_files=False)
        assert path.read_text() == "new"
        assert report.left == (str(path),)
        assert report.files == ()
        assert "left as they are" in notices(session)[0]


async def test_what_a_person_changed_since_is_kept_and_nothing_is_taken_back(tmp_path: Path) -> None:
    path = tmp_path / "new.txt"
    async with scripted_host(ScriptedProvider([writing(path, "new"), "Done."]), config=BYPASS) as host:
        session = await writer(host)
        await session.ask("Write.")
        path.write_text("by hand")
        with pytest.raises(RestoreRefused, match=r"new\.txt"):
            await session.rewind()
        assert path.read_text() == "by hand"
        assert said(session)[0] == "Write."
        report = await session.rewind(overwrite=True)
        assert not path.exists()
        (file,) = report.files
        assert file.replaced is not None
        assert file.replaced.artifact_id is not None


async def test_files_of_agents_that_the_turn_started_are_put_back_too(tmp_path: Path) -> None:
    path = tmp_path / "new.txt"
    provider = ScriptedProvider(
        routes(
            ("count the doors", [writing(path, "by the child"), "Seven."]),
            (otherwise, [[call("Agent", {**BACKGROUND, "run_in_background": False})], "Done."]),
        )
    )
    async with scripted_host(provider, config=BYPASS) as host:
        session = await writer(host)
        await session.ask("Count.")
        assert path.exists()
        await session.rewind()
        assert not path.exists()


class SlowChild:
    """A main agent starts one in the background: it writes the file, sets `has_written`, thinks for long."""

    def __init__(self, path: Path) -> None:
        self.has_written = anyio.Event()
        child = (writing(path, "by the child"), self._think)
        parent: list[Answer] = [[call("Agent", BACKGROUND)], *["I see."] * 4]
        self.provider = ScriptedProvider(routes(("count the doors", child), (otherwise, parent)))

    def _think(self, request: Request) -> tuple[WaitFor, Say]:
        self.has_written.set()
        return wait_for(anyio.Event()), say("Late.")


async def test_a_rewind_that_is_refused_stops_nobody(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    child = SlowChild(path)
    async with scripted_host(child.provider, config=BYPASS) as host:
        session = await writer(host)
        await session.ask("Count.")
        await child.has_written.wait()
        path.write_text("by hand")
        with pytest.raises(RestoreRefused):
            await session.rewind()
        assert [one.state for one in host.agents()] == [AgentState.IDLE, AgentState.RUNNING]


class FullStore(MemoryStore):
    """Takes no artifact any more once it is full."""

    is_full = False

    async def put_artifact(self, data: bytes) -> str:
        if self.is_full:
            raise StoreUnavailable("the disk is full")
        return await super().put_artifact(data)


async def test_if_files_cannot_be_put_back_the_parent_hears_of_the_agents_that_were_stopped(
    tmp_path: Path,
) -> None:
    path, store = tmp_path / "a.txt", FullStore()
    slow = SlowChild(path)
    async with scripted_host(slow.provider, store=store, config=BYPASS) as host:
        session = await writer(host)
        await session.ask("Count.")
        await slow.has_written.wait()
        child, store.is_full = host.agents()[1], True
        with pytest.raises(StoreUnavailable):
            await session.rewind()
        await anyio.sleep(20)
        assert path.read_text() == "by the child"
        assert len(session.turns) == 2
        told = [e for e in session.history if e.presentation == "task_notification"]
        assert len(told) == 1
        assert child.state is AgentState.CANCELLED
        store.is_full = False
        await session.rewind(session.turns[0].turn_id)
        assert not path.exists()


async def test_a_rewind_that_is_cancelled_at_any_step_is_whole_or_can_be_done_again() -> None:
    async def is_cancelled_after(n_steps: int) -> bool:
        never: list[Answer] = [[wait_for(anyio.Event()), say("Late.")]]
        parent: list[Answer] = [[call("Agent", BACKGROUND)], *["I see."] * 4]
        provider = ScriptedProvider(routes(("count the doors", never), (otherwise, parent)))
        store = LaggingStore(MemoryStore(), 0.0)
        async with scripted_host(provider, store=store) as host:
            session = await chief(host)
            await session.ask("Count.")
            (child,) = [one for one in host.agents() if one.id != session.id]
            first = session.turns[0].turn_id
            was_cancelled = await cancelled_after(n_steps, session.rewind)
            await anyio.sleep(20)
            told = [e for e in session.history if e.presentation == "task_notification"]
            if first in [turn.turn_id for turn in session.turns]:
                assert len(told) == (child.state is AgentState.CANCELLED)
                await session.rewind(first)
            else:
                assert session.waiting == ()
                assert told == []
            assert [one.id for one in host.agents()] == [session.id]
            assert await session.ask("Go on.") == "I see."
            await anyio.sleep(20)
            assert folded((await store.load(session.id)).plain) == session.fold
        return was_cancelled

    were_cancelled = [await is_cancelled_after(n) for n in range(25)]
    assert were_cancelled[0]
    assert not were_cancelled[-1]


class LookedThrough(MemoryStore):
    """Says when somebody looks for subagents, and takes its time then."""

    def __init__(self) -> None:
        super().__init__()
        self.is_looked_through = anyio.Event()

    async def agents(self, root_id: AgentId | None = None) -> tuple[AgentRow, ...]:
        self.is_looked_through.set()
        for _ in range(100):
            await anyio.lowlevel.checkpoint()
        return await super().agents(root_id)


def test_a_rewind_that_runs_while_the_host_ends_is_finished_first(real_backend: str, tmp_path: Path) -> None:
    path, store = tmp_path / "a.txt", LookedThrough()
    provider = ScriptedProvider([writing(path, "new"), "Done."])
    problems: list[str] = []

    async def watch(events: Subscription) -> None:
        problems.extend([event.text async for event in events if isinstance(event, WarningRaised)])

    async def main() -> None:  # in real time: a host that ends gives this some seconds, and it uses threads
        async with anyio.create_task_group() as tasks:
            async with scripted_host(provider, store=store, config=BYPASS) as host:
                tasks.start_soon(watch, host.watch())
                session = await writer(host)
                await session.ask("Write.")
                tasks.start_soon(session.rewind)
                await store.is_looked_through.wait()
            assert not path.exists()
        assert problems == []
        async with store:
            assert folded((await store.load(session.id)).plain).turns == []

    anyio.run(main, backend=real_backend)


async def test_two_rewinds_in_a_row_take_files_back_all_the_way(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    provider = ScriptedProvider(
        [writing(path, "1"), "One.", writing(path, "2"), "Two.", writing(path, "3"), "Three."]
    )
    async with scripted_host(provider, config=BYPASS) as host:
        session = await writer(host)
        for text in ("First.", "Second.", "Third."):
            await session.ask(text)
        await session.rewind()
        assert path.read_text() == "2"
        await session.rewind()
        assert path.read_text() == "1"
        await session.rewind()
        assert not path.exists()


async def test_a_child_taken_back_earlier_does_not_hide_what_its_file_was_at_first(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("at first")
    child = [[call("Read", {"path": str(path)})], writing(path, "by the child"), "Seven."]
    order = {**BACKGROUND, "run_in_background": False}
    provider = ScriptedProvider(
        routes(("count the doors", child), (otherwise, ["One.", [call("Agent", order)], "Two."]))
    )
    async with scripted_host(provider, config=BYPASS) as host:
        session = await writer(host)
        await session.ask("First.")
        await session.ask("Count.")
        await session.rewind(restore_files=False)
        assert path.read_text() == "by the child"
        await session.rewind()
        assert path.read_text() == "at first"


async def test_a_file_must_be_read_again_behind_a_rewind(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    read = [call("Read", {"path": str(path)})]
    provider = ScriptedProvider([read, "Read.", "Two.", writing(path, "new"), "No."])
    async with scripted_host(provider, config=BYPASS) as host:
        session = await writer(host)
        await session.ask("First.")
        await session.ask("Second.")
        await session.rewind()
        await session.ask("Write.")
        assert path.read_text() == "old"


async def test_the_log_says_what_was_put_back(tmp_path: Path) -> None:
    store, path = MemoryStore(), tmp_path / "new.txt"
    provider = ScriptedProvider([writing(path, "new"), "Done."])
    async with scripted_host(provider, store=store, config=BYPASS) as host:
        session = await writer(host)
        await session.ask("Write.")
        turn = session.turns[0].turn_id
        report = await session.rewind()
        records = [stored.record for stored in (await store.load(session.id)).records]
        (rewound,) = [record for record in records if isinstance(record, Rewound)]
        assert (rewound.before, rewound.files) == (turn, report.files)
