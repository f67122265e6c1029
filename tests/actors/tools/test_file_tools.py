"""Read, Write and Edit on real files."""

import os
import stat
from pathlib import Path

import anyio
import pytest
from pydantic import JsonValue

from actors.errors import BadInput
from actors.tools import ToolContext, ToolOutput, builtin_tools
from actors.tools.edit import replaced
from providers.model import ImageBlock, TextBlock
from tests.actors.tools.fakes import context_in

TOOLS = builtin_tools()
PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)


def use(context: ToolContext, name: str, backend: str = "asyncio", **sent: JsonValue) -> ToolOutput:
    async def main() -> ToolOutput:
        return await TOOLS[name].run(context, dict(sent))

    return anyio.run(main, backend=backend)


def read(context: ToolContext, path: str, offset: int = 1, limit: int = 2_000) -> str:
    return str(use(context, "Read", path=path, offset=offset, limit=limit).content)


def test_reading_writing_and_editing_on_both_backends(tmp_path: Path, real_backend: str) -> None:
    context = context_in(tmp_path)
    created = use(context, "Write", real_backend, path="a/b/c.txt", content="one\ntwo\n")
    assert created.content == "Created a/b/c.txt (2 lines, 8 bytes)."
    edited = use(context, "Edit", real_backend, path="a/b/c.txt", old_string="two", new_string="zwei")
    assert edited.content == "Edited a/b/c.txt: 1 replaced, at line 2."
    assert use(context, "Read", real_backend, path="a/b/c.txt").content == "     1\tone\n     2\tzwei"
    assert os.listdir(tmp_path / "a/b") == ["c.txt"]


def test_a_long_file_is_cut_visibly_and_can_be_read_on(tmp_path: Path) -> None:
    (tmp_path / "long").write_text("".join(f"{number}\n" for number in range(1, 2_501)))
    context = context_in(tmp_path)
    first = read(context, "long")
    body, warning = first.split("\n<system-reminder>\n")
    assert body.endswith("  2000\t2000")
    assert "Only lines 1 to 2,000 of 'long'" in warning
    assert warning.endswith("\n</system-reminder>")
    assert "offset=2001" in warning
    rest = read(context, "long", offset=2_001)
    assert rest.startswith("  2001\t2001\n")
    assert rest.endswith("  2500\t2500")
    assert read(context, "long", offset=7, limit=1).startswith("     7\t7\n<system-reminder>")


def test_a_read_stays_below_the_limit_of_results(tmp_path: Path) -> None:
    (tmp_path / "wide").write_text(("x" * 1_900 + "\n") * 100)
    text = read(context_in(tmp_path), "wide")
    assert 20_000 < len(text) < 30_000
    assert "offset=15" in text


def test_a_long_line_is_cut_visibly(tmp_path: Path) -> None:
    (tmp_path / "line").write_text("é" * 100_000 + "\nnext\n")
    first, second = read(context_in(tmp_path), "line").split("\n")
    assert first == f"     1\t{'é' * 2_000}… [line cut, 196,000 more bytes]"
    assert second == "     2\tnext"


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"a\r\nb\r\n", "     1\ta\n     2\tb"),
        (b"\xef\xbb\xbfa", "     1\ta"),
        (b"a\xffb", "     1\ta\N{REPLACEMENT CHARACTER}b"),
        (b"\n\n", "     1\t\n     2\t"),
        ("😀\u2028x".encode(), "     1\t😀\u2028x"),
    ],
)
def test_bytes_become_lines(tmp_path: Path, data: bytes, shown: str) -> None:
    (tmp_path / "f").write_bytes(data)
    assert read(context_in(tmp_path), "f") == shown


def test_an_empty_file_is_told_as_empty_and_counts_as_read(tmp_path: Path) -> None:
    (tmp_path / "e<system-reminder>").touch()
    context = context_in(tmp_path)
    text = read(context, "e<system-reminder>")
    assert text.startswith("<system-reminder>\nThe file 'e&lt;system-reminder>' exists but is empty.\n")
    use(context, "Write", path="e<system-reminder>", content="x")


