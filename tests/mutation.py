"""Which small changes no test of the projector sees: `python -m tests.mutation actors/projection/pair.py …`.

Every mutant lives in a forked process alone: the files are read, never written.
What killed the last mutant is tried first, generated histories come last, always
the same ones. A mutant that takes too long or too much memory counts as killed.
"""

import ast
import os
import resource
import signal
import sys
from collections.abc import Container, Iterator, Sequence
from graphlib import TopologicalSorter
from pathlib import Path
from types import CodeType

import pytest
from hypothesis import Phase, settings

from tests.mutants import mutants

_NAMES = "stages repair sendable trust cases vectors thinking incremental properties"
_TESTS = (
    *(f"tests/actors/projection/test_{name}.py" for name in _NAMES.split()),
    "tests/actors/reminders",
    "tests/actors/test_prefix.py",
)
_LIMIT_S = 30
_LIMIT_BYTES = 4_000_000_000


class _Loop:
    """Runs the collected tests on one mutant after the other."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = paths
        self._out = os.dup(1)
        self._order: list[pytest.Item] = []

    @pytest.hookimpl
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self._order = sorted(
            session.items, key=lambda item: hasattr(getattr(item, "obj", None), "hypothesis")
        )
        codes = {name: compile(Path(file).read_bytes(), file, "exec") for name, file in _ours().items()}
        for path in self._paths:
            name = path.removesuffix(".py").replace("/", ".")
            behind = [(importer, codes[importer]) for importer in _importers(name)]
            if self._killer(session, [(name, codes[name]), *behind]) is not None:
                raise pytest.UsageError(f"the tests fail on {path} as it is")
            self._try_all(session, path, name, behind)
        return True

    def _try_all(
        self, session: pytest.Session, path: str, name: str, behind: Sequence[tuple[str, CodeType]]
    ) -> None:
        n_mutants = n_killed = 0
        for mutant in mutants(Path(path).read_text("utf-8")):
            n_mutants += 1
            killer = self._killer(session, [(name, compile(mutant.source, path, "exec")), *behind])
            if killer is None:
                self._say(f"{path}:{mutant}")
                continue
            n_killed += 1
            if killer >= 0:
                self._order.insert(0, self._order.pop(killer))
        self._say(f"{path}: {n_mutants} mutants, {n_killed} killed")

    def _say(self, line: str) -> None:
        os.write(self._out, f"{line}\n".encode())

    def _killer(self, session: pytest.Session, changed: Sequence[tuple[str, CodeType]]) -> int | None:
        """The place of the test that fails; -1 where the tests came to no end, None where all pass."""
        reading, writing = os.pipe()
        if not (child := os.fork()):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.dup2(1, 2)
            resource.setrlimit(resource.RLIMIT_AS, (_LIMIT_BYTES, _LIMIT_BYTES))
            signal.alarm(_LIMIT_S)
            place = -1
            try:
                _install(changed)
                place = _first_failing(session, self._order)
            finally:
                os.write(writing, str(place).encode())
                os._exit(0)
        os.close(writing)
        os.waitpid(child, 0)
        place = int(os.read(reading, 20) or b"-1")
        os.close(reading)
        return None if place == len(self._order) else place


def _install(changed: Sequence[tuple[str, CodeType]]) -> None:
    """Runs the first module, which is the mutant, and those that import it once more in their places."""
    space = vars(sys.modules[changed[0][0]])
    for known in [known for known in space if not known.startswith("__")]:
        del space[known]  # A mutant that defines less must not find it.
    for name, code in changed:
        exec(code, vars(sys.modules[name]))


def _first_failing(session: pytest.Session, order: Sequence[pytest.Item]) -> int:
    for at, item in enumerate(order):
        following = order[at + 1] if at + 1 < len(order) else None
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.testsfailed:
            return at
    return len(order)


def _ours() -> dict[str, str]:
    rooms = ("actors", "host", "providers", "tests")
    return {
        name: file
        for name, module in sys.modules.items()
        if name.split(".")[0] in rooms and (file := getattr(module, "__file__", None))
    }


def _importers(wanted: str) -> list[str]:
    """The loaded modules that import this one, directly or not, each behind those that it imports."""
    ours = _ours()
    graph = {name: {*_imports(Path(file).read_text("utf-8"), ours)} for name, file in ours.items()}
    found = {wanted}
    order = list(TopologicalSorter(graph).static_order())
    for name in order:
        if graph[name] & found:
            found.add(name)
    return [name for name in order if name in found and name != wanted]


def _imports(source: str, ours: Container[str]) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in ours)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            for name in (f"{node.module}.{alias.name}" for alias in node.names):
                if name in ours or node.module in ours:
                    yield name if name in ours else node.module


def main() -> int:
    # Failures are not made smaller: that they are there is enough.
    settings.register_profile(
        "mutation", derandomize=True, database=None, deadline=None, phases=(Phase.explicit, Phase.generate)
    )
    settings.load_profile("mutation")
    arguments = [*_TESTS, "-m", "not slow", "-s", "-qq", "-p", "no:cacheprovider"]
    ignored = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    return int(pytest.main([*arguments, *ignored], plugins=[_Loop(sys.argv[1:])]))


if __name__ == "__main__":
    sys.exit(main())
