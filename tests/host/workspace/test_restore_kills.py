"""Restores that are killed at any moment."""

import random
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[3]


def killed_restores(folder: Path, backend: str, n_rounds: int, seed: int) -> str:
    """What the driver says; it fails if a restore that was killed cannot be completed, or lost something."""
    command = [sys.executable, "-m", "tests.host.workspace.killed_restores"]
    arguments = [str(folder), backend, str(n_rounds), str(seed)]
    done = subprocess.run([*command, *arguments], cwd=REPOSITORY, capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, f"seed {seed}: {done.stdout}{done.stderr}"
    return done.stdout


def test_a_restore_that_was_killed_is_completed_by_the_next(tmp_path: Path, real_backend: str) -> None:
    assert killed_restores(tmp_path, real_backend, 12, 7).startswith("12 rounds")


@pytest.mark.slow
def test_many_killed_restores_are_completed_by_the_next(tmp_path: Path, real_backend: str) -> None:
    seed = random.randrange(2**32)
    said = killed_restores(tmp_path, real_backend, 40, seed)
    print(said)
    n_halfway = int(said.split()[2])
    assert n_halfway > 3, f"seed {seed}: too few kills met a restore that had begun: {said}"
