"""The command `doctor`: what it says of a store, how it ends, and what a repair leaves."""

from pathlib import Path

import anyio
import pytest

from actors.records import RecordsSkipped
from host.store.sqlite import SqliteStore
from tests.host.cli.commands import Call, caller
from tests.host.cli.processes import Home, events_of
from tests.host.store.broken import CHILDREN, change, damaged_copies, read_logs, written_to
from tests.host.store.samples import ROOT


@pytest.fixture
def doctor(home: Home, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    run = caller(home, monkeypatch, capfd)
    return lambda *arguments: run("doctor", *arguments)


@pytest.fixture
def store(home: Home) -> Path:
    """A sound store at home."""
    written_to(home.store, n_records=10)
    return home.store


@pytest.fixture
def damaged(store: Path) -> Path:
    """Three damages: a changed record, a lost run, a lost artifact."""
    change(
        store,
        f"UPDATE records SET data = x'00' WHERE agent_id = '{ROOT}' AND seq = 5",
        f"DELETE FROM records WHERE agent_id = '{CHILDREN[0]}' AND seq IN (0, 1)",
        "DELETE FROM artifacts WHERE artifact_id = (SELECT min(artifact_id) FROM artifacts)",
    )
    return store


def test_a_sound_store_is_said_to_be_sound(doctor: Call, store: Path) -> None:
    done = doctor()
    first, last = done.stdout.splitlines()
    size = f"{store.stat().st_size / 1e3:.1f} kB"
    assert first == f"{store}: version 2, {size}, 2 sessions, 6 agents, 78 records, 6 artifacts"
    assert (last, done.stderr, done.code) == ("nothing is damaged", "", 0)
    assert doctor("--repair").stdout == done.stdout
    assert damaged_copies(store) == []


def test_damage_is_told_with_its_place_and_ends_with_1(doctor: Call, damaged: Path) -> None:
    before = damaged.read_bytes()
    done = doctor("--store", str(damaged))
    lines = done.stdout.splitlines()
    assert lines[1:4] == [
        "3 things are damaged:",
        f"  session name-of-{ROOT}, agent {ROOT}, record 5 (state_changed): was changed: its hash does not"
        " follow from the record before it",
        f"  session name-of-{ROOT}, agent {CHILDREN[0]}, records 0 to 1: not there",
    ]
    assert lines[4].endswith("to which a record refers, is not there")
    assert "--repair" in lines[5]
    assert (done.stderr, done.code) == ("", 1)
    assert damaged.read_bytes() == before


def test_json_is_one_object_for_each_damage_and_a_summary(doctor: Call, damaged: Path) -> None:
    done = doctor("--json")
    *damages, summary = events_of(done.stdout)
    assert [(d["agent"], d["seq"], d["n_records"]) for d in damages][:2] == [
        (ROOT, 5, 1),
        (CHILDREN[0], 0, 2),
    ]
    assert (summary["is_sound"], summary["n_damages"], summary["n_agents"], done.code) == (False, 3, 6, 1)


def test_a_repair_says_what_is_kept_and_lost_and_the_next_look_is_sound(doctor: Call, damaged: Path) -> None:
    before = damaged.read_bytes()
    done = doctor("--repair")
    (kept,) = damaged_copies(damaged)
    said = done.stdout
    assert (done.stderr, done.code) == ("", 0)
    assert "repaired: kept 75 records of 6 agents and 5 artifacts" in said
    assert f"name-of-{ROOT} ({ROOT}): 1 record skipped, 12 kept" in said
    assert f"name-of-{CHILDREN[0]} ({CHILDREN[0]}): its definition is lost" in said
    assert "is lost\n" in said
    assert said.splitlines()[-1] == f"the damaged store is kept as {kept}"
    assert kept.read_bytes() == before
    again = doctor()
    assert again.code == 0
    assert again.stdout.splitlines()[1:] == [
        "3 records could not be read back in an earlier repair",
        "1 artifact could not be read back in an earlier repair",
        "nothing is damaged",
    ]
    log = read_logs(damaged)[ROOT]
    assert isinstance(log, list)
    assert isinstance(log[5], RecordsSkipped)


def test_a_repair_in_json_tells_each_agent(doctor: Call, damaged: Path) -> None:
    done = doctor("--repair", "--json")
    values = events_of(done.stdout)
    assert done.code == 0
    agents = {value["agent"]: value for value in values if "n_kept" in value}
    assert (agents[ROOT]["n_kept"], agents[ROOT]["n_skipped"], agents[ROOT]["is_remade"]) == (12, 1, False)
    assert agents[CHILDREN[0]]["is_remade"]
    assert values[-1]["kept_as"] == str(damaged_copies(damaged)[0])


def test_a_store_in_use_is_examined_and_not_repaired(doctor: Call, damaged: Path) -> None:
    async def main() -> None:
        async with SqliteStore(damaged):
            assert doctor().code == 1
            done = doctor("--repair")
            assert done.code == 2
            assert "in use" in done.stderr

    anyio.run(main)
    assert damaged_copies(damaged) == []


@pytest.mark.parametrize(
    ("content", "wanted"),
    [(None, "there is no store"), (b"notes\n" * 2_000, "is no database, and nothing of a store")],
)
def test_what_is_no_store_is_one_message(
    doctor: Call, home: Home, content: bytes | None, wanted: str
) -> None:
    if content is not None:
        home.store.write_bytes(content)
    for arguments in ((), ("--repair",)):
        done = doctor(*arguments)
        assert (done.stdout, done.code) == ("", 2)
        assert wanted in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_a_store_in_memory_has_nothing_to_check(doctor: Call) -> None:
    done = doctor("--store", ":memory:")
    assert (done.stdout, done.code) == ("", 2)
    assert "a store in a file wanted" in done.stderr


def test_a_version_without_hashes_is_said_to_be_one(doctor: Call, home: Home) -> None:
    data = Path(__file__).parents[1] / "store" / "data" / "version-1.db"
    home.store.write_bytes(data.read_bytes())
    done = doctor()
    assert "version 1" in done.stdout
    assert "carry no hashes" in done.stdout
    assert done.code == 0


def test_a_damaged_name_cannot_steer_the_terminal(doctor: Call, store: Path) -> None:
    change(store, f"UPDATE agents SET name = 'a' || char(27) || '[31m' WHERE agent_id = '{ROOT}'")
    change(store, f"DELETE FROM records WHERE agent_id = '{ROOT}' AND seq = 0")
    assert "\x1b" not in doctor("--repair").stdout
    assert doctor().code == 0
