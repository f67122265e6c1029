"""What Write and Edit keep before they change a file, and in which order."""

import hashlib
import os
import resource
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from actors.errors import ActorError, BadInput, LogFailed
from actors.records import FileState
from actors.tools.files import stamp_of
from tests.actors.tools.watched import CHANGES, Watched, context_of, use


@pytest.mark.parametrize("name", CHANGES)
def test_the_old_bytes_are_kept_then_recorded_and_only_then_replaced(
    tmp_path: Path, name: str, real_backend: str
) -> None:
    file, host = tmp_path / "f", Watched()
    file.write_bytes(b"old \xff")
    file.chmod(0o751)
    context = context_of(host, file)
    use(context, name, real_backend, path="f", **CHANGES[name])
    assert host.steps == [("kept", "old \xff"), ("recorded", "old \xff")]
    written = file.read_bytes()
    assert written.startswith(b"new")
    [change] = host.changes
    assert change.before == FileState(hashlib.sha256(b"old \xff").hexdigest(), 0o751, "art1")
    assert host.artifacts == {"art1": b"old \xff"}
    assert (change.call_id, change.path) == ("call_1", str(file))
    assert change.sha256 == hashlib.sha256(written).hexdigest()
    assert stat.S_IMODE(file.stat().st_mode) == 0o751


def test_a_new_file_is_recorded_with_the_folders_that_it_needs(tmp_path: Path) -> None:
    host = Watched()
    (tmp_path / "there").mkdir()
    context = context_of(host, tmp_path / "f")
    use(context, "Write", path="there/a/b/f", content="x")
    use(context, "Write", path="there/a/g", content="x")
    first, second = host.changes
    assert first.before is None
    assert first.made_folders == (f"{tmp_path}/there/a", f"{tmp_path}/there/a/b")
    assert second.made_folders == ()
    assert host.artifacts == {}


@pytest.mark.parametrize("name", CHANGES)
def test_a_link_is_recorded_as_the_file_that_it_leads_to(tmp_path: Path, name: str) -> None:
    host = Watched()
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    context = context_of(host, tmp_path / "link")
    use(context, name, path="link", **CHANGES[name])
    assert [change.path for change in host.changes] == [str(tmp_path / "real")]


@pytest.mark.parametrize("name", CHANGES)
def test_a_store_that_takes_nothing_leaves_the_file_and_says_why(tmp_path: Path, name: str) -> None:
    file, host = tmp_path / "f", Watched(is_store_full=True)
    file.write_text("old")
    context = context_of(host, file)
    with pytest.raises(ActorError, match=r"f was not changed, because .* the disk is full"):
        use(context, name, path="f", **CHANGES[name])
    assert (file.read_text(), host.changes) == ("old", [])
    assert os.listdir(tmp_path) == ["f"]


@pytest.mark.parametrize(
    ("path", "says"),
    [("f/below", "Not a directory"), ("folder", "is a directory"), ("x" * 300, "name too long")],
)
def test_what_cannot_be_written_is_not_recorded(tmp_path: Path, path: str, says: str) -> None:
    host = Watched()
    (tmp_path / "f").write_text("old")
    (tmp_path / "f").chmod(0o755)
    (tmp_path / "folder").mkdir()
    with pytest.raises(BadInput, match=says):
        use(context_of(host, tmp_path / "f"), "Write", path=path, content="new")
    assert host.steps == []


@pytest.mark.parametrize("path", ["f", "folder/new"])
def test_a_log_that_takes_nothing_leaves_the_file(tmp_path: Path, path: str) -> None:
    file, host = tmp_path / "f", Watched(is_log_full=True)
    file.write_text("old")
    with pytest.raises(LogFailed, match="the disk is full"):
        use(context_of(host, file), "Write", path=path, content="new")
    assert file.read_text() == "old"
    assert os.listdir(tmp_path) == ["f"]


def test_a_file_that_is_too_large_to_keep_is_replaced_and_recorded_as_not_kept(tmp_path: Path) -> None:
    file, host = tmp_path / "f", Watched()
    with file.open("wb") as empty:
        empty.truncate(50_000_001)
    context = context_of(host, tmp_path / "elsewhere")
    context.files_read[file] = stamp_of(file.stat())
    use(context, "Write", path="f", content="new")
    before = host.changes[0].before
    assert before is not None
    assert before.artifact_id is None
    assert before.why_not_kept == "it has 50,000,001 bytes; up to 50,000,000 are kept"
    assert before.sha256 == hashlib.sha256(bytes(50_000_001)).hexdigest()
    assert (file.read_text(), host.artifacts) == ("new", {})


def test_the_same_content_again_changes_and_records_nothing(tmp_path: Path) -> None:
    file, host = tmp_path / "f", Watched()
    file.write_bytes(b"old\r\nnext\r\n")
    context = context_of(host, file)
    before = file.stat()
    written = use(context, "Write", path="f", content="old\r\nnext\r\n")
    assert written == "f has exactly this content already; nothing was changed."
    edited = use(context, "Edit", path="f", old_string="old\nnext", new_string="old\r\nnext")
    assert edited == "f has the new text already, at line 1; nothing was changed."
    now = file.stat()
    assert (now.st_mtime_ns, now.st_ino) == (before.st_mtime_ns, before.st_ino)
    assert host.steps == []


@contextmanager
def files_of_at_most(n_bytes: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_write_that_fails_in_the_middle_leaves_no_folders(tmp_path: Path) -> None:
    host = Watched()
    context = context_of(host, tmp_path / "f")
    with files_of_at_most(1_000), pytest.raises(BadInput, match="cannot write a/b/f: File too large"):
        use(context, "Write", path="a/b/f", content="x" * 2_000)
    assert os.listdir(tmp_path) == []
