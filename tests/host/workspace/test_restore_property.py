"""Whatever agents wrote: taking back any last part of it gives exactly the tree that was there before."""

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias, assert_never

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from actors.errors import BadInput, LogFailed
from actors.records import FileChanging
from tests.host.workspace.desk import Desk, Tree, tree_of

# No name is both a file and a folder above another.
PATHS = ("f", "g", "a/f", "a/b/f", "a/b/g", "c/d/e/f", "to-f", "to-a/h")
TEXTS = ("", "one", "two\n", "one two one", "caf\N{LATIN SMALL LETTER E WITH ACUTE}\r\n")


@dataclass(frozen=True)
class Write:
    agent: str
    path: str
    text: str


@dataclass(frozen=True)
class Edit:
    agent: str
    path: str


@dataclass(frozen=True)
class Lost:
    """A write that was recorded, and whose process was killed before the file was touched."""

    path: str
    text: str


@dataclass(frozen=True)
class TakeBack:
    """The changes since one that was not taken back itself, chosen by a share of all those."""

    share: float


Step: TypeAlias = Write | Edit | Lost | TakeBack

AGENTS = st.sampled_from(("main", "helper"))
STEPS = st.one_of(
    st.builds(Write, AGENTS, st.sampled_from(PATHS), st.sampled_from(TEXTS)),
    st.builds(Edit, AGENTS, st.sampled_from(PATHS)),
    st.builds(Lost, st.sampled_from(PATHS), st.sampled_from(TEXTS)),
    st.builds(TakeBack, st.floats(0, 1)),
)


class LosingDesk(Desk):
    """With `write_and_lose`, which ends a call between its record and its effect."""

    def write_and_lose(self, path: str, text: str) -> None:
        n_before = len(self.changes)
        self.is_losing = True
        try:
            self.write(path, text)
        except LogFailed:
            assert len(self.changes) == n_before + 1
        finally:
            self.is_losing = False

    is_losing = False

    async def record(self, change: FileChanging) -> None:
        await super().record(change)
        if self.is_losing:
            raise LogFailed("the process was killed")


@dataclass
class Work:
    """`trees` holds, for each change, what was there before it; `standing` are changes not taken back."""

    desk: LosingDesk
    trees: list[Tree] = field(default_factory=list)
    standing: list[int] = field(default_factory=list)

    def take(self, step: Step) -> None:
        before = tree_of(self.desk.folder)
        match step:
            case Write():
                self.desk.write(step.path, step.text, step.agent)
            case Edit():
                try:
                    self.desk.edit(step.path, "one", "eins", step.agent)
                except BadInput:
                    assert tree_of(self.desk.folder) == before
            case Lost():
                self.desk.write_and_lose(step.path, step.text)
                assert tree_of(self.desk.folder) == before
            case TakeBack():
                self.take_back(step.share)
            case _:
                assert_never(step)
        new = range(len(self.trees), len(self.desk.changes))
        self.standing.extend(new)
        self.trees.extend([before] * len(new))

    def take_back(self, share: float) -> None:
        if not self.standing:
            return
        since = self.standing[min(int(share * len(self.standing)), len(self.standing) - 1)]
        self.desk.restore(since)
        assert tree_of(self.desk.folder) == self.trees[since]
        self.standing = [number for number in self.standing if number < since]


def check(backend: str, modes: dict[str, int], steps: list[Step], share: float) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        (folder / "a").mkdir()
        for path, mode in modes.items():
            (folder / path).write_text(f"one {path}")
            (folder / path).chmod(mode)
        (folder / "to-f").symlink_to("f")
        (folder / "to-a").symlink_to("a")
        work = Work(LosingDesk(folder, backend))
        for step in (*steps, TakeBack(share)):
            work.take(step)


MODES = st.dictionaries(st.sampled_from(("f", "g", "a/f")), st.sampled_from((0o644, 0o600, 0o755, 0o2755)))


@settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(MODES, st.lists(STEPS, max_size=12), st.floats(0, 1))
def test_taking_back_any_part_gives_the_tree_before_it(
    real_backend: str, modes: dict[str, int], steps: list[Step], share: float
) -> None:
    check(real_backend, modes, steps, share)


@pytest.mark.slow
@settings(max_examples=1_000, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(MODES, st.lists(STEPS, max_size=25), st.floats(0, 1))
def test_taking_back_any_part_of_long_work_gives_the_tree_before_it(
    real_backend: str, modes: dict[str, int], steps: list[Step], share: float
) -> None:
    check(real_backend, modes, steps, share)
