"""The command `log`: what it shows of a session, and that it only reads."""

import json
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import get_args

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from actors.address import AgentId
from actors.agent import Agent
from actors.envelope import EnvelopeId
from actors.history import Authority, EntryId, MessageEntry, Origin, ResultStatus
from actors.ports import SpawnOrder
from actors.records import (
    AgentRole,
    CallsStarted,
    EntriesAppended,
    EnvelopesTaken,
    FileChanging,
    FileState,
    QuestionAsked,
    QuestionSettled,
    Record,
    RecordsSkipped,
    Rewound,
    TurnEnded,
    TurnId,
    TurnStop,
)
from actors.tools import tool
from host.cli.log_records import LogReader, Wanted
from host.cli.log_view import Layout, Told
from host.cli.log_words import Teller, at_of
from host.store import AgentRow, SqliteStore
from host.store.codec import RECORD_KINDS, encode_record
from providers.model import Message, Role, ToolCall, Usage
from providers.scripted import ScriptedProvider, call, otherwise, routes
from tests.host.cli.commands import Call, caller, in_store
from tests.host.cli.processes import Home, events_of
from tests.host.hosts import scripted_host
from tests.host.store.anything import any_of
from tests.host.store.samples import OTHER, ROOT, accepted, said
from tests.host.transfer.exports import filled

ROW = AgentRow(ROOT, ROOT, None, "main", AgentRole.MAIN, 0.0, 0.0, 1, None)


