"""The command `rewind`: which turns and files it takes back, and when it does not."""

import anyio
import pytest
from pydantic import JsonValue

from actors import builtin_tools
from actors.agent import Agent
from actors.errors import BadInput
from actors.records import Record, TurnId
from host.cli.cells import cells
from host.cli.rewind_words import preview_lines
from host.cli.turn_list import turn_index, turn_table
from host.config import Config
from host.ids import RandomIds
from host.outline import TurnOutline, outline
from host.permissions import PermissionMode
from host.rewinding import RewindPreview
from host.store import SqliteStore
from host.workspace import RestorePlan
from providers.scripted import ScriptedProvider, call, otherwise, routes
from tests.host.cli.commands import Call, caller
from tests.host.cli.processes import Done, Home, events_of
from tests.host.hosts import scripted_host

BYPASS = Config(store="unused", permission_mode=PermissionMode.BYPASS)
COUNT: dict[str, JsonValue] = {"description": "doors", "prompt": "count the doors", "name": "counter"}


@pytest.fixture
def rewind(home: Home, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    run = caller(home, monkeypatch, capfd)
    return lambda *arguments: run("rewind", *arguments)


@pytest.fixture
def session(home: Home) -> str:
    """The id of a session of three turns: the second wrote notes.md, the third too, and its agent plan.md."""
    notes, plan = str(home.folder / "notes.md"), str(home.folder / "made" / "plan.md")
    provider = ScriptedProvider(
        routes(
            ("count the doors", [[call("Write", {"path": plan, "content": "plan"})], "Seven."]),
            (
                otherwise,
                [
                    "Hello.",
                    [call("Write", {"path": notes, "content": "7"})],
                    "Written.",
                    [call("Agent", {**COUNT}), call("Write", {"path": notes, "content": "8"})],
                    "Done.",
                ],
            ),
        )
    )

    async def fill() -> str:
        tools = list(builtin_tools().values())
        async with scripted_host(
            provider, store=SqliteStore(home.store), config=BYPASS, ids=RandomIds()
        ) as host:
            session = await host.start(Agent("main", tools=tools))
            for text in ("Who are you?", "Write down\nthe number.", "Count again."):
                await session.ask(text)
            return session.id

    return anyio.run(fill)


def failed(done: Done, *wanted: str, code: int = 2) -> None:
    """It told one error on stderr, which says this, and nothing on stdout."""
    assert (done.stdout, done.code) == ("", code)
    assert done.stderr.count("callboard: ") == 1
    assert "Traceback" not in done.stderr
    for text in wanted:
        assert text in done.stderr


def everything(home: Home) -> list[Record]:
    """Every record of the store."""

    async def read() -> list[Record]:
        async with SqliteStore(home.store, read_only=True) as store:
            logs = [await store.load(row.agent_id) for row in await store.agents()]
        return [stored.record for log in logs for stored in log.records]

    return anyio.run(read)


def texts(home: Home) -> list[str]:
    """What the turns began with that are left."""

    async def read() -> list[str]:
        async with SqliteStore(home.store, read_only=True) as store:
            root = next(row for row in await store.agents() if row.parent_id is None)
            return [turn.text for turn in await outline(store, root.agent_id)]

    return anyio.run(read)


# --- which turn


IDS = [TurnId(text) for text in ("turn_aa1", "turn_aa2", "turn_b")]


@pytest.mark.parametrize(
    ("wanted", "place"),
    [(None, 2), ("1", 0), ("3", 2), ("-1", 2), ("-3", 0), ("turn_b", 2), ("turn_aa2", 1), ("turn_aa1", 0)],
)
def test_a_turn_is_meant_by_its_number_or_its_id(wanted: str | None, place: int) -> None:
    assert turn_index(IDS, wanted) == place


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        ("0", "has 3 turns"),
        ("4", "has 3 turns"),
        ("-4", "has 3 turns"),
        ("99999999999999999999", "no turn"),
        ("turn_a", "2 turns begin"),
        ("", "no turn ''"),
        ("x", "no turn 'x'"),
        ("--1", "no turn"),
        ("1.5", "no turn"),
        ("\u0663", "no turn"),
    ],
)
def test_no_other_turn_is_taken_for_the_one_that_is_not_there(wanted: str, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        turn_index(IDS, wanted)
    with pytest.raises(BadInput, match="no turn"):
        turn_index([], wanted)


# --- the list


def test_the_list_tells_of_every_turn_and_changes_nothing(rewind: Call, session: str, home: Home) -> None:
    before = everything(home)
    lines = [line.split("\t") for line in rewind(session, "--list").stdout.splitlines()]
    assert [line[0] for line in lines] == ["1", "2", "3"]
    assert {line[2] for line in lines} == {"done"}
    assert [line[3] for line in lines] == ["", "1", "2"]
    assert [line[5] for line in lines] == ["Who are you?", "Write down the number.", "Count again."]
    told = events_of(rewind(session, "--list", "--json").stdout)
    assert [turn["turn"] for turn in told] == [line[4] for line in lines]
    assert told[2]["files"] == [str(home.folder / "notes.md"), str(home.folder / "made" / "plan.md")]
    assert everything(home) == before


def test_the_list_goes_with_nothing_else(rewind: Call, session: str) -> None:
    for more in (("--yes",), ("--dry-run",), ("--before", "1"), ("--keep-files",), ("--overwrite",)):
        failed(rewind(session, "--list", *more), "--list only lists")


def test_a_table_of_turns_fits_the_terminal() -> None:
    turns = [TurnOutline(TurnId("t"), 0.0, None, "\x1b[31m宽" * 100, number > 5, ()) for number in range(12)]
    lines = turn_table(turns, 80)
    assert len(lines) == 13
    assert max(map(cells, lines)) <= 80
    assert "\x1b" not in "".join(lines)
    assert "not yet" in lines[1]
    assert "(" in lines[1]
    assert "(" not in lines[12]


# --- what would be done


def test_a_dry_run_tells_everything_and_changes_nothing(rewind: Call, session: str, home: Home) -> None:
    before = everything(home)
    done = rewind(session, "--before", "2", "--dry-run")
    assert done.code == 0
    for text in (
        "turns 2 to 3 would",
        "Write down the number.",
        "counter",
        "notes.md (is removed",
        "plan.md",
    ):
        assert text in done.stdout
    (told,) = events_of(rewind(session, "--before", "-1", "--dry-run", "--json").stdout)
    assert told["text"] == "Count again."
    assert told["agents"] == ["counter"]
    assert (home.folder / "notes.md").read_text() == "8"
    assert everything(home) == before


def test_many_turns_are_counted_rather_than_told() -> None:
    turns = [TurnOutline(TurnId(f"t{n}"), 0.0, None, "x", True, ()) for n in range(40)]
    seen = RewindPreview(tuple(turn.turn_id for turn in turns[10:]), "x", (), RestorePlan(()))
    lines = preview_lines(seen, turns)
    assert lines[0] == "turns 11 to 40 would be taken back:"
    assert "… and 20 turns more" in lines[11]


# --- doing it


def test_without_a_person_it_needs_to_be_told_that_it_is_sure(rewind: Call, session: str, home: Home) -> None:
    before = everything(home)
    for more in ((), ("--json",)):
        done = rewind(session, *more)
        assert done.code == 2
        assert "--yes" in done.stderr
    assert everything(home) == before


def test_turn_files_and_agents_are_taken_back(rewind: Call, session: str, home: Home) -> None:
    done = rewind(session, "--yes")
    assert (done.stderr, done.code) == ("", 0)
    for text in ("took back 1 turn", "stopped: counter", "plan.md (removed)", "\nCount again.\n", "resume"):
        assert text in done.stdout
    assert texts(home) == ["Who are you?", "Write down\nthe number."]
    assert (home.folder / "notes.md").read_text() == "7"
    assert not (home.folder / "made").exists()
    (told,) = events_of(rewind(session, "--before", "1", "--yes", "--json").stdout)
    assert told["text"] == "Who are you?"
    assert told["files"] == [{"path": str(home.folder / "notes.md"), "is_removed": True}]
    assert texts(home) == []
    failed(rewind(session, "--yes"), "the session has no turn")


def test_a_file_that_somebody_changed_stops_it_and_both_ways_out_are_named(
    rewind: Call, session: str, home: Home
) -> None:
    notes = home.folder / "notes.md"
    notes.write_text("by hand")
    before = everything(home)
    failed(rewind(session, "--yes"), f"{notes} was changed since", "--overwrite", "--keep-files")
    failed(rewind(session, "--yes", "--overwrite", "--keep-files"), "either")
    assert everything(home) == before
    assert rewind(session, "--yes", "--keep-files").code == 0
    assert notes.read_text() == "by hand"
    assert len(texts(home)) == 2
    assert rewind(session, "--yes", "--overwrite").code == 0
    assert not notes.exists()


def test_what_cannot_be_put_back_is_not_offered_to_be_overwritten(
    rewind: Call, session: str, home: Home
) -> None:
    notes = home.folder / "notes.md"
    notes.unlink()
    notes.mkdir()
    done = rewind(session, "--yes", "--overwrite")
    failed(done, str(notes), "--keep-files")
    assert "--overwrite" not in done.stderr


def test_a_session_that_is_not_there_is_told(rewind: Call, session: str, home: Home) -> None:
    failed(rewind("nobody", "--list"), "no session 'nobody'")
    failed(rewind(session, "--list", "--store", "none.db"), "there is no store")
    failed(rewind("counter", "--list"), "no session 'counter'")


def test_at_a_terminal_it_asks_first(home: Home, session: str) -> None:
    for answer, n_left in (("maybe", 3), ("n", 3), ("y", 2)):
        with home.terminal("rewind", session) as terminal:
            terminal.expect("turn 3 would be taken back")
            terminal.expect("notes.md")
            terminal.expect("[y/N] ")
            terminal.write(f"{answer}\n")
            assert terminal.ends() == 0
        assert ("nothing was taken back" in terminal.text) is (n_left == 3)
        assert len(texts(home)) == n_left


def test_what_came_while_it_was_asked_is_not_taken_back_unseen(home: Home, session: str) -> None:
    async def go_on() -> None:
        provider = ScriptedProvider(["Four."])
        async with scripted_host(provider, store=SqliteStore(home.store), ids=RandomIds()) as host:
            resumed = await host.resume(session)
            await resumed.ask("And now?")

    with home.terminal("rewind", session) as terminal:
        terminal.expect("[y/N] ")
        anyio.run(go_on)
        terminal.write("y\n")
        assert terminal.ends() == 2
    assert "gone on meanwhile" in terminal.text
    assert len(texts(home)) == 4
