"""The pure modules are pure, and the two guards beside this one look at the same files.

The pattern of pure files and the names they may not use stand once, in pyproject.toml.
"""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.purity import impurities

ROOT = Path(__file__).parents[1]
TOOLS: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
LINT = TOOLS["ruff"]["lint"]
BANNED = frozenset(LINT["flake8-tidy-imports"]["banned-api"])
CONTRACT = next(c for c in TOOLS["importlinter"]["contracts"] if c["name"] == "pure modules do no IO")


def alternatives(pattern: str) -> list[str]:
    """A pattern with `{a,b}` as the patterns it stands for, inner braces too."""
    depth, start = 0, 0
    for index, character in enumerate(pattern):
        if character == "{":
            depth += 1
            start = index if depth == 1 else start
        elif character == "}":
            depth -= 1
            if depth == 0:
                head, body, tail = pattern[:start], pattern[start + 1 : index], pattern[index + 1 :]
                return [way for part in _split(body) for way in alternatives(head + part + tail)]
    return [pattern]


def _split(body: str) -> list[str]:
    parts, depth = [""], 0
    for character in body:
        depth += (character == "{") - (character == "}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def pure_files() -> list[Path]:
    ignores: dict[str, list[str]] = LINT["per-file-ignores"]
    pattern = next(p for p in ignores if p.startswith("!"))
    globs = [g.replace("/**", "/**/*.py") if g.endswith("/**") else g for g in alternatives(pattern[1:])]
    found = {path for glob in globs for path in ROOT.glob(glob) if path.suffix == ".py"}
    return sorted(found - {ROOT / p for p in ignores if not p.startswith("!")})


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def is_covered(module: str) -> bool:
    """Whether the contract names this module or a package above it; `*` is one part of a name."""
    parts = module.split(".")
    return any(
        all(want in ("*", got) for want, got in zip(wanted, parts, strict=False))
        for wanted in (source.split(".") for source in CONTRACT["source_modules"])
        if len(wanted) <= len(parts)
    )


@pytest.mark.parametrize("path", pure_files(), ids=module_name)
def test_a_pure_module_reads_no_clock_draws_no_numbers_and_opens_nothing(path: Path) -> None:
    found = impurities(path.read_text("utf-8"), BANNED)
    assert not found, "\n".join(f"{path.relative_to(ROOT)}:{f.line}: {f.what}" for f in found)


def test_there_are_pure_modules() -> None:
    assert ROOT / "providers/model/messages.py" in pure_files()
    assert ROOT / "actors/history.py" in pure_files()


def test_the_import_contract_names_every_pure_module() -> None:
    missing = [module_name(path) for path in pure_files() if not is_covered(module_name(path))]
    assert not missing, f"add to source_modules of the contract {CONTRACT['name']!r}: {missing}"


def test_the_import_contract_forbids_every_banned_module() -> None:
    assert sorted(CONTRACT["forbidden_modules"]) == sorted(name for name in BANNED if "." not in name)


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("import time\nx = 1", "import time"),
        ("import os.path", "import os.path"),
        ("from random import random", "from random import random"),
        ("def late():\n    from uuid import uuid4\n    return uuid4()", "from uuid import uuid4"),
        ("import urllib.request", "import urllib.request"),
        ("from urllib import request", "from urllib import request"),
        ("import datetime\nt = datetime.datetime.now(datetime.UTC)", ".now()"),
        ("from datetime import date\nd = date.today()", ".today()"),
        ("text = open('a').read()", "open()"),
        ("def f(path):\n    return path.read_text()", ".read_text()"),
        ("def f():\n    print('x')", "print()"),
        ("async def f():\n    pass", "async"),
    ],
)
def test_an_impure_sample_is_found(source: str, what: str) -> None:
    assert what in [found.what for found in impurities(source, BANNED)]


def test_a_pure_sample_is_left_alone() -> None:
    source = (
        "from urllib.parse import quote\nfrom datetime import datetime\n"
        "def at(text): return datetime.fromisoformat(quote(text))\n"
    )
    assert impurities(source, BANNED) == ()


def test_nested_alternatives_are_spelled_out() -> None:
    assert alternatives("{a/{b,c}.py,d/**}") == ["a/b.py", "a/c.py", "d/**"]