@pytest.fixture
def log(home: Home, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    run = caller(home, monkeypatch, capfd)
    return lambda *arguments: run("log", *arguments)


@tool
async def read_page(path: str) -> str:
    """Reads a page."""
    return f"the text of {path}"


async def _work(store: SqliteStore) -> None:
    provider = ScriptedProvider(
        routes(
            ("count the doors", ["Seven."]),
            (otherwise, [[call("read_page", {"path": "a.md"})], "It says hello."]),
        )
    )
    async with scripted_host(provider, store=store) as host:
        session = await host.start(Agent("main", tools=[read_page]))
        await session.ask("What does\x1b[31m page a say?")
        await host.spawn(session, SpawnOrder("doors", "count the doors", name="counter"))


@pytest.fixture
def worked(home: Home) -> None:
    """A session in the store: a turn with a tool, then a subagent's."""
    anyio.run(_work, SqliteStore(home.store))


@pytest.fixture
def said_much(home: Home) -> None:
    """A session of twelve records, and a subagent's of two."""

    async def fill(store: SqliteStore) -> None:
        await filled(store, accepted("Go."), *said(*map(str, range(10))), child=said("of the child"))

    in_store(home, fill)


def tell(*records: Record) -> list[tuple[str, tuple[str, ...]]]:
    teller = Teller()
    return [teller.tell(record) for record in records]


def answer(*calls: ToolCall, text: str = "") -> EntriesAppended:
    message = Message(Role.ASSISTANT, text, calls)
    return EntriesAppended((MessageEntry(EntryId("m"), message, Origin.MODEL, Authority.DATA),))


# --- words


@pytest.mark.parametrize("kind", get_args(Record), ids=lambda kind: kind.__name__)
def test_any_record_is_told_on_lines_that_fit_and_steer_nothing(kind: type[Record]) -> None:
    @settings(max_examples=40, deadline=None)
    @given(record=any_of(kind), width=st.none() | st.integers(10, 200), names=st.integers(0, 20))
    def check(record: Record, width: int | None, names: int) -> None:
        words, points = Teller().tell(record)
        assert words
        assert points
        at = at_of(record)
        for line in Layout(width, names).lines(Told(ROW, 7, record, at, 0.0, words, points)):
            assert not any((ord(c) < 0x20 and c != "\t") or 0x7F <= ord(c) < 0xA0 for c in line)
            assert width is None or cell_len(line) <= width

    check()


def test_calls_are_told_with_their_arguments_and_results_with_their_state() -> None:
    made = ToolCall("c1", "read_page", {"path": "Größe.md"})
    broken = ToolCall("c2", "read_page", {}, invalid_json='{"path": ')
    result = Message(Role.TOOL, "no such page", tool_call_id="c1", tool_name="read_page", is_error=True)
    status = ResultStatus.DENIED
    failed = MessageEntry(EntryId("r"), result, Origin.TOOL, Authority.DATA, status=status)
    told = tell(
        answer(made, broken, text="Let me see."), CallsStarted(("c1", "c9")), EntriesAppended((failed,))
    )
    assert told == [
        (
            "history",
            (
                "assistant: Let me see.",
                '→ read_page c1 {"path": "Größe.md"}',
                '→ read_page c2 {"path": ',
            ),
        ),
        ("calls began", ('→ read_page c1 {"path": "Größe.md"}', "→ c9")),
        ("history", ("← read_page denied: no such page",)),
    ]


def test_how_a_message_moved_is_told_with_what_it_says() -> None:
    told = tell(
        accepted("Find\nthe page."), EnvelopesTaken((EnvelopeId("e1"), EnvelopeId("e2")), TurnId("t"))
    )
    assert told == [
        ("message accepted", ("user → main (ask): Find\nthe page.",)),
        ("message taken", ("into the history · user: Find the page.", "into the history · e2")),
    ]


def test_the_end_of_a_turn_is_told_with_tokens_cost_and_error() -> None:
    usage = Usage(1000, 500, 0, 20)
    ended = TurnEnded(TurnId("t"), TurnStop.STEP_LIMIT, "So far.", usage, 0.01234, 3, "StepLimit: 3 steps")
    unknown = TurnEnded(
        TurnId("t"), TurnStop.DONE, "", Usage(is_estimated=True), None, 1, result=None, has_result=True
    )
    assert tell(ended, unknown) == [
        (
            "turn ended",
            (
                "step limit · 3 steps · 1,500 tokens in (500 from the cache), 20 out · $0.0123",
                "error: StepLimit: 3 steps",
                "answer: So far.",
            ),
        ),
        ("turn ended", ("done · 1 step · 0 tokens in, 0 out, by estimate", "result: null")),
    ]


def test_questions_files_and_rewinds_are_told() -> None:
    made = answer(ToolCall("c1", "Write", {"path": "/a"}))
    kept = FileState("0" * 64, 0o644, "0" * 64)
    told = tell(
        made,
        QuestionAsked("c1", "Write", "write /a", 1.0),
        QuestionSettled("c1", False, "not now", 1.0),
        FileChanging("c1", "/a", None, "1" * 64, 1.0),
        FileChanging("c1", "/b", kept, "1" * 64, 1.0),
        FileChanging("c1", "/c", FileState("0" * 64, 0o644, None, "too large"), "1" * 64, 1.0),
        Rewound(TurnId("t2"), (), 1.0),
    )
    assert told[1:] == [
        ("question asked", ("may Write run? write /a",)),
        ("question settled", ('Write c1 {"path": "/a"}: not allowed: not now',)),
        ("file changed", ("/a (new)",)),
        ("file changed", ("/b (what stood there is kept)",)),
        ("file changed", ("/c (what stood there was not kept: too large)",)),
        ("rewound", ("the history was cut before t2; 0 files were put back",)),
    ]


def test_a_marker_of_damage_stands_out() -> None:
    ((kind, points),) = tell(RecordsSkipped(3, "their bytes are gone", EntryId("e"), 1.0))
    assert kind == "DAMAGED"
    assert points == ("3 records could not be read back: their bytes are gone",)


def test_the_day_stands_where_it_changes_and_a_text_is_cut_to_the_terminal() -> None:
    layout = Layout(60)
    lines: list[str] = []
    for seq, at in enumerate((1e9, 1e9 + 1, None, 1e9 + 86_400)):
        lines += layout.lines(Told(ROW, seq, None, at, 0.0, "history", ("日本語" * 20, "b")))
    assert [line for line in lines if not line.startswith(" ")] == ["2001-09-09", "2001-09-10"]
    assert sum(line.endswith("…") for line in lines) == 4


# --- the command


def test_a_session_is_told_line_by_line(worked: None, log: Call) -> None:
    done = log("main")
    assert (done.stderr, done.code) == ("", 0)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert all(len(row) == 4 for row in rows)
    told = [tuple(row[2:]) for row in rows]
    assert told[0][0] == "opened"
    assert ("message accepted", "user → main (ask): What does[31m page a say?") in told
    assert ("history", '→ read_page call-1-1 {"path": "a.md"}') in told
    assert ("history", "← read_page: the text of a.md") in told
    assert ("turn ended", "answer: It says hello.") in told
    assert [int(row[0]) for row in rows] == sorted(int(row[0]) for row in rows)


def test_agents_are_told_alone_or_together_in_the_order_of_time(worked: None, log: Call) -> None:
    alone = log("main", "--agent", "counter").stdout
    assert "Seven." in alone
    assert "It says hello." not in alone
    rows = [line.split("\t") for line in log("main", "--all").stdout.splitlines()]
    assert {row[2] for row in rows} == {"main", "counter"}
    times = [row[1] for row in rows if row[1]]
    assert times == sorted(times)
    for name in ("main", "counter"):
        seqs = [int(row[0]) for row in rows if row[2] == name]
        assert seqs == sorted(seqs)


def test_programs_get_the_records_as_they_are_stored(home: Home, worked: None, log: Call) -> None:
    shown = events_of(log("main", "--json").stdout)

    async def check(store: SqliteStore) -> None:
        row = (await store.agents())[0]
        records = (await store.load(row.agent_id)).records
        assert shown == [
            {
                "agent": row.agent_id,
                "seq": seq,
                "kind": encoded.kind,
                "version": 1,
                "data": json.loads(encoded.data),
            }
            for seq, encoded in enumerate(encode_record(stored.record) for stored in records)
        ]

    in_store(home, check)


def seqs(output: str) -> list[int]:
    return [int(line.split("\t")[0]) for line in output.splitlines()]


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ((), list(range(12))),
        (("--since", "9"), [9, 10, 11]),
        (("--last", "2"), [10, 11]),
        (("--last", "0"), []),
        (("--last", "99"), list(range(12))),
        (("--since", "99"), []),
        (("--kind", "envelope_accepted"), [1]),
        (("--kind", "agent-opened", "--kind", "ENVELOPE_ACCEPTED"), [0, 1]),
        (("--kind", "state_changed", "--since", "3", "--last", "2"), [10, 11]),
    ],
)
def test_records_are_chosen_by_place_and_kind(
    said_much: None, log: Call, options: tuple[str, ...], wanted: list[int]
) -> None:
    assert seqs(log("a-root", *options).stdout) == wanted


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (("nobody",), "the store has no session 'nobody'"),
        (("a-root", "--agent", "nobody"), "the session has no agent 'nobody'"),
        (("a-root", "--agent", "a-other", "--all"), "--agent or --all wanted, got both"),
        (("a-root", "--kind", "gossip\x1b[1m"), "--kind: one of agent_opened, "),
        (("a-root", "--store", "missing.db"), "there is no store"),
        (("a-root", "--since", "-1"), "--since"),
        (("a-root", "--last", "-1"), "--last"),
    ],
)
def test_what_cannot_be_shown_is_told(
    said_much: None, log: Call, arguments: tuple[str, ...], wanted: str
) -> None:
    done = log(*arguments)
    assert (done.stdout, done.code) == ("", 2)
    assert wanted in done.stderr
    assert "Traceback" not in done.stderr
    assert "\x1b" not in done.stderr


