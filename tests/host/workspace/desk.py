"""A folder in which agents write, with everything that they recorded, and the way back."""

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from actors.records import FileChanging, FileRestored
from actors.tools import ToolContext, builtin_tools
from actors.tools.files import stamp_of
from host.workspace import RestorePlan, carry_out, plan_restore
from tests.actors.tools.fakes import FakeHost, context_in

TOOLS = builtin_tools()

Tree = dict[str, tuple[int, bytes | None]]
"""Mode and bytes of every path; None for a folder, and for a link what it points to."""


def tree_of(folder: Path) -> Tree:
    tree: Tree = {}
    for path in sorted(folder.rglob("*")):
        mode = stat.S_IMODE(path.lstat().st_mode)
        tree[str(path.relative_to(folder))] = (mode, _content(path))
    return tree


def _content(path: Path) -> bytes | None:
    if path.is_symlink():
        return os.fsencode(path.readlink())
    return None if path.is_dir() else path.read_bytes()


@dataclass
class Desk:
    """`changes` are the records of all agents, in order."""

    folder: Path
    backend: str = "asyncio"
    host: FakeHost = field(default_factory=FakeHost)
    changes: list[FileChanging] = field(default_factory=list)

    def write(self, path: str, content: str, agent: str = "main") -> None:
        """Reads the file if there is one, and writes it."""
        self.write_all({path: content}, agent)

    def write_all(self, contents: dict[str, str], agent: str = "main") -> None:
        async def main() -> None:
            for path, content in contents.items():
                await self._use(agent, "Write", path, content=content)

        anyio.run(main, backend=self.backend)

    def edit(self, path: str, old: str, new: str, agent: str = "main") -> None:
        async def main() -> None:
            await self._use(agent, "Edit", path, old_string=old, new_string=new, replace_all=True)

        anyio.run(main, backend=self.backend)

    def plan(self, since: int = 0) -> RestorePlan:
        return anyio.run(plan_restore, self.changes[since:], self.host, backend=self.backend)

    def restore(
        self, since: int = 0, *, plan: RestorePlan | None = None, overwrite: bool = False
    ) -> tuple[FileRestored, ...]:
        async def main() -> tuple[FileRestored, ...]:
            ready = plan or await plan_restore(self.changes[since:], self.host)
            return await carry_out(ready, self.host, overwrite=overwrite)

        return anyio.run(main, backend=self.backend)

    async def _use(self, agent: str, tool: str, path: str, **sent: str | bool) -> None:
        context = context_in(self.folder, self.host)
        context.agent_id = agent
        context.record_change = self.record
        see(context, self.folder / path)
        await TOOLS[tool].run(context, {"path": path, **sent})

    async def record(self, change: FileChanging) -> None:
        self.changes.append(change)


def see(context: ToolContext, file: Path) -> None:
    if file.exists():
        context.files_read[Path(os.path.realpath(file))] = stamp_of(file.stat())
