"""The pages that the demonstration reads."""

from dataclasses import dataclass
from pathlib import Path

from actors.errors import BadInput

FOLDER = "docs"
MAX_PAGES = 8
EXCERPT_CHARACTERS = 900


@dataclass(frozen=True, slots=True)
class Page:
    """The beginning of a file; `name` is its path from the root."""

    name: str
    excerpt: str


def demo_root() -> Path:
    """The folder whose `docs/` is read: that of the repository, else the working directory.

    Raises:
        BadInput: neither has pages.
    """
    checkout = Path(__file__).resolve().parents[2]
    for root in (checkout, Path.cwd()):
        if _files(root):
            return root
    raise BadInput(
        f"the demo reads pages (docs/*.md), and there are none below {checkout} and {Path.cwd()}; "
        "run it in a checkout of the repository"
    )


def pages_of(root: Path) -> tuple[Page, ...]:
    """The first pages of `docs/`, by name.

    Raises:
        BadInput: there are none, or one cannot be read.
    """
    files = _files(root)[:MAX_PAGES]
    if not files:
        raise BadInput(f"the demo reads pages, and there are none: {root / FOLDER / '*.md'}")
    return tuple(Page(f"{FOLDER}/{file.name}", _beginning(file)) for file in files)


def _files(root: Path) -> list[Path]:
    return sorted(file for file in (root / FOLDER).glob("*.md") if file.is_file())


def _beginning(file: Path) -> str:
    try:
        with file.open(encoding="utf-8", errors="replace") as opened:
            text = opened.read(EXCERPT_CHARACTERS + 1)
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror}") from error
    if len(text) <= EXCERPT_CHARACTERS:
        return text
    # Half a heading is no heading: only whole lines, where there are any.
    whole, _, _ = text[:EXCERPT_CHARACTERS].rpartition("\n")
    return whole or text[:EXCERPT_CHARACTERS]
