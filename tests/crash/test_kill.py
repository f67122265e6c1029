"""Killed at any moment, a host goes on: nothing acknowledged is missing, nothing is doubled."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]


def kill(folder: Path, n_kills: int, backend: str, durability: str, seed: int) -> None:
    command = [sys.executable, "-m", "tests.crash.parent", str(folder), str(seed), str(n_kills)]
    ended = subprocess.run(
        [*command, backend, durability],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=60 + 6 * n_kills,  # a busy machine kills a hundred a minute
    )
    assert ended.returncode == 0, ended.stderr
    tally = json.loads(ended.stdout)
    print(tally)
    assert not tally["problems"], "\n".join((f"of {tally}", *tally["problems"], ended.stderr[-2000:]))
    assert tally["n_kills"] == n_kills


def chosen_seed() -> int:
    """Another one each time; `CALLBOARD_CRASH_SEED` plays one again."""
    return int(os.environ.get("CALLBOARD_CRASH_SEED") or int.from_bytes(os.urandom(3)))


@pytest.mark.parametrize("durability", ["normal", "full"])
def test_a_host_goes_on_behind_a_few_kills(tmp_path: Path, real_backend: str, durability: str) -> None:
    kill(tmp_path, 6, real_backend, durability, chosen_seed())


@pytest.mark.slow
@pytest.mark.parametrize(("durability", "n_kills"), [("normal", 150), ("full", 50)])
def test_a_host_goes_on_behind_hundreds_of_kills(
    tmp_path: Path, real_backend: str, durability: str, n_kills: int
) -> None:
    kill(tmp_path, n_kills, real_backend, durability, chosen_seed())