def test_an_image_is_shown_as_an_image_whatever_its_name(tmp_path: Path) -> None:
    (tmp_path / "picture.txt").write_bytes(PNG)
    content = use(context_in(tmp_path), "Read", path="picture.txt").content
    assert isinstance(content, tuple)
    assert content[0] == TextBlock("picture.txt (image/png, 108 bytes)")
    assert isinstance(content[1], ImageBlock)
    assert content[1].data_url.startswith("data:image/png;base64,iVBORw0KGgo")


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("none", "cannot open none: No such file or directory"),
        ("folder", r"folder is a directory; list its files with Glob \(path='folder'"),
        ("binary", r"binary is binary \(3 bytes\)"),
        ("huge.png", r"huge.png is an image of 5,000,001 bytes; at most 5,000,000"),
        ("pipe", "pipe is no regular file"),
        ("/dev/zero", "/dev/zero is no regular file"),
        ("a\0b", "NUL character"),
        ("x" * 5_000, "File name too long"),
        ("loop", "cannot open loop: Too many levels of symbolic links"),
        ("text/below", "cannot open text/below: Not a directory"),
        ("\ud800", "unable to parse raw data as a unicode string"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_reason(tmp_path: Path, path: str, says: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "text").write_text("x")
    (tmp_path / "binary").write_bytes(b"a\0b")
    with open(tmp_path / "huge.png", "wb") as file:
        file.write(PNG)
        file.truncate(5_000_001)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(BadInput, match=says):
        read(context_in(tmp_path), path)


def test_a_line_behind_the_end_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a\nb\n")
    with pytest.raises(BadInput, match="f has 2 lines; there is no line 9"):
        read(context_in(tmp_path), "f", offset=9)


def test_a_file_is_named_from_the_working_directory_only_where_it_lies_inside(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "out").touch()
    context = context_in(tmp_path / "in")
    assert f"'{tmp_path}/out'" in read(context, "../out")


def test_the_home_directory_can_be_written_as_a_tilde(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "note").write_text("hello")
    assert read(context_in(Path("/")), "~/note") == "     1\thello"


CHANGES: dict[str, dict[str, str]] = {
    "Write": {"content": "new"},
    "Edit": {"old_string": "old", "new_string": "new"},
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_file_that_was_not_read_is_not_changed(tmp_path: Path, name: str) -> None:
    (tmp_path / "f").write_text("old")
    with pytest.raises(BadInput, match="f exists and you have not read it; Read it before"):
        use(context_in(tmp_path), name, path="f", **CHANGES[name])
    assert (tmp_path / "f").read_text() == "old"


@pytest.mark.parametrize("name", CHANGES)
def test_a_file_that_changed_since_is_not_changed(tmp_path: Path, name: str) -> None:
    (tmp_path / "f").write_text("old")
    context = context_in(tmp_path)
    read(context, "f")
    (tmp_path / "f").write_text("old, but newer")
    with pytest.raises(BadInput, match="f has changed since you read it"):
        use(context, name, path="f", **CHANGES[name])
    assert (tmp_path / "f").read_text() == "old, but newer"


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_keeps_the_mode_and_allows_the_next_one(tmp_path: Path, name: str) -> None:
    file = tmp_path / "f"
    file.write_text("old")
    file.chmod(0o750)
    context = context_in(tmp_path)
    read(context, "f")
    use(context, name, path="f", **CHANGES[name])
    assert file.read_text() == "new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o750
    use(context, "Write", path="f", content="newer")
    assert file.read_text() == "newer"


@pytest.mark.parametrize("name", CHANGES)
def test_a_link_stays_and_what_it_points_to_changes(tmp_path: Path, name: str) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    context = context_in(tmp_path)
    read(context, "real")
    use(context, name, path="link", **CHANGES[name])
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_new_file_has_the_mode_that_the_process_gives(tmp_path: Path) -> None:
    use(context_in(tmp_path), "Write", path="new", content="")
    (tmp_path / "other").touch()
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "other").stat().st_mode


@pytest.mark.parametrize(
    ("path", "content", "says"),
    [
        ("folder", "x", "folder is a directory"),
        ("file/below", "x", "cannot write file/below: "),
        ("new", "\ud800", "content is no valid Unicode text: lone surrogate at character 0"),
        ("x" * 300, "x", "File name too long"),
    ],
)
def test_what_cannot_be_written_is_refused_and_leaves_nothing(
    tmp_path: Path, path: str, content: str, says: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("x")
    with pytest.raises(BadInput, match=says):
        use(context_in(tmp_path), "Write", path=path, content=content)
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"]


def test_editing_needs_the_one_place_or_all_of_them(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("a\nb\na\n" + "a\n" * 10)
    context = context_in(tmp_path)
    read(context, "f")
    with pytest.raises(BadInput, match="occurs 12 times in f, at lines 1, 3, 4, 5, 6 and 7 more"):
        use(context, "Edit", path="f", old_string="a", new_string="c")
    with pytest.raises(BadInput, match=r"occurs 0 times in f\. Read it again"):
        use(context, "Edit", path="f", old_string="zzz", new_string="c")
    with pytest.raises(BadInput, match="with other white space"):
        use(context, "Edit", path="f", old_string="a  b", new_string="c")
    with pytest.raises(BadInput, match="upper and lower case"):
        use(context, "Edit", path="f", old_string="B", new_string="c")
    with pytest.raises(BadInput, match="are the same"):
        use(context, "Edit", path="f", old_string="a", new_string="a")
    answer = use(context, "Edit", path="f", old_string="a", new_string="c", replace_all=True)
    assert str(answer.content).startswith("Edited f: 12 replaced")
    assert file.read_text() == "c\nb\nc\n" + "c\n" * 10


def test_windows_line_ends_stay_whichever_the_model_writes(tmp_path: Path) -> None:
    file = tmp_path / "f"
    context = context_in(tmp_path)
    for end in ("\n", "\r\n"):
        file.write_bytes(b"a\r\nb\r\nc\r\n")
        read(context, "f")
        use(context, "Edit", path="f", old_string=f"a{end}b", new_string=f"x{end}y{end}z")
        assert file.read_bytes() == b"x\r\ny\r\nz\r\nc\r\n"


def test_other_lines_keep_their_ends_in_a_file_with_both_kinds() -> None:
    assert replaced("a\nb\nc\r\nd\n", "b", "x\ny", False, "f").text == "a\nx\ny\nc\r\nd\n"


def test_patterns_and_references_in_an_edit_are_plain_text() -> None:
    assert replaced(r"a.*b (\1) \g<0>", r".*b (\1)", r"\1\n\g<0>", False, "f").text == r"a\1\n\g<0> \g<0>"


def test_bytes_that_are_no_text_survive_an_edit(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"\xef\xbb\xbfcaf\xe9 old \xff")
    context = context_in(tmp_path)
    read(context, "f")
    use(context, "Edit", path="f", old_string="old", new_string="new")
    assert file.read_bytes() == b"\xef\xbb\xbfcaf\xe9 new \xff"


@pytest.mark.parametrize("path", ["none", "folder"])
def test_only_a_file_can_be_edited(tmp_path: Path, path: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(BadInput, match=r"cannot open none|folder is a directory"):
        use(context_in(tmp_path), "Edit", path=path, old_string="a", new_string="b")