def test_every_kind_that_can_be_asked_for_is_one_of_the_store(said_much: None, log: Call) -> None:
    for kind in RECORD_KINDS:
        assert log("a-root", "--kind", kind).code == 0


def test_reading_a_log_takes_no_lease_and_changes_nothing(home: Home, said_much: None, log: Call) -> None:
    async def check(store: SqliteStore) -> None:
        before = await store.agents()
        async with await store.lease(AgentId(ROOT)):
            assert (await anyio.to_thread.run_sync(lambda: home.run("log", ROOT))).code == 0
        assert await store.agents() == before

    in_store(home, check)


def damage(home: Home, agent_id: str, seq: int) -> None:
    connection = sqlite3.connect(home.store)
    with connection:
        connection.execute("UPDATE records SET data = x'7b' WHERE agent_id = ? AND seq = ?", (agent_id, seq))
    connection.close()


def test_what_is_readable_of_a_damaged_log_is_shown_and_the_rest_named(
    home: Home, said_much: None, log: Call
) -> None:
    damage(home, ROOT, 5)
    done = log("a-root", "--all")
    assert done.code == 1
    assert "record 5 of agent a-root" in done.stderr
    assert "callboard doctor" in done.stderr
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert [int(row[0]) for row in rows if row[2] == "name-of-a-root"] == list(range(12))
    assert [row[0] for row in rows if row[3] == "UNREADABLE"] == ["5"]
    assert [row[4] for row in rows if row[2] == "name-of-a-other"][1:] == ["idle: of the child"]
    shown = log("a-root", "--json")
    assert [one["seq"] for one in events_of(shown.stdout)] == [n for n in range(12) if n != 5]
    assert shown.code == 1
    assert log("a-root", "--agent", "a-other").code == 0


