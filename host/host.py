"""The process around agents: opens them, finds them, stops them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import anyio

from actors.address import AgentId
from actors.agent import Agent
from actors.context import Snapshot
from actors.envelope import EnvelopeKind
from actors.errors import ActorStopped
from actors.events import PermissionSettled, PermissionWanted
from actors.ports import (
    ChildReport,
    Clock,
    Ids,
    Models,
    PermissionQuestion,
    Services,
    SpawnOrder,
)
from actors.receipt import Receipt
from actors.records import AgentRole, ModeChanged, QuestionAsked, QuestionSettled, TurnId
from actors.tools.model import Tool
from host.artifacts import StoredArtifacts
from host.config import Config
from host.crew import Crew
from host.directory import Directory
from host.errors import HostClosed
from host.forking import Forking
from host.hub import Hub, Subscription
from host.permissions import Attachment, PermissionBroker, PermissionMode, Policy, Surface
from host.post import Post
from host.resuming import Resuming
from host.session import Session
from host.spawning import Spawning
from host.standing import Standing
from host.store.ports import AgentRow, Store
from host.supervisor import Supervisor
from host.surroundings import Surroundings


class Host:
    """Runs agents as tasks. Use it as a context manager; leaving it means that nothing runs any more.

    Build one with `open_host`. Everything is for the loop's thread.
    """

    def __init__(
        self,
        *,
        store: Store,
        models: Models,
        surroundings: Surroundings,
        clock: Clock,
        ids: Ids,
        environ: Mapping[str, str],
        cwd: Path,
        config: Config,
    ) -> None:
        self._store = store
        self._models = models
        self._surroundings = surroundings
        self._clock = clock
        self._ids = ids
        self._environ = environ
        self._cwd = cwd
        self._config = config
        self._hub = Hub()
        self._directory = Directory()
        self._standing = Standing(self._directory, self._hub, clock)
        self._broker = PermissionBroker(
            self._policy_of, record=self._record_question, emit=self._permission_event
        )
        self._stack = AsyncExitStack()
        self._running: _Running | None = None

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self._store)
        tasks = anyio.create_task_group()
        try:
            await tasks.__aenter__()
        except BaseException:
            await self._stack.aclose()
            raise
        config = self._config
        supervisor = Supervisor(tasks, self._directory, self._hub, self._standing, config)
        crew = Crew(
            store=self._store,
            directory=self._directory,
            standing=self._standing,
            supervisor=supervisor,
            surroundings=self._surroundings,
            config=config,
        )
        spawning = Spawning(crew, config.spawn)
        resuming = Resuming(crew, lambda living: self._broker.can_ask(living.actor.parts.path))
        running = self._running = _Running(crew, spawning, Post(crew), resuming, Forking(crew, resuming))
        supervisor.services = Services(
            models=self._models,
            permissions=self._broker,
            spawner=running.spawning,
            postbox=running.post,
            artifacts=StoredArtifacts(self._store),
            clock=self._clock,
            ids=self._ids,
            emit=self._hub.emit,
            environment=self._environ,
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stops every agent, stores what was submitted, and lets an error of the block pass as it is."""
        crew = self._now.crew
        crew.is_closing = True
        try:
            await crew.stop(*self._directory.roots(), reason="the host stopped")
        finally:
            crew.supervisor.tasks.cancel_scope.cancel()
            try:
                # The block's own error is not a task's: passed in, it would come out as a group.
                await crew.supervisor.tasks.__aexit__(None, None, None)
            finally:
                self._hub.finish()
                self._running = None
                await self._stack.aclose()

    # Agents

    async def start(self, agent: Agent, *, cwd: Path | None = None) -> Session:
        """A new main agent with a session of its own, idle.

        Raises:
            NameTaken: an agent of this name lives here.
            StoreError, LogFailed: the session could not be stored.
        """
        living = await self._now.crew.start_root(agent, cwd or self._cwd)
        return Session(living, self._now.crew)

    async def look(self, cwd: Path | None = None) -> Snapshot:
        """What an agent that starts now would find around it; one look can serve many actors."""
        return await self._surroundings.look(cwd or self._cwd)

    async def start_actor(
        self, agent: Agent, *, snapshot: Snapshot | None = None, cwd: Path | None = None
    ) -> Session:
        """A new workflow actor with a session of its own: whoever calls this is its coordinator.

        Raises:
            NameTaken: an agent of this name lives here; `unused_name` finds another.
            BadInput: the agent has instructions and a system prompt.
            StoreError, LogFailed: the session could not be stored.
        """
        crew = self._now.crew
        living = await crew.start_root(
            agent, cwd or self._cwd, role=AgentRole.WORKFLOW_ACTOR, snapshot=snapshot
        )
        return Session(living, crew)

    def unused_name(self, stem: str) -> str:
        """`stem`, or `stem-2`, `stem-3`, … whichever no agent of this host has."""
        return self._directory.unused(stem)

    async def resume(
        self,
        session_id: str,
        *,
        tools: Sequence[Tool] = (),
        agent: Agent | None = None,
        asks_again: bool | None = None,
        at_rest: bool = False,
    ) -> Session:
        """A stored session with everything that was acknowledged; a turn that was cut off ends as lost.

        Only a turn that waited for a person's permission goes on with that
        question, where a person can be asked: a surface is attached for all
        agents already, or `asks_again` says that one will be before the next
        await. Tools are Python and not stored: of `tools`, those that the session
        had come back. `agent` replaces the stored definition.

        `at_rest` is for looking at it or taking it back: nothing begins by itself
        or by a message, and no question is asked again, until `Session.go_on`.

        Raises:
            UnknownSession: the store has none of this id.
            SessionBusy: another host has it, in this process or another.
            StoreDamaged: its log cannot be read.
            NameTaken: an agent that lives here has its name; `agent` can give it another.
        """
        tree = await self._now.resuming.resume(AgentId(session_id), tools, agent, asks_again, at_rest=at_rest)
        return Session(tree[0], self._now.crew)

    async def fork(
        self,
        session: str | Session,
        *,
        after: str | None = None,
        name: str | None = None,
        tools: Sequence[Tool] = (),
    ) -> Session:
        """A new session that begins with a copy of another one's, up to the end of the turn `after`.

        Without `after`, up to the end of its last finished turn. The other one
        may live here, be stored, or be at work in another process; it does not
        notice. `tools` as in `resume`; a session that lives here gives its own as well.

        Raises:
            UnknownSession: there is none of this id.
            BadInput: no such turn, one that has not ended, or a subagent.
            StoreDamaged: its log cannot be read.
            NameTaken: an agent that lives here has the name.
            StoreError, LogFailed: the copy could not be stored.
        """
        source = session.id if isinstance(session, Session) else AgentId(session)
        turn_id = None if after is None else TurnId(after)
        return Session(await self._now.forking.fork(source, turn_id, name, tools), self._now.crew)

    def model_name(self, name: str | None = None) -> str:
        """The full name of a model that could be asked, None for the default one; nothing is asked yet.

        Raises:
            NoModel: no default can be had; says which ways there are.
            ModelNotFound, AuthenticationFailed: no such provider, or no key for it.
        """
        return self._models.resolve(name).name

    def find(self, name_or_id: str) -> Session:
        """A living agent.

        Raises:
            UnknownRecipient: and which names there are.
        """
        return Session(self._directory.find(name_or_id), self._now.crew)

    def agents(self) -> tuple[Session, ...]:
        """Every agent of the sessions that live here, oldest first."""
        return tuple(Session(living, self._now.crew) for living in self._directory)

    async def sessions(self) -> tuple[AgentRow, ...]:
        """What the store holds: one row for each main agent, newest work last.

        Those in the archive too: their `archived_at` says so. One that is gone on
        with comes out of it with its next record.
        """
        rows = await self._store.agents()
        mains = (row for row in rows if row.role is AgentRole.MAIN)
        return tuple(sorted(mains, key=lambda row: row.updated_at))

    async def spawn(self, parent: Session, order: SpawnOrder) -> ChildReport:
        """Starts a subagent of an agent by the program, under the same limits as by its tool."""
        return await self._now.spawning.spawn(parent.id, "", order)

    async def send(self, sender: Session, recipient: str, body: str) -> Receipt:
        """Sends a message from one agent to another by the program, as its tool would.

        Returns once it is accepted; the receipt tells how far it comes.
        """
        return await self._now.post.deliver(sender.id, recipient, body, kind=EnvelopeKind.TELL)

    # People

    def watch(self) -> Subscription:
        """Events of all agents from now on."""
        return self._hub.subscribe()

    @contextmanager
    def attach(self, surface: Surface, session: Session | None = None) -> Iterator[Attachment]:
        """Lets a person answer permission questions, of one session or of all."""
        path = "" if session is None else str(session.name)
        with self._broker.attach(surface, path) as attachment:
            yield attachment

    def set_mode(self, session: Session, mode: PermissionMode) -> None:
        """Changes the permission mode of an agent; those below it never have a wider one.

        Raises:
            ActorStopped: the agent has ended, and its log with it.
        """
        living = self._directory.by_id(session.id)
        if living.actor.is_stopping:
            raise ActorStopped(f"{living.name} was stopped; its mode cannot be changed any more")
        living.mode = mode
        living.actor.parts.ledger.submit(ModeChanged(mode.value, self._clock.now_s()))
        self._broker.reconsider()

    def mode_of(self, session: Session) -> PermissionMode:
        """The mode that holds for an agent now."""
        return self._standing.mode_of(self._directory.by_id(session.id))

    # Inside

    @property
    def _now(self) -> "_Running":
        if self._running is None:
            raise HostClosed("the host does not run: use it as `async with open_host() as host`")
        return self._running

    def _policy_of(self, agent_id: AgentId) -> Policy:
        living = self._directory.by_id(agent_id)
        return Policy(self._standing.mode_of(living), self._config.rules, living.actor.parts.opened.cwd)

    async def _record_question(self, question: PermissionQuestion, summary: str) -> None:
        """What a person sees is in the log: it is asked again if the host is killed now."""
        ledger = self._directory.by_id(question.agent_id).actor.parts.ledger
        await ledger.commit(QuestionAsked(question.call_id, question.tool, summary, self._clock.now_s()))

    def _permission_event(self, event: PermissionWanted | PermissionSettled) -> None:
        living = self._directory.find(event.agent)
        if isinstance(event, PermissionWanted):
            self._standing.begin_wait(living, _reason(event))
        self._hub.emit(event)
        if isinstance(event, PermissionSettled):
            settled = QuestionSettled(event.call_id, event.allowed, event.reason, self._clock.now_s())
            living.actor.parts.ledger.submit(settled)
            self._standing.end_wait(living, _reason(event))


@dataclass(frozen=True, slots=True)
class _Running:
    """What lives as long as the host's block."""

    crew: Crew
    spawning: Spawning
    post: Post
    resuming: Resuming
    forking: Forking


def _reason(event: PermissionWanted | PermissionSettled) -> str:
    return f"for an answer to permission question {event.question_id}"
