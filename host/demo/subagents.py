"""First act: a coordinator with two subagents, one awaited, one in the background."""

from functools import partial

import anyio

from actors import Agent
from actors.events import MessageTaken, TurnBegan, TurnFinished
from actors.history import MessageEntry
from actors.ports import ChildReport, SpawnOrder
from actors.records import AgentState, TurnStop
from host.demo.events import AgentAppeared
from host.demo.pages import Page
from host.demo.stage import Stage
from host.session import Session
from providers.model import text_of

TITLE = "A coordinator and two subagents"
NOTE = "This program decides whom to start, where a capable model would by its Agent tool."
EXCERPT_CHARACTERS = 450
AWAITED, BEHIND = "reader", "background-reader"


async def play(stage: Stage, pages: tuple[Page, ...]) -> None:
    """Starts both readers at once and waits until the coordinator has dealt with the notification."""
    host, since = stage.host, len(stage.seen)
    first, second = pages[0], pages[-1]
    coordinator = await host.start(
        Agent("coordinator", instructions="You coordinate readers. Answer in one short sentence.")
    )
    stage.show(AgentAppeared(coordinator.name, None, "coordinates"))
    reports: dict[str, ChildReport] = {}

    async def read(name: str, page: Page, *, is_background: bool) -> None:
        stage.show(AgentAppeared(name, coordinator.name, f"reads {page.name}", is_background))
        order = SpawnOrder(f"Read {page.name}", _task(page), name=name, is_background=is_background)
        reports[name] = await host.spawn(coordinator, order)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(read, BEHIND, second, is_background=True))
        tasks.start_soon(partial(read, AWAITED, first, is_background=False))
    answers = {name: await stage.turn_of(name, since) for name in (AWAITED, BEHIND)}
    told = await stage.until(MessageTaken, lambda e: e.agent == coordinator.name, since=since)
    reaction = await stage.turn_of(coordinator.name, since)
    _check(stage, coordinator, reports, answers, told, reaction)
    await coordinator.stop()
    stage.claim("stopping the coordinator left no agent behind", stage.players() == ())


def _task(page: Page) -> str:
    return (
        "Say in one short sentence what this page is about. It begins:\n\n"
        + page.excerpt[:EXCERPT_CHARACTERS].rsplit(" ", 1)[0]
    )


def _check(
    stage: Stage,
    coordinator: Session,
    reports: dict[str, ChildReport],
    answers: dict[str, TurnFinished],
    told: MessageTaken,
    reaction: TurnFinished,
) -> None:
    began: dict[str, int] = {
        s.event.agent: i for i, s in enumerate(stage.seen) if isinstance(s.event, TurnBegan)
    }
    ends = {name: stage.place(answer) for name, answer in answers.items()}
    stops = {answer.agent: answer.stop.value for answer in (*answers.values(), reaction)}
    stage.claim(
        "the subagents were tasks at the same time: each began before the other had ended",
        max(began[AWAITED], began[BEHIND]) < min(ends.values()),
    )
    stage.claim(
        "the awaited one's call gave its answer",
        reports[AWAITED].state is AgentState.COMPLETED and reports[AWAITED].text == answers[AWAITED].text,
    )
    stage.claim(
        "the call of the one in the background gave no answer, only that it runs",
        reports[BEHIND].state is AgentState.RUNNING and reports[BEHIND].text == "",
    )
    body = next((e for e in coordinator.history if isinstance(e, MessageEntry) and e.sender == "host"), None)
    text = "" if body is None else text_of(body.message.content)
    stage.claim(
        "its notification came when it had ended, and the coordinator has it in its history",
        stage.place(told) > ends[BEHIND] and reports[BEHIND].agent_id in text and "completed" in text,
    )
    stage.claim(
        "all three turns ended as done",
        set(stops.values()) == {TurnStop.DONE.value},
        ", ".join(f"{name}: {stop}" for name, stop in stops.items() if stop != TurnStop.DONE.value),
    )
