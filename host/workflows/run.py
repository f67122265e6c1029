"""What the script of a workflow holds: its agents, its phases, and what it tells those who watch."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextvars import Token
from types import TracebackType
from typing import Any, Literal, TypeVar, overload

import anyio
from pydantic_core import PydanticSerializationError, to_jsonable_python

from actors.agent import Agent
from actors.errors import BadInput
from actors.records import AgentState
from actors.tools import Tool, builtin_tools
from host.agent_types import AgentType, agent_type
from host.errors import WorkflowError
from host.workflows.cast import Cast, Member, phase_path
from host.workflows.events import Logged, PhaseEnded, PhaseStarted, Reported, RunEvent
from host.workflows.gathering import Outcome, all_done, all_ended
from host.workflows.naming import DEFAULT_STEM, stem_of

T = TypeVar("T")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")


class Run:
    """One run of a workflow. The script decides, the agents work.

    Agents are workflow actors of the host: with the contract of a script's
    agent in front of them, and nobody to ask. Their names on the host are
    made of the names that the script gives (`docs/a.md` is `docs-a.md`, the
    second of a name gets a number). All of them have stopped when the run
    ends.
    """

    def __init__(self, cast: Cast, tell: Callable[[RunEvent], None]) -> None:
        self._cast = cast
        self._tell = tell
        self._actors: set[str] = set()
        self._reading_tools: dict[str, tuple[Tool, ...]] = {}

    # Agents

    @overload
    async def agent(
        self,
        prompt: str,
        *,
        name: str | None = None,
        type: str | None = None,
        model: str | None = None,
        tools: Sequence[Tool] | None = None,
        timeout: float | None = None,
    ) -> str: ...

    @overload
    async def agent(
        self,
        prompt: str,
        *,
        returns: type[T],
        name: str | None = None,
        type: str | None = None,
        model: str | None = None,
        tools: Sequence[Tool] | None = None,
        timeout: float | None = None,
    ) -> T: ...

    async def agent(
        self,
        prompt: str,
        *,
        returns: Any = str,
        name: str | None = None,
        type: str | None = None,  # noqa: A002 - the word that authors know
        model: str | None = None,
        tools: Sequence[Tool] | None = None,
        timeout: float | None = None,
    ) -> Any:
        """One agent for one answer: a text, or a value of whatever a pydantic TypeAdapter takes.

        `type` names an agent type and selects model and tools; the tools that
        only read are given, others where `tools` says so. `timeout` counts
        seconds from when the agent begins to work. Waits while as many agents
        are at work as the run allows at once.

        Raises:
            TurnFailed: no answer, or none of the type wanted (`ResultInvalid`).
            AgentTimedOut: not in time.
            TooManyAgents: the run has had as many agents as it may.
            SpawnRefused, ModelNotFound: no such type or model.
        """
        label = name or DEFAULT_STEM
        member = self._cast.enrol(label, self._made(label, type, model, tools))
        try:
            return await self._cast.ask(member, prompt, returns, timeout)
        finally:
            with anyio.CancelScope(shield=True):
                await self._cast.dismiss(member)

    def actor(
        self,
        name: str,
        *,
        persona: str | None = None,
        system_prompt: str | None = None,
        type: str | None = None,  # noqa: A002 - as for `agent`
        model: str | None = None,
        tools: Sequence[Tool] | None = None,
    ) -> "RunActor":
        """An agent with a conversation that is kept across asks; started by the first.

        `persona` becomes part of who the actor is; `system_prompt` replaces
        all that it would be told. Type, model and tools as for `agent`.

        Raises:
            BadInput: both persona and system prompt.
            WorkflowError: the run has an actor of this name.
            TooManyAgents, SpawnRefused, ModelNotFound: as `agent`.
        """
        if persona is not None and system_prompt is not None:
            raise BadInput(
                f"actor {name!r} takes a persona or a system prompt, not both: a system prompt replaces the "
                "contract that a persona is part of"
            )
        if name in self._actors:
            raise WorkflowError(f"this run has an actor named {name!r} already; names of actors are unique")
        agent = self._made(name, type, model, tools, persona=persona or "", system_prompt=system_prompt)
        member = self._cast.enrol(name, agent)
        self._actors.add(name)
        return RunActor(self._cast, member)

    # Several at once

    @overload
    async def parallel(
        self, awaitables: Iterable[Awaitable[T]], failures: Literal["raise"] = "raise"
    ) -> list[T]: ...

    @overload
    async def parallel(
        self, awaitables: Iterable[Awaitable[T]], failures: Literal["return"]
    ) -> list[Outcome[T]]: ...

    async def parallel(
        self, awaitables: Iterable[Awaitable[T]], failures: Literal["raise", "return"] = "raise"
    ) -> list[T] | list[Outcome[T]]:
        """All at once; results in the order given.

        With `failures="return"` each is `Done(value)` or `Failed(error)`, and
        a failure stops nothing else.

        Raises:
            ExceptionGroup: of what failed, after the others were cancelled.
        """
        return await (all_done(awaitables) if failures == "raise" else all_ended(awaitables))

    @overload
    async def pipeline(
        self,
        items: Iterable[A],
        first: Callable[[A], Awaitable[B]],
        /,
        *,
        failures: Literal["raise"] = "raise",
    ) -> list[B]: ...

    @overload
    async def pipeline(
        self,
        items: Iterable[A],
        first: Callable[[A], Awaitable[B]],
        second: Callable[[B], Awaitable[C]],
        /,
        *,
        failures: Literal["raise"] = "raise",
    ) -> list[C]: ...

    @overload
    async def pipeline(
        self,
        items: Iterable[A],
        first: Callable[[A], Awaitable[B]],
        second: Callable[[B], Awaitable[C]],
        third: Callable[[C], Awaitable[D]],
        /,
        *,
        failures: Literal["raise"] = "raise",
    ) -> list[D]: ...

    @overload
    async def pipeline(
        self,
        items: Iterable[Any],
        /,
        *stages: Callable[[Any], Awaitable[Any]],
        failures: Literal["raise", "return"] = "raise",
    ) -> list[Any]: ...

    async def pipeline(
        self,
        items: Iterable[Any],
        /,
        *stages: Callable[[Any], Awaitable[Any]],
        failures: Literal["raise", "return"] = "raise",
    ) -> list[Any]:
        """Each item goes through the stages on its own, none waits for the others.

        Results, order and failures as in `parallel`.
        """

        async def through(item: Any) -> Any:
            for stage in stages:
                item = await stage(item)
            return item

        branches = (through(item) for item in items)
        return await (all_done(branches) if failures == "raise" else all_ended(branches))

    # What is seen

    def phase(self, name: str) -> "Phase":
        """`async with run.phase("Read"):` names a part of the work; phases may lie in phases."""
        return Phase(self._cast, self._tell, name)

    def log(self, text: str) -> None:
        """Tells those who watch."""
        self._cast.check_open()
        self._tell(Logged(text, phase_path.get(), self._cast.at_s()))

    def report(self, item: object) -> None:
        """Gives out a part of the result before the end: anything that has a JSON form.

        Raises:
            BadInput: it has none.
        """
        self._cast.check_open()
        self._tell(Reported(_as_json(item), phase_path.get(), self._cast.at_s()))

    # Inside

    def _made(
        self,
        label: str,
        type_name: str | None,
        model: str | None,
        tools: Sequence[Tool] | None,
        *,
        persona: str = "",
        system_prompt: str | None = None,
    ) -> Agent:
        kind = agent_type(type_name)
        return Agent(
            stem_of(label),
            instructions=persona,
            system_prompt=system_prompt,
            model=model or kind.model,
            tools=self._reading(kind) if tools is None else tools,
        )

    def _reading(self, kind: AgentType) -> tuple[Tool, ...]:
        """The tools of a type that only read: nobody is there who could be asked for more.

        Made once for a run: making them costs more than an agent does.
        """
        if kind.name not in self._reading_tools:
            offered = kind.tools_from(builtin_tools().values())
            self._reading_tools[kind.name] = tuple(tool for tool in offered if tool.is_read_only)
        return self._reading_tools[kind.name]


class RunActor:
    """An actor of a run. Its asks queue; actors work side by side."""

    def __init__(self, cast: Cast, member: Member) -> None:
        self._cast = cast
        self._member = member
        self._turns = anyio.Lock()

    @property
    def name(self) -> str:
        """The name that the script gave."""
        return self._member.label

    @overload
    async def ask(self, text: str, *, timeout: float | None = None) -> str: ...

    @overload
    async def ask(self, text: str, *, returns: type[T], timeout: float | None = None) -> T: ...

    async def ask(self, text: str, *, returns: Any = str, timeout: float | None = None) -> Any:
        """The answer to one more prompt of the conversation; raises as `Run.agent`."""
        async with self._turns:
            return await self._cast.ask(self._member, text, returns, timeout)


class Phase:
    """A named part of a run, as an async context manager."""

    def __init__(self, cast: Cast, tell: Callable[[RunEvent], None], name: str) -> None:
        self._cast = cast
        self._tell = tell
        self._name = name

    async def __aenter__(self) -> None:
        self._cast.check_open()
        self._began_s = self._cast.at_s()
        self._path = (*phase_path.get(), self._name)
        self._before: Token[tuple[str, ...]] = phase_path.set(self._path)
        self._tell(PhaseStarted(self._path, self._began_s))

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        phase_path.reset(self._before)
        state = AgentState.FAILED
        if kind is None:
            state = AgentState.COMPLETED
        elif issubclass(kind, anyio.get_cancelled_exc_class()):
            state = AgentState.CANCELLED
        now_s = self._cast.at_s()
        self._tell(PhaseEnded(self._path, state, now_s - self._began_s, now_s))


def _as_json(item: object) -> Any:
    try:
        return to_jsonable_python(item, inf_nan_mode="strings")
    except PydanticSerializationError as error:
        raise BadInput(
            f"what a run reports has a JSON form; {type(item).__name__} has none: {error}"
        ) from error
