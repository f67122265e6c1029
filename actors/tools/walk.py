"""The files below a folder, without what git ignores and without following links to folders."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec

MAX_ENTRIES = 500_000


@dataclass(frozen=True, slots=True)
class _Rules:
    """The ignore rules written in one folder."""

    folder: str
    spec: GitIgnoreSpec

    def ignores(self, path: str, is_folder: bool) -> bool | None:
        """True or False where a rule speaks of the path, None where none does."""
        name = inside(self.folder, path)
        return self.spec.check_file(f"{name}/" if is_folder else name).include


def inside(folder: str, path: str) -> str:
    """The path of something below a folder as seen from there."""
    return path[len(folder.rstrip("/")) + 1 :]


def files_below(root: Path, checkpoint: Callable[[], None] = lambda: None) -> Iterator[os.DirEntry[str]]:
    """Every file that git would not ignore, in the order of their names; what cannot be listed is left out.

    `.git` itself is never entered, nor is a link to a folder, so that no loop
    can catch us. A folder that is asked for by name is listed even if ignored.
    `checkpoint` is called once for every folder and may raise.
    """
    rules = _rules_above(root)
    if _is_ignored(str(root), True, rules):
        rules = ()
    pending = [(str(root), rules)]
    while pending:
        checkpoint()
        folder, rules = pending.pop()
        rules = (*rules, *_rules_in(folder))
        folders: list[str] = []
        for entry in _entries(folder):
            is_folder = entry.is_dir(follow_symlinks=False)
            if entry.name == ".git" or _is_ignored(entry.path, is_folder, rules):
                continue
            if is_folder:
                folders.append(entry.path)
            elif _is_file(entry):
                yield entry
        pending.extend((path, rules) for path in reversed(folders))


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:  # gone, or not ours to read: as if it were empty
        return []


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:  # a link in a loop
        return False


def _is_ignored(path: str, is_folder: bool, rules: tuple[_Rules, ...]) -> bool:
    for each in reversed(rules):
        verdict = each.ignores(path, is_folder)
        if verdict is not None:
            return verdict
    return False


def _rules_above(root: Path) -> tuple[_Rules, ...]:
    """The rules that hold for a folder from those above it, up to the root of its repository."""
    above: list[_Rules] = []
    for folder in (root, *root.parents):
        if folder != root:
            above[:0] = _rules_in(str(folder))
        if (folder / ".git").exists():
            exclude = _rules(str(folder), folder / ".git" / "info" / "exclude")
            return (*exclude, *above)
    return ()


def _rules_in(folder: str) -> tuple[_Rules, ...]:
    return _rules(folder, Path(folder, ".gitignore"))


def _rules(folder: str, file: Path) -> tuple[_Rules, ...]:
    try:
        text = file.read_text("utf-8", "replace")
    except OSError:
        return ()
    try:
        return (_Rules(folder, GitIgnoreSpec.from_lines(text.splitlines())),)
    except ValueError:
        return (_Rules(folder, _valid_lines(text)),)


def _valid_lines(text: str) -> GitIgnoreSpec:
    """Line by line, as git does it: a line that means nothing is passed over."""
    valid: list[str] = []
    for line in text.splitlines():
        try:
            GitIgnoreSpec.from_lines([line])
        except ValueError:
            continue
        valid.append(line)
    return GitIgnoreSpec.from_lines(valid)
