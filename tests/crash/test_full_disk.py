"""A disk that fills up under a whole host: typed errors, and what was acknowledged is there afterwards."""

import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest

from actors.agent import Agent
from actors.envelope import EnvelopeId
from actors.errors import ActorError
from actors.ports import SpawnOrder
from actors.records import TurnEnded, TurnId
from host.errors import HostError, StoreUnavailable
from host.host import Host
from host.session import Session
from host.store.sqlite import SqliteStore
from providers.scripted import ScriptedProvider, always
from tests.crash.cast import LifeIds
from tests.disks import disk_of
from tests.host.hosts import scripted_host
from tests.host.judging import envelopes, faults, records_of

LONG = "x" * 20_000
PATIENCE_S = 30.0


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 16 megabytes."""
    with disk_of(16, tmp_path / "small") as folder:
        yield folder


@dataclass
class Callers:
    """Each goes on until it hears of an error, which must be one of ours."""

    accepted: set[EnvelopeId] = field(default_factory=set)
    ended: set[TurnId] = field(default_factory=set)
    spawned: set[str] = field(default_factory=set)
    heard: list[str] = field(default_factory=list)

    async def ask(self, session: Session) -> None:
        while True:
            receipt = await session.post(LONG)
            await receipt.accepted()
            self.accepted.add(receipt.envelope.id)
            self.ended.add((await receipt.answered()).turn_id)

    async def tell(self, session: Session) -> None:
        while True:
            self.accepted.add((await session.tell(LONG)).envelope.id)
            await anyio.sleep(0.001)

    async def stream(self, session: Session) -> None:
        while True:
            async for _ in session.stream(LONG):
                pass

    async def spawn(self, host: Host, session: Session) -> None:
        while True:
            order = SpawnOrder("a task", LONG, is_background=True)
            self.spawned.add((await host.spawn(session, order)).agent_id)

    async def until_an_error(self, host: Host, session: Session, name: str) -> None:
        deeds = {"ask": self.ask, "tell": self.tell, "stream": self.stream}
        try:
            await (self.spawn(host, session) if name == "spawn" else deeds[name](session))
        except (ActorError, HostError) as error:
            self.heard.append(f"{name}: {type(error).__name__}")


def test_everybody_hears_of_a_full_disk_and_what_was_acknowledged_is_there_again(
    small_disk: Path, real_backend: str
) -> None:
    path, ballast = small_disk / "store.db", small_disk / "ballast"
    callers = Callers()
    names = ("ask", "tell", "stream", "spawn")

    async def fill() -> None:
        host = scripted_host(
            ScriptedProvider(always("Fine.")), store=SqliteStore(path, durability="normal"), ids=LifeIds(0)
        )
        with anyio.fail_after(PATIENCE_S):
            async with host:
                for name in names:
                    await host.start(Agent(name))
                ballast.write_bytes(b"x" * 14_000_000)
                async with anyio.create_task_group() as people:
                    for session in host.agents():
                        people.start_soon(callers.until_an_error, host, session, str(session.name))

    async def go_on() -> None:
        store = SqliteStore(path)
        async with scripted_host(ScriptedProvider(always("Fine.")), store=store, ids=LifeIds(1)) as host:
            rows = await store.agents()
            for row in rows:
                if row.parent_id is None:
                    assert await (await host.resume(row.agent_id)).ask("And now?") == "Fine."
        async with store:
            logs = {row.agent_id: await records_of(store, row.agent_id) for row in rows}
        assert callers.accepted <= {e.id for log in logs.values() for e in envelopes(log)}
        assert callers.spawned <= {str(agent_id) for agent_id in logs}
        ends = {r.turn_id for log in logs.values() for r in log if isinstance(r, TurnEnded)}
        assert callers.ended <= ends
        assert not [fault for log in logs.values() for fault in faults(log) if "turn failed" not in fault]

    anyio.run(fill, backend=real_backend)
    assert Counter(heard.split(":")[0] for heard in callers.heard) == Counter(names)
    assert callers.accepted
    ballast.unlink()
    anyio.run(go_on, backend=real_backend)


def test_a_host_on_a_read_only_disk_says_so_before_anything_starts(
    small_disk: Path, real_backend: str
) -> None:
    path = small_disk / "store.db"

    async def live() -> None:
        async with scripted_host(ScriptedProvider(always("Fine.")), store=SqliteStore(path)) as host:
            await (await host.start(Agent("main"))).ask("Hello?")

    anyio.run(live, backend=real_backend)
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    with pytest.raises(StoreUnavailable, match=str(path)):
        anyio.run(live, backend=real_backend)
