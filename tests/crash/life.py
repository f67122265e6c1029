"""One life of a host on a store that others have lived on: until it is killed, or until all rests."""

import contextlib
import random
import time
import traceback
from dataclasses import dataclass
from pathlib import Path

import anyio

from actors.address import AgentId
from actors.agent import Agent
from actors.errors import ActorError
from actors.events import AgentChanged, WarningRaised
from actors.records import AgentRole, AgentState, Record, TurnStop
from actors.state import folded
from host.config import Config
from host.host import Host
from host.hub import Subscription
from host.limits import SpawnLimits
from host.session import Session
from host.store.schema import Durability
from host.store.sqlite import SqliteStore
from providers.scripted import ScriptedProvider
from tests.crash.cast import LifeIds, SlowPerson, TellingCast, Tools
from tests.crash.saying import Sayings
from tests.crash.telling_store import TellingStore
from tests.crash.told import Noted, Stored, Submitted, Teller
from tests.host.hosts import scripted_host
from tests.host.judging import is_expected, is_expected_warning, records_of
from tests.host.programs import NAMES, is_root

PACE = 0.0001
N_PEOPLE = 3
REST_WITHIN_S = 20.0
STILL_FOR_S = 0.03


@dataclass(frozen=True, slots=True)
class Plan:
    """What makes a life the same when it is lived again, but for its timing."""

    seed: int
    backend: str
    durability: Durability
    folder: Path

    @property
    def store(self) -> Path:
        return self.folder / "store.db"

    @property
    def files(self) -> Path:
        return self.folder / "files"

    @property
    def told(self) -> Path:
        return self.folder / "told"


@dataclass(frozen=True, slots=True)
class SlowClock:
    """Asked for the time within each commit, it takes its time: so a kill often comes into one."""

    takes_s: float

    def now_s(self) -> float:
        time.sleep(self.takes_s)
        return time.time()


class Life:
    """The process's part: opens the host, brings back what there is, and lets the cast play."""

    def __init__(self, plan: Plan, number: int, tools: Tools, *, is_last: bool) -> None:
        self._teller = Teller(plan.told)
        self._tools = tools
        tools.begin(self._teller, number)
        self._number = number
        self._is_last = is_last
        self._sayings = Sayings()
        dice = random.Random(f"{plan.seed} {number}")
        self._cast = TellingCast(
            dice=dice,
            pace=PACE,
            ids=LifeIds(number),
            is_resting=is_last,
            teller=self._teller,
            life=number,
            folder=plan.files,
        )
        clock = SlowClock(dice.choice((0.0, 0.0, 0.001, 0.005)))
        sqlite = SqliteStore(plan.store, durability=plan.durability, now_s=clock.now_s)
        self._store = TellingStore(sqlite, self._submitting, self._answered)
        config = Config(store="unused", spawn=SpawnLimits(depth=2, at_work=6, in_all=12, per_minute=10_000))
        self._provider = ScriptedProvider(self._cast.answer)
        self._host = scripted_host(self._provider, store=self._store, config=config, ids=self._cast.ids)

    async def run(self) -> None:
        try:
            await self._live()
        except BaseException:
            self._note("failed", traceback.format_exc())
            raise

    async def warm_up(self) -> None:
        """Has everything made that is made once; runs no tool, whose thread might stay behind."""
        async with self._host as host:
            await self._open_agents(host)
            for session in host.agents():
                with contextlib.suppress(ActorError):
                    await session.ask("Hello?")

    async def _live(self) -> None:
        host = self._host
        async with anyio.create_task_group() as people, host:
            with host.attach(SlowPerson(self._cast)):
                people.start_soon(self._watch, host.watch())
                self._note("opens")
                await self._open_agents(host)
                self._note("plays")
                if self._is_last:
                    await self._come_to_rest(host)
                    return
                for _ in range(N_PEOPLE):
                    people.start_soon(self._cast.person, host)
                await anyio.sleep_forever()

    async def _open_agents(self, host: Host) -> None:
        rows = await self._store.agents()
        roots = [row for row in rows if row.role is AgentRole.MAIN]
        for row in roots:
            await host.resume(row.agent_id, tools=self._tools.all)
        for name in set(NAMES).difference(row.name for row in roots):
            await host.start(Agent(name, tools=self._tools.all))

    async def _watch(self, events: Subscription) -> None:
        async for event in events:
            if isinstance(event, AgentChanged) and event.state is AgentState.FAILED:
                self._blame(not is_expected(event.reason), f"{event.agent} failed: {event.reason}")
            if isinstance(event, WarningRaised):
                self._blame(not is_expected_warning(event), f"{event.agent}: {event.text}")

    async def _come_to_rest(self, host: Host) -> None:
        still_since = anyio.current_time()
        with anyio.fail_after(REST_WITHIN_S):
            while anyio.current_time() < still_since + STILL_FOR_S:
                await anyio.sleep(0.002)
                if not all(map(_rests, host.agents())):
                    still_since = anyio.current_time()
        removed = {session.id: session.fold.removed_turns for session in host.agents()}
        for session in host.agents():
            opened = session.fold.opened
            assert opened is not None
            parent = None if opened.parent_id is None else removed[opened.parent_id]
            is_back = parent is not None and opened.spec["turn_id"] in parent
            self._blame(is_back, f"{session.name} lives, and a rewind took back what had started it")
            records = await records_of(self._store, session.id)
            again = folded(records[: session.fold.n_records])
            self._blame(again != session.fold, f"{session.name}: the log folds into another state")
        self._blame(self._provider.n_open > 0, "streams are open though all rests")

    def _submitting(self, agent_id: AgentId, records: tuple[Record, ...]) -> None:
        self._teller.tell(Submitted(self._number, agent_id, len(records)))

    def _answered(self, agent_id: AgentId, error: Exception | None) -> None:
        if error is not None:
            self._note("refused", f"{agent_id}: {error!r}")
            return
        fold = next((s.fold for s in self._host.agents() if s.id == agent_id), None)
        if fold is not None:
            says = self._sayings.says(agent_id, fold)
            self._teller.tell(Stored(self._number, agent_id, fold.n_records, says))

    def _blame(self, is_wrong: bool, problem: str) -> None:
        if is_wrong:
            self._note("wrong", problem)

    def _note(self, word: str, problem: str = "") -> None:
        self._teller.tell(Noted(self._number, word, problem))


def _rests(session: Session) -> bool:
    last = session.fold.last_turn
    is_held = is_root(session) and last is not None and last.stop is TurnStop.FAILED
    is_busy = session.state in (AgentState.RUNNING, AgentState.WAITING)
    return not is_busy and session.fold.turn is None and (is_held or not session.waiting)
