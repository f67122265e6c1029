"""Real files, taken back: what is restored, what is refused, and what is kept of what stood there."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from actors.records import FileChanging, FileState
from host.errors import RestoreRefused
from host.workspace import Standing
from tests.host.workspace.desk import Desk, Tree, tree_of


@pytest.fixture
def desk(tmp_path: Path, real_backend: str) -> Desk:
    (tmp_path / "work").mkdir()
    return Desk(tmp_path / "work", real_backend)


def test_everything_is_again_as_it_was(desk: Desk) -> None:
    (desk.folder / "old").write_bytes(b"caf\xe9\r\n")
    (desk.folder / "old").chmod(0o751)
    (desk.folder / "empty").touch()
    before = tree_of(desk.folder)
    desk.edit("old", "caf", "restaurant")
    desk.write("old", "another")
    desk.write("empty", "full")
    desk.write("a/b/new", "x")
    desk.edit("a/b/new", "x", "y")
    restored = desk.restore()
    assert tree_of(desk.folder) == before
    assert [Path(file.path).name for file in restored] == ["old", "empty", "new"]
    states = [(file.replaced, file.restored) for file in restored]
    assert states[2][1] is None
    assert [replaced and desk.host.artifacts[str(replaced.artifact_id)] for replaced, _ in states] == [
        b"another",
        b"full",
        b"y",
    ]


def test_only_the_later_changes_are_taken_back(desk: Desk) -> None:
    desk.write("f", "one")
    desk.write("f", "two")
    between = tree_of(desk.folder)
    desk.write("f", "three")
    desk.write("g", "new")
    desk.restore(since=2)
    assert tree_of(desk.folder) == between
    desk.restore()
    assert tree_of(desk.folder) == {}


def test_a_folder_that_holds_something_of_others_stays(desk: Desk) -> None:
    desk.write("a/b/f", "x")
    (desk.folder / "a/theirs").write_text("theirs")
    desk.restore()
    assert set(tree_of(desk.folder)) == {"a", "a/theirs"}


def test_a_made_folder_that_is_a_link_now_is_not_followed(desk: Desk) -> None:
    desk.write("a/f", "x")
    elsewhere = desk.folder.parent / "elsewhere"
    elsewhere.mkdir()
    (desk.folder / "a/f").unlink()
    (desk.folder / "a").rmdir()
    (desk.folder / "a").symlink_to(elsewhere)
    with pytest.raises(RestoreRefused, match=r"a/f lies behind a link now: its folder is .*elsewhere"):
        desk.restore()
    assert elsewhere.is_dir()


def test_doing_it_again_changes_nothing_and_names_the_same_files(desk: Desk) -> None:
    (desk.folder / "f").write_text("old")
    desk.write("f", "new")
    desk.write("a/g", "new")
    desk.restore()
    stamps = (desk.folder / "f").stat()
    again = desk.restore()
    now = (desk.folder / "f").stat()
    assert (now.st_ino, now.st_mtime_ns) == (stamps.st_ino, stamps.st_mtime_ns)
    assert [(Path(file.path).name, file.replaced == file.restored) for file in again] == [
        ("f", True),
        ("g", True),
    ]


def changed(file: Path) -> None:
    file.write_text("theirs")


def deleted(file: Path) -> None:
    file.unlink()


def deleted_with_its_folder(file: Path) -> None:
    file.unlink()
    file.parent.rmdir()


@pytest.mark.parametrize(
    ("happens", "reason"),
    [
        (changed, "was changed since by somebody else"),
        (deleted, "was deleted since"),
        (deleted_with_its_folder, "was deleted since"),
    ],
)
def test_what_others_did_is_refused_and_overwritten_only_where_asked(
    desk: Desk, happens: Callable[[Path], None], reason: str
) -> None:
    file = desk.folder / "sub/f"
    file.parent.mkdir()
    file.write_text("old")
    desk.write("fine", "new")
    desk.write("sub/f", "new")
    happens(file)
    after = tree_of(desk.folder)
    with pytest.raises(RestoreRefused) as refusal:
        desk.restore()
    assert refusal.value.conflicts == {str(file): reason}
    assert tree_of(desk.folder) == after
    restored = desk.restore(overwrite=True)
    assert file.read_text() == "old"
    replaced = restored[1].replaced
    assert "theirs" not in str(after) or (
        replaced is not None and desk.host.artifacts[str(replaced.artifact_id)] == b"theirs"
    )


def made_a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def made_a_link(file: Path) -> None:
    file.rename(file.with_name("away"))
    file.symlink_to("away")


def made_a_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def moved_behind_a_link(file: Path) -> None:
    file.parent.rename(file.parent.with_name("moved"))
    file.parent.symlink_to("moved")


def made_its_folder_a_file(file: Path) -> None:
    file.unlink()
    file.parent.rmdir()
    file.parent.write_text("a file")


@pytest.mark.parametrize(
    ("happens", "reason"),
    [
        (made_a_folder, "is a folder now; move it away first"),
        (made_a_link, "is a link now; move it away first"),
        (made_a_pipe, "is a device, pipe or socket now; move it away first"),
        (moved_behind_a_link, "lies behind a link now: its folder is {folder}/moved"),
        (made_its_folder_a_file, "cannot be written: {folder}/sub is no folder"),
    ],
)
def test_what_stands_in_the_way_is_refused_in_any_case(
    desk: Desk, happens: Callable[[Path], None], reason: str
) -> None:
    file = desk.folder / "sub/f"
    file.parent.mkdir()
    file.write_text("old")
    desk.write("sub/f", "new")
    desk.write("fine", "new")
    happens(file)
    for overwrite in (False, True):
        with pytest.raises(RestoreRefused) as refusal:
            desk.restore(overwrite=overwrite)
        assert refusal.value.impossible == {str(file): reason.format(folder=desk.folder)}
        assert (desk.folder / "fine").read_text() == "new"


def test_bytes_that_were_not_kept_or_are_damaged_are_refused_before_anything_changes(desk: Desk) -> None:
    for name in ("large", "lost", "damaged", "fine"):
        (desk.folder / name).write_text(f"old {name}")
        desk.write(name, "new")
    large = desk.changes[0].before
    assert large is not None
    not_kept = FileState(large.sha256, large.mode, why_not_kept="it has 50,000,001 bytes")
    desk.changes[0] = FileChanging("c", desk.changes[0].path, not_kept, desk.changes[0].sha256, 0.0)
    ids = {content: artifact_id for artifact_id, content in desk.host.artifacts.items()}
    del desk.host.artifacts[ids[b"old lost"]]
    desk.host.artifacts[ids[b"old damaged"]] = b"old damagee"
    after = tree_of(desk.folder)
    with pytest.raises(RestoreRefused) as refusal:
        desk.restore(overwrite=True)
    reasons = {Path(path).name: reason for path, reason in refusal.value.impossible.items()}
    assert reasons == {
        "large": "was not kept: it has 50,000,001 bytes",
        "lost": "cannot be put back: the store has no artifact art2 any more",
        "damaged": "cannot be put back: artifact art3 does not hold what was kept",
    }
    assert tree_of(desk.folder) == after


@pytest.mark.parametrize("path", ["f", "../f", "/a/../f", "/a//f", "/a\0b", "/"])
def test_a_record_without_a_plain_absolute_path_is_refused(desk: Desk, path: str) -> None:
    desk.changes.append(FileChanging("c", path, None, "0" * 64, 0.0))
    with pytest.raises(RestoreRefused, match=r"is no plain absolute path|is a folder now"):
        desk.restore(overwrite=True)


def test_a_large_file_of_somebody_else_is_not_overwritten(desk: Desk) -> None:
    desk.write("f", "new")
    with (desk.folder / "f").open("wb") as file:
        file.truncate(50_000_001)
    with pytest.raises(RestoreRefused, match="has 50,000,001 bytes; up to 50,000,000 can be kept"):
        desk.restore(overwrite=True)
    assert (desk.folder / "f").stat().st_size == 50_000_001


def test_permission_bits_come_back_also_where_the_bytes_are_right(desk: Desk) -> None:
    file = desk.folder / "f"
    file.write_text("old")
    file.chmod(0o755)
    desk.write("f", "new")
    file.unlink()
    desk.write("f", "old")
    assert tree_of(desk.folder) == {"f": (0o644, b"old")}
    desk.restore()
    assert tree_of(desk.folder) == {"f": (0o755, b"old")}


def test_what_changes_after_the_plan_is_not_overwritten(desk: Desk) -> None:
    desk.write("f", "new")
    desk.write("g", "new")
    plan = desk.plan()
    (desk.folder / "g").write_text("theirs")
    with pytest.raises(RestoreRefused, match="g changed while putting it back was prepared"):
        desk.restore(plan=plan, overwrite=True)
    assert set(tree_of(desk.folder)) == {"f", "g"}


def test_a_thousand_files_come_back(desk: Desk) -> None:
    for number in range(1_000):
        (desk.folder / f"{number}").write_text(f"old {number}")
    before: Tree = tree_of(desk.folder)
    desk.write_all({f"{number}": f"new {number}" for number in range(1_000)})
    plan = desk.plan()
    assert {file.standing for file in plan.files} == {Standing.READY}
    assert len(desk.restore(plan=plan)) == 1_000
    assert tree_of(desk.folder) == before
