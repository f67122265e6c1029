"""A file is there whole, or it is not there."""

import os
import resource
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from actors.errors import BadInput
from host.transfer import whole_file

_WRITER = """
import sys
from pathlib import Path
from host.transfer import whole_file

with whole_file(Path(sys.argv[1]), may_replace=True) as file:
    for number in range(100_000):
        file.write(b"a line of the export\\n")
        if number == 50_000:
            file.flush()
            print("in the middle", flush=True)
            if sys.argv[2] == "wait":
                sys.stdin.read()
"""
ROOT = Path(__file__).parents[3]


def writer(path: Path, how: str) -> "subprocess.Popen[str]":
    """A process that writes two megabytes; told to wait, it does so in the middle."""

    def limit_files() -> None:
        if how == "limited":  # what a full disk does to a process, without one
            resource.setrlimit(resource.RLIMIT_FSIZE, (1_500_000, 1_500_000))

    return subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(path), how],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=limit_files,
        text=True,
    )


def test_a_file_appears_when_all_of_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    with whole_file(path, may_replace=False) as file:
        file.write(b"whole")
        assert not path.exists()
    assert path.read_bytes() == b"whole"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["e.jsonl"]


def test_an_error_leaves_nothing_and_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"

    def fail_half_way() -> None:
        with whole_file(path, may_replace=True) as file:
            file.write(b"half")
            raise ZeroDivisionError

    for before in ([], ["e.jsonl"]):
        with pytest.raises(ZeroDivisionError):
            fail_half_way()
        assert os.listdir(tmp_path) == before
        path.write_bytes(b"old")
    assert path.read_bytes() == b"old"


def test_nothing_is_replaced_that_may_not_be(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    path.write_bytes(b"old")
    with pytest.raises(BadInput, match="--force"), whole_file(path, may_replace=False):
        pass
    dangling = tmp_path / "link"
    dangling.symlink_to(tmp_path / "nowhere")
    for place in (tmp_path, Path("/dev/null"), dangling):
        with pytest.raises(BadInput, match="something else is there"), whole_file(place, may_replace=True):
            pass
    assert path.read_bytes() == b"old"


def test_a_file_that_came_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    with pytest.raises(BadInput, match="--force"), whole_file(path, may_replace=False):
        path.write_bytes(b"of somebody else")
    assert path.read_bytes() == b"of somebody else"
    assert os.listdir(tmp_path) == ["e.jsonl"]


def test_a_link_stays_one_and_its_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "there").write_bytes(b"old")
    link = tmp_path / "link"
    link.symlink_to("there")
    with whole_file(link, may_replace=True) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert (tmp_path / "there").read_bytes() == b"new"


def test_a_place_where_no_file_can_be_is_told(tmp_path: Path) -> None:
    for place in (tmp_path / "missing" / "e.jsonl", Path("/proc/e.jsonl")):
        with pytest.raises(BadInput, match="none can be made"), whole_file(place, may_replace=False):
            pass


@pytest.mark.real
def test_a_killed_process_leaves_nothing_under_the_name(tmp_path: Path) -> None:
    for path in (tmp_path / "new", tmp_path / "old"):
        if path.name == "old":
            path.write_bytes(b"old")
        with writer(path, "wait") as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "in the middle\n"
            process.send_signal(signal.SIGKILL)
        assert not path.exists() or path.read_bytes() == b"old"
    assert (tmp_path / "old").exists()


@pytest.mark.real
def test_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    with writer(tmp_path / "new", "limited") as process:
        _, err = process.communicate(timeout=30)
    assert process.returncode == 1
    assert "OSError" in err
    assert os.listdir(tmp_path) == []
