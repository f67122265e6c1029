"""Finding and reading AGENTS.md on a real disk."""

import os
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from actors.context import Diagnostic, InstructionFile, Scope, Snapshot
from actors.context.instruction_text import LIMIT_BYTES
from actors.context.source import home_directory, refresh_snapshot, take_snapshot

Look = Callable[..., Snapshot]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A git root as the walk sees one; git itself is not on the path here."""
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    return tmp_path / "repository"


@pytest.fixture
def look(real_backend: str, home: Path) -> Look:
    def take(cwd: Path) -> Snapshot:
        async def main() -> Snapshot:
            return await take_snapshot(cwd, environ={"HOME": str(home), "PATH": ""}, date="2027-01-15")

        return anyio.run(main, backend=real_backend)

    return take


def write(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def reasons(snapshot: Snapshot) -> list[str]:
    return [diagnostic.reason for diagnostic in snapshot.diagnostics]


def test_the_user_s_file_comes_first_then_the_nearest_of_the_workspace(
    look: Look, home: Path, repository: Path
) -> None:
    user = write(home / ".callboard" / "AGENTS.md", "user")
    write(repository / "AGENTS.md", "root")
    near = write(repository / "a" / "AGENTS.md", "near")
    (repository / "a" / "b").mkdir()
    assert look(repository / "a" / "b").instructions == (
        InstructionFile(str(user), Scope.USER, "user"),
        InstructionFile(str(near), Scope.WORKSPACE, "near"),
    )


def test_the_walk_reaches_the_git_root_and_ends_there(look: Look, repository: Path) -> None:
    write(repository.parent / "AGENTS.md", "outside")
    (repository / "a").mkdir()
    assert look(repository / "a").instructions == ()
    root = write(repository / "AGENTS.md", "root")
    assert [file.path for file in look(repository / "a").instructions] == [str(root)]


def test_outside_a_repository_the_walk_goes_on_upwards(look: Look, tmp_path: Path) -> None:
    top = write(tmp_path / "AGENTS.md", "top")
    (tmp_path / "a" / "b").mkdir(parents=True)
    assert [file.path for file in look(tmp_path / "a" / "b").instructions] == [str(top)]


def test_no_file_is_no_diagnostic(look: Look, repository: Path) -> None:
    seen = look(repository)
    assert (seen.instructions, seen.diagnostics) == ((), ())


def test_the_same_path_counts_once(look: Look, home: Path) -> None:
    write(home / ".callboard" / "AGENTS.md", "user")
    seen = look(home / "x" / ".." / ".callboard")
    assert [file.scope for file in seen.instructions] == [Scope.USER]


def test_exactly_the_limit_is_whole(look: Look, repository: Path) -> None:
    write(repository / "AGENTS.md", "a" * LIMIT_BYTES)
    (file,) = look(repository).instructions
    assert (len(file.text), file.is_cut) == (LIMIT_BYTES, False)


@pytest.mark.parametrize("character", ["b", "é", "…", "🜁"])
def test_one_byte_over_the_limit_cuts_between_characters(
    look: Look, repository: Path, character: str
) -> None:
    n_bytes = len(character.encode())
    write(repository / "AGENTS.md", "a" * (LIMIT_BYTES + 1 - n_bytes) + character)
    (file,) = look(repository).instructions
    assert file.is_cut
    assert file.text == "a" * (LIMIT_BYTES + 1 - n_bytes)


def test_a_huge_file_costs_its_beginning_only(look: Look, repository: Path) -> None:
    with write(repository / "AGENTS.md", "é" * LIMIT_BYTES).open("r+b") as file:
        file.truncate(1 << 40)  # a sparse terabyte
    (found,) = look(repository).instructions
    assert (len(found.text), found.is_cut) == (LIMIT_BYTES // 2, True)


def test_what_is_not_utf_8_is_a_diagnostic_that_names_the_byte(look: Look, repository: Path) -> None:
    path = write(repository / "AGENTS.md", b"caf\xe9")
    assert look(repository).diagnostics == (Diagnostic(str(path), "not UTF-8: byte 3 is 0xe9"),)


def test_a_byte_order_mark_is_no_text(look: Look, repository: Path) -> None:
    write(repository / "AGENTS.md", b"\xef\xbb\xbfhello")
    assert [file.text for file in look(repository).instructions] == ["hello"]


def test_a_directory_is_a_diagnostic_and_ends_the_walk(look: Look, repository: Path) -> None:
    write(repository / "AGENTS.md", "root")
    (repository / "a" / "AGENTS.md").mkdir(parents=True)
    seen = look(repository / "a")
    assert (seen.instructions, reasons(seen)) == ((), ["it is a directory"])


def test_a_link_to_nowhere_is_a_diagnostic(look: Look, repository: Path) -> None:
    (repository / "AGENTS.md").symlink_to(repository / "missing")
    assert reasons(look(repository)) == ["No such file or directory"]


def test_a_loop_of_links_is_a_diagnostic(look: Look, repository: Path) -> None:
    (repository / "AGENTS.md").symlink_to(repository / "other")
    (repository / "other").symlink_to(repository / "AGENTS.md")
    assert reasons(look(repository)) == ["Too many levels of symbolic links"]


def test_a_named_pipe_is_not_waited_for(look: Look, repository: Path) -> None:
    os.mkfifo(repository / "AGENTS.md")
    assert reasons(look(repository)) == ["it is no regular file"]


def test_an_endless_device_is_not_read(look: Look, repository: Path) -> None:
    (repository / "AGENTS.md").symlink_to("/dev/zero")
    assert reasons(look(repository)) == ["it is no regular file"]


@pytest.mark.skipif(os.getuid() == 0, reason="root may read everything")
def test_a_file_without_leave_is_a_diagnostic(look: Look, repository: Path) -> None:
    write(repository / "AGENTS.md", "secret").chmod(0)
    assert reasons(look(repository)) == ["Permission denied"]


def test_an_empty_file_is_a_diagnostic(look: Look, repository: Path) -> None:
    write(repository / "AGENTS.md", " \n")
    assert reasons(look(repository)) == ["it is empty"]


def test_an_undecodable_path_becomes_valid_text(look: Look, tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    write(folder / "AGENTS.md", "hello")
    seen = look(folder)
    assert seen.cwd.encode().endswith(rb"/caf\udce9")
    assert seen.instructions[0].path.encode().endswith(rb"/caf\udce9/AGENTS.md")


def test_the_home_directory_is_told_by_home_then_userprofile_then_the_system() -> None:
    assert home_directory({"HOME": "/a", "USERPROFILE": "/b"}) == Path("/a")
    assert home_directory({"HOME": "", "USERPROFILE": "/b"}) == Path("/b")
    told = home_directory({})
    assert told is not None
    assert told.is_absolute()


def test_a_machine_without_shell_says_so(look: Look, tmp_path: Path) -> None:
    seen = look(tmp_path)
    assert (seen.shell, seen.git, seen.is_git_repository) == (None, None, False)
    assert seen.local_date == "2027-01-15"


def test_a_missing_working_directory_is_no_error(look: Look, repository: Path) -> None:
    write(repository / "AGENTS.md", "root")
    assert [file.text for file in look(repository / "gone").instructions] == ["root"]


def test_a_cold_resume_reads_the_files_again(
    real_backend: str, look: Look, home: Path, repository: Path
) -> None:
    write(repository / "AGENTS.md", "old")
    stored = look(repository)
    write(repository / "AGENTS.md", "new")

    async def main() -> Snapshot:
        return await refresh_snapshot(stored, environ={"HOME": str(home)}, date="2027-01-16")

    resumed = anyio.run(main, backend=real_backend)
    assert [file.text for file in resumed.instructions] == ["new"]
    assert (resumed.local_date, resumed.git) == ("2027-01-16", stored.git)
