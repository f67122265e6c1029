"""Workflows from script files."""

from pathlib import Path

import pytest

from host.errors import WorkflowInvalid
from host.workflows import load_workflow

ONE = """
from dataclasses import dataclass
from host import workflow

@dataclass
class Page:
    path: str

@workflow
async def review(run, pages: "list[Page]") -> int:
    return len(pages)
"""
TWO = (
    ONE
    + """
@workflow
async def judge(run):
    pass
"""
)


def script(folder: Path, text: str, name: str = "script.py") -> Path:
    file = folder / name
    file.write_text(text)
    return file


def test_the_only_workflow_of_a_file_needs_no_name(tmp_path: Path) -> None:
    loaded = load_workflow(script(tmp_path, ONE))
    assert loaded.name == "review"
    assert loaded.bind({"pages": [{"path": "a"}]})["pages"]


def test_of_several_one_is_named(tmp_path: Path) -> None:
    file = script(tmp_path, TWO)
    assert load_workflow(file, "judge").name == "judge"
    with pytest.raises(WorkflowInvalid, match="defines 2 workflows; name one of: review, judge"):
        load_workflow(file)
    with pytest.raises(WorkflowInvalid, match="no workflow named 'jury'; there are: review, judge"):
        load_workflow(file, "jury")


def test_a_script_may_import_what_lies_beside_it_and_two_of_one_name_do_not_meet(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    script(tmp_path, ONE, "parts.py")
    with_import = script(tmp_path, "import parts\n" + ONE.replace("review", "near"))
    elsewhere = script(tmp_path / "other", ONE.replace("review", "far"))
    assert load_workflow(with_import).name == "near"
    assert load_workflow(elsewhere).name == "far"


def test_an_imported_workflow_is_not_the_files_own(tmp_path: Path) -> None:
    script(tmp_path, ONE, "lent.py")
    with pytest.raises(WorkflowInvalid, match="defines no workflow"):
        load_workflow(script(tmp_path, "from lent import review\n"))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x = 1", "defines no workflow: write `@workflow`"),
        ("def f(:", r"cannot be imported: SyntaxError: .*line 1"),
        ("import os\n\nraise ValueError('no')", r"cannot be imported: ValueError: no \(script.py, line 3\)"),
        ("import sys; sys.exit(4)", r"cannot be imported: SystemExit: 4 \(script.py, line 1\)"),
        (
            "import nowhere_at_all",
            "cannot be imported: ModuleNotFoundError: No module named 'nowhere_at_all'",
        ),
        ("\x00", "cannot be imported: "),
    ],
)
def test_a_file_that_is_no_workflow_says_why(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(WorkflowInvalid, match=reason):
        load_workflow(script(tmp_path, text))


def test_a_missing_file_a_folder_and_another_kind_of_file_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(WorkflowInvalid, match="there is no file"):
        load_workflow(tmp_path / "none.py")
    with pytest.raises(WorkflowInvalid, match="there is no file"):
        load_workflow(tmp_path)
    with pytest.raises(WorkflowInvalid, match=r"is a Python file \(\.py\)"):
        load_workflow(script(tmp_path, ONE, "script.txt"))
