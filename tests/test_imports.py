"""Importing costs little and starts nothing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LIMIT_CPU_S = 0.5

_IMPORT_AND_LOOK = """
import importlib, json, os, sys, threading, time
before = time.process_time()
importlib.import_module(sys.argv[1])
cpu_s = time.process_time() - before
children = [open(f"/proc/self/task/{t}/children").read().split() for t in os.listdir("/proc/self/task")] \\
    if os.path.exists("/proc/self/task") else []
print(json.dumps({
    "cpu_s": cpu_s,
    "threads": max(threading.active_count(), len(children)),
    "processes": sum(len(c) for c in children),
    "modules": sorted(sys.modules),
}))
"""


def _import_in_a_child(module: str) -> dict[str, object]:
    command = [sys.executable, "-c", _IMPORT_AND_LOOK, module]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    seen: dict[str, object] = json.loads(done.stdout)
    return seen


@pytest.mark.parametrize("room", ["providers", "actors", "host"])
def test_importing_a_room_is_quick_and_starts_nothing(room: str) -> None:
    # The least of three: other work on the machine costs cache misses that are not ours.
    runs = [_import_in_a_child(room) for _ in range(3)]
    assert min(float(str(run["cpu_s"])) for run in runs) < LIMIT_CPU_S
    assert runs[0]["threads"] == 1
    assert runs[0]["processes"] == 0


def test_importing_host_imports_no_provider_sdk() -> None:
    modules = _import_in_a_child("host")["modules"]
    assert isinstance(modules, list)
    assert not {"openai", "anthropic", "mcp", "opentelemetry", "starlette"} & set(modules)


@pytest.mark.skipif(not (ROOT / "host/cli/main.py").exists(), reason="there is no command line")
def test_the_command_shows_its_help_quickly() -> None:
    seen = []
    for _ in range(3):
        code = (
            "import resource, subprocess, sys;"
            "subprocess.run([sys.executable, '-c',"
            ' \'import sys; sys.argv[:] = ["callboard", "--help"]; from host.cli.main import main; main()\'],'
            " check=True, stdout=subprocess.DEVNULL);"
            "used = resource.getrusage(resource.RUSAGE_CHILDREN); print(used.ru_utime + used.ru_stime)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
        )
        seen.append(float(done.stdout))
    assert min(seen) < LIMIT_CPU_S
