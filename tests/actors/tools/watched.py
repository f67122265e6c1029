"""A host that tells in which order a tool stored things and touched its file."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import anyio
from pydantic import JsonValue

from actors.errors import LogFailed
from actors.records import FileChanging
from actors.tools import ToolContext, builtin_tools
from actors.tools.files import stamp_of
from host.errors import StoreUnavailable
from tests.actors.tools.fakes import FakeHost, context_in

TOOLS = builtin_tools()
CHANGES: dict[str, dict[str, str]] = {
    "Write": {"content": "new"},
    "Edit": {"old_string": "old", "new_string": "new"},
}


@dataclass
class Watched(FakeHost):
    """A host that tells what stood in the file when something was stored; `then` runs after each record."""

    file: Path = Path("/nowhere")
    steps: list[tuple[str, str | None]] = field(default_factory=list)
    changes: list[FileChanging] = field(default_factory=list)
    then: Callable[[], None] = lambda: None
    is_store_full: bool = False
    is_log_full: bool = False

    def note(self, step: str) -> None:
        self.steps.append((step, self.file.read_text("latin-1") if self.file.exists() else None))

    async def put(self, data: bytes) -> str:
        if self.is_store_full:
            raise StoreUnavailable("the store at /store.db takes nothing: the disk is full")
        self.note("kept")
        return await super().put(data)

    async def record(self, change: FileChanging) -> None:
        if self.is_log_full:
            raise LogFailed("the store did not take a record: the disk is full")
        self.note("recorded")
        self.changes.append(change)
        self.then()


def context_of(host: Watched, file: Path) -> ToolContext:
    """An agent that has read the file, if there is one."""
    context = context_in(file.parent, host)
    context.record_change = host.record
    host.file = file
    if file.exists():
        context.files_read[Path(os.path.realpath(file))] = stamp_of(file.stat())
    return context


def use(context: ToolContext, name: str, backend: str = "asyncio", **sent: JsonValue) -> str:
    async def main() -> str:
        return str((await TOOLS[name].run(context, dict(sent))).content)

    return anyio.run(main, backend=backend)
