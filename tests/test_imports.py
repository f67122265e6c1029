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
module = importlib.import_module(sys.argv[1])
for name in getattr(module, "__all__", ()):
    getattr(module, name)  # a facade may load what it names on first use
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


@pytest.mark.parametrize("module", ["providers", "actors", "host", "host.opening"])
def test_importing_is_quick_and_starts_nothing(module: str) -> None:
    # The least of three: other work on the machine costs cache misses that are not ours.
    runs = [_import_in_a_child(module) for _ in range(3)]
    assert min(float(str(run["cpu_s"])) for run in runs) < LIMIT_CPU_S
    assert runs[0]["threads"] == 1
    assert runs[0]["processes"] == 0


def test_opening_a_host_imports_no_sdk_of_a_provider() -> None:
    modules = _import_in_a_child("host.opening")["modules"]
    assert isinstance(modules, list)
    assert not {"openai", "anthropic", "mcp", "opentelemetry", "starlette"} & set(modules)


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
