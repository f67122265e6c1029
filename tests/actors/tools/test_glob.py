import os
import re
from pathlib import Path

import anyio
import pytest
from pydantic import JsonValue

from actors.errors import BadInput
from actors.tools import builtin_tools
from actors.tools.glob_pattern import glob_pattern
from actors.tools.walk import files_below
from tests.actors.tools.fakes import context_in

GLOB = builtin_tools()["Glob"]


def glob(cwd: Path, pattern: str, backend: str = "asyncio", path: str = ".", limit: int = 200) -> str:
    async def main() -> str:
        sent: dict[str, JsonValue] = {"pattern": pattern, "path": path, "limit": limit}
        return str((await GLOB.run(context_in(cwd), sent)).content)

    return anyio.run(main, backend=backend)


def make(root: Path, *names: str, text: str = "") -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def below(root: Path) -> list[str]:
    return [os.path.relpath(entry.path, root) for entry in files_below(root)]


@pytest.mark.parametrize(
    ("pattern", "fits", "misses"),
    [
        ("*.py", ["a.py", ".a.py"], ["d/a.py", "apy", "a.pyc"]),
        ("**/*.py", ["a.py", "d/a.py", "d/e/a.py"], ["a.pyc"]),
        ("d/**", ["d/a", "d/e/a"], ["e/d/a"]),
        ("d/**/a", ["d/a", "d/e/f/a"], ["d/ba"]),
        ("**", ["a", "d/a"], []),
        ("?.{py,pyi}", ["a.py", "b.pyi"], ["ab.py", "a.pyx", "/.py"]),
        ("{a,b{c,d}}/x", ["a/x", "bc/x", "bd/x"], ["b/x"]),
        ("[a-c]x", ["ax", "cx"], ["dx", "/x"]),
        ("[!a]x", ["bx", "^x"], ["ax", "/x"]),
        ("[]]x", ["]x"], ["x"]),
        ("[a^]", ["^", "a"], ["b"]),
        ("a+(b).$", ["a+(b).$"], ["aab"]),
        ("a,b}", ["a,b}"], ["a"]),
        ("./a", ["a"], ["./a"]),
        ("a\nb", ["a\nb"], ["ab"]),
    ],
)
def test_a_pattern_fits_what_it_says(pattern: str, fits: list[str], misses: list[str]) -> None:
    matches = glob_pattern(pattern).fullmatch
    assert [path for path in fits if not matches(path)] == []
    assert [path for path in misses if matches(path)] == []


@pytest.mark.parametrize("pattern", ["/etc/*", "~/x", "../x", "a/../b", "[a", "{a", "", "x" * 501, "[z-a]"])
def test_a_pattern_that_means_nothing_is_refused(pattern: str) -> None:
    with pytest.raises(BadInput, match="pattern"):
        glob_pattern(pattern)


def test_the_newest_file_comes_first(tmp_path: Path, real_backend: str) -> None:
    make(tmp_path, "old.py", "d/new.py", "mid.py", "x.txt")
    for age, name in enumerate(["d/new.py", "mid.py", "old.py"]):
        os.utime(tmp_path / name, (1_000_000 - age, 1_000_000 - age))
    assert glob(tmp_path, "**/*.py", real_backend) == "d/new.py\nmid.py\nold.py"
    assert glob(tmp_path, "*.py", path="d") == "d/new.py"
    assert glob(tmp_path / "d", "*.py", path="..") == f"{tmp_path}/mid.py\n{tmp_path}/old.py"


def test_a_cut_is_visible(tmp_path: Path) -> None:
    make(tmp_path, *(f"{number}.py" for number in range(7)))
    lines = glob(tmp_path, "*.py", limit=3).split("\n")
    assert len(lines) == 4
    assert lines[3].startswith("[cut: 3 of 7 files shown")
    assert "cut" not in glob(tmp_path, "*.py", limit=7)


def test_nothing_found_is_said(tmp_path: Path) -> None:
    assert glob(tmp_path, "*.py") == "No file below . fits '*.py'."


@pytest.mark.parametrize("path", ["none", "file"])
def test_only_a_folder_can_be_looked_into(tmp_path: Path, path: str) -> None:
    make(tmp_path, "file")
    with pytest.raises(BadInput, match=f"{path} is not a folder"):
        glob(tmp_path, "*", path=path)


def test_what_git_ignores_is_left_out(tmp_path: Path) -> None:
    make(
        tmp_path, ".git/config", "a.o", "keep.o", "src/b.o", "src/c.py", "build/d.py", "src/build/e.py", "top"
    )
    make(tmp_path, "src/only_here", "only_here", "secret", "top")
    (tmp_path / ".gitignore").write_text("*.o\n!keep.o\nbuild/\n/top\n")
    (tmp_path / "src/.gitignore").write_text("only_here\n!b.o\n")
    (tmp_path / ".git/info").mkdir()
    (tmp_path / ".git/info/exclude").write_text("secret\n")
    wanted = {".gitignore", "keep.o", "only_here", "src/.gitignore", "src/b.o", "src/c.py"}
    assert set(below(tmp_path)) == wanted
    # The rules above a folder hold in it, but a folder asked for by name is shown.
    assert set(below(tmp_path / "src")) == {".gitignore", "b.o", "c.py"}
    assert below(tmp_path / "build") == ["d.py"]


def test_rules_above_a_repository_do_not_hold_in_it(tmp_path: Path) -> None:
    make(tmp_path, "repo/.git/config", "repo/a.py", "plain/b.py")
    (tmp_path / ".gitignore").write_text("*.py\n")
    assert below(tmp_path / "repo") == ["a.py"]
    assert below(tmp_path / "plain") == ["b.py"]


def test_a_broken_ignore_file_hides_nothing_else(tmp_path: Path) -> None:
    make(tmp_path, "a.o", "b.py")
    (tmp_path / ".gitignore").write_bytes(b"\xff\n!\n[\n/\n*.o\n")
    assert set(below(tmp_path)) == {".gitignore", "b.py"}


def test_links_to_folders_are_not_followed(tmp_path: Path) -> None:
    make(tmp_path, "d/a")
    (tmp_path / "d/up").symlink_to("..")
    (tmp_path / "self").symlink_to("self")
    (tmp_path / "gone").symlink_to("nowhere")
    (tmp_path / "b").symlink_to("d/a")
    assert below(tmp_path) == ["b", "d/a"]


def test_names_that_are_no_text_do_no_harm(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.py")).touch()
    assert re.fullmatch(r".\.py", glob(tmp_path, "*.py"))


def test_a_walk_can_be_stopped_at_every_folder(tmp_path: Path) -> None:
    make(tmp_path, *(f"{number}/f" for number in range(9)))
    calls: list[int] = []

    def stop() -> None:
        calls.append(1)
        if len(calls) == 4:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        list(files_below(tmp_path, stop))