def test_a_gap_is_shown_once_though_the_log_goes_on(home: Home, said_much: None) -> None:
    damage(home, ROOT, 5)

    async def follow(store: SqliteStore) -> None:
        reader = LogReader(store, ROOT, Wanted.of(None, everyone=False, kinds=(), since=0))
        assert [told.seq for told in await reader.news() if told.record is None] == [5]
        async with await store.lease(ROOT):
            store.writer(ROOT, 12).submit(said("new"), lambda _: None)
        assert [told.seq for told in await reader.news()] == [12]
        assert await reader.news() == []

    in_store(home, follow)


def test_a_store_that_is_none_is_told_with_who_can_help(home: Home, said_much: None, log: Call) -> None:
    home.store.write_bytes(b"notes " * 2000)
    done = log("a-root")
    assert (done.stdout, done.code) == ("", 2)
    assert "callboard doctor" in done.stderr


# --- following


@contextmanager
def following(home: Home, *arguments: str) -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen(
        [sys.executable, "-m", "host.cli.main", "log", ROOT, "--follow", *arguments],
        cwd=home.folder,
        env=home.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def write(home: Home, agent_id: AgentId, next_seq: int, *texts: str) -> None:
    async def append(store: SqliteStore) -> None:
        async with await store.lease(ROOT):
            store.writer(agent_id, next_seq).submit(said(*texts), lambda _: None)

    in_store(home, append)


@pytest.mark.real
def test_what_is_written_meanwhile_is_followed_until_ctrl_c(home: Home, said_much: None) -> None:
    with following(home, "--all", "--last", "1") as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        for turn in range(2):
            write(home, ROOT, 12 + turn, f"new {turn}")
            assert process.stdout.readline().split("\t")[::4] == [str(12 + turn), f"idle: new {turn}\n"]
        write(home, OTHER, 2, "of the child again")
        assert "of the child again" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (out, err, process.returncode) == ("", "", 130)


@pytest.mark.real
def test_following_ends_when_nobody_reads_any_more_though_nothing_comes(home: Home, said_much: None) -> None:
    with following(home, "--json") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert json.loads(process.stdout.readline())["seq"] == 0
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(timeout=30) == 141


@pytest.mark.real
def test_a_terminal_shows_lines_that_fit(home: Home, said_much: None) -> None:
    with home.terminal("log", ROOT) as terminal:
        assert terminal.ends() == 0
    assert "message accepted  user → main (ask): Go." in terminal.text
