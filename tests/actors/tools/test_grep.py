import os
import time
from itertools import pairwise
from pathlib import Path

import anyio
import pytest
from pydantic import JsonValue

from actors.errors import BadInput, ToolInputInvalid
from actors.tools import builtin_tools
from actors.tools.grep import grep_tool
from tests.actors.tools.fakes import context_in

GREP = builtin_tools()["Grep"]


def grep(cwd: Path, pattern: str, **sent: JsonValue) -> str:
    return grep_on("asyncio", cwd, pattern, **sent)


def grep_on(backend: str, cwd: Path, pattern: str, **sent: JsonValue) -> str:
    async def main() -> str:
        return str((await GREP.run(context_in(cwd), {"pattern": pattern, **sent})).content)

    return anyio.run(main, backend=backend)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.py").write_text("one\ntwo\nthree\nfour\nfive\nsix\ntwo\n")
    (tmp_path / "b.txt").write_text("Two\r\ntwo\r\n")
    (tmp_path / "hidden.o").write_text("two")
    (tmp_path / "binary").write_bytes(b"two\0")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("*.o\n")
    return tmp_path


def test_lines_are_found_and_named(tree: Path, real_backend: str) -> None:
    assert grep_on(real_backend, tree, "^two$") == "b.txt:2:two\nsrc/a.py:2:two\nsrc/a.py:7:two"


@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        ({"mode": "files"}, "b.txt\nsrc/a.py"),
        ({"mode": "count"}, "b.txt:1\nsrc/a.py:2"),
        ({"mode": "count", "ignore_case": True}, "b.txt:2\nsrc/a.py:2"),
        ({"glob": "*.py"}, "src/a.py:2:two\nsrc/a.py:7:two"),
        ({"glob": "src/*.py", "mode": "files"}, "src/a.py"),
        ({"glob": "*.rs"}, "No match in 0 files."),
        ({"path": "b.txt"}, "b.txt:2:two"),
        ({"path": "hidden.o"}, "hidden.o:1:two"),
        ({"path": "src", "mode": "files"}, "src/a.py"),
        (
            {"context_lines": 1, "path": "src"},
            "src/a.py-1-one\nsrc/a.py:2:two\nsrc/a.py-3-three\n--\nsrc/a.py-6-six\nsrc/a.py:7:two",
        ),
        (
            {"limit": 2},
            "b.txt:2:two\nsrc/a.py:2:two\n[cut after 2 lines with matches; there are more]",
        ),
        ({"limit": 1, "mode": "files"}, "b.txt\n[cut after 1 files with matches; there are more]"),
        ({"limit": 2, "mode": "files"}, "b.txt\nsrc/a.py"),
        ({"limit": 1}, "b.txt:2:two\n[cut after 1 lines with matches; there are more]"),
    ],
)
def test_what_is_searched_and_shown_can_be_chosen(
    tree: Path, sent: dict[str, JsonValue], answer: str
) -> None:
    assert grep(tree, "two", **sent) == answer


def test_context_of_neighbouring_lines_is_shown_once(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a\nx\nx\nb\n")
    assert grep(tmp_path, "x", context_lines=5) == "f-1-a\nf:2:x\nf:3:x\nf-4-b"


def test_nothing_found_tells_how_much_was_searched(tree: Path) -> None:
    assert grep(tree, "zzz") == "No match in 3 files, 1 binary ones left out."


def test_the_end_of_a_file_is_no_line_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a\n\n")
    assert grep(tmp_path, "^$") == "f:2:"


def test_a_long_line_is_cut_around_what_was_found(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x" * 100_000 + "needle" + "y" * 100_000)
    answer = grep(tmp_path, "needle")
    assert "needle" in answer
    assert len(answer) < 700
    assert "[line of 200,006 characters cut]" in answer


def test_bytes_that_are_no_text_do_not_stop_a_search(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"caf\xe9 two\n")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff")).write_text("two")
    assert grep(tmp_path, "two", mode="count").count(":1") == 2


def test_a_huge_file_is_left_out_visibly(tmp_path: Path) -> None:
    with open(tmp_path / "huge", "wb") as file:
        file.truncate(3_000_000_000)
    (tmp_path / "f").write_text("two")
    assert grep(tmp_path, "two") == "f:1:two\n[not searched, over 20,000,000 bytes: huge]"


def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert grep(tmp_path, "x", path="pipe") == "No match in 0 files."


@pytest.mark.parametrize(
    ("pattern", "sent", "says"),
    [
        ("(", {}, r"'\(' is no valid regular expression: missing \)"),
        ("(?P<a>x)(?P<a>y)", {}, "redefinition of group name"),
        ("x{99999999999}", {}, "no valid regular expression"),
        ("x", {"path": "none"}, "there is no none to search"),
        ("x", {"glob": "/x"}, "relative to the folder"),
    ],
)
def test_a_search_that_makes_no_sense_is_refused(
    tree: Path, pattern: str, sent: dict[str, JsonValue], says: str
) -> None:
    with pytest.raises(BadInput, match=says):
        grep(tree, pattern, **sent)


def test_an_unknown_mode_is_refused_by_the_schema(tree: Path) -> None:
    with pytest.raises(ToolInputInvalid, match="mode: expected 'content', 'files' or 'count'"):
        grep(tree, "x", mode="lines")


def test_a_pattern_that_takes_for_ever_is_stopped_and_blocks_nobody(
    tmp_path: Path, real_backend: str
) -> None:
    (tmp_path / "f").write_text("a" * 60 + "b")
    ticks: list[float] = []

    async def tick() -> None:
        while True:
            ticks.append(time.monotonic())
            await anyio.sleep(0.01)

    async def main() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(tick)
            with pytest.raises(BadInput, match=r"took over 0.5 s and was stopped.*\(a\+\)\+"):
                await grep_tool(time_limit_s=0.5).run(context_in(tmp_path), {"pattern": "^(a+)+$"})
            group.cancel_scope.cancel()

    anyio.run(main, backend=real_backend)
    assert max(later - sooner for sooner, later in pairwise(ticks)) < 0.3


def test_a_cancelled_search_ends_at_once(tmp_path: Path, real_backend: str) -> None:
    (tmp_path / "f").write_text("a" * 60 + "b")

    async def main() -> None:
        with anyio.fail_after(3), anyio.move_on_after(0.3) as scope:
            await GREP.run(context_in(tmp_path), {"pattern": "^(a+)+$"})
        assert scope.cancelled_caught

    anyio.run(main, backend=real_backend)


@pytest.mark.slow
def test_ten_thousand_files_are_searched_in_seconds(tmp_path: Path) -> None:
    for folder in range(100):
        (tmp_path / str(folder)).mkdir()
        for number in range(100):
            (tmp_path / str(folder) / f"{number}.py").write_text("def f():\n    return 1\n" * 20)
    (tmp_path / "99/99.py").write_text("needle\n")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("*.o\nbuild/\n__pycache__/\n")
    began = time.monotonic()
    assert grep(tmp_path, "need.e") == "99/99.py:1:needle"
    assert time.monotonic() - began < 10
