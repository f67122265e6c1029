"""Second act: a message into a running turn, and how far its receipt comes."""

import anyio

from actors import Agent
from actors.envelope import ReceiptState
from actors.errors import ActorError
from actors.events import AnswerCommitted, MessageTaken, StepBegan, TurnFinished
from actors.history import Presentation
from actors.ports import SpawnOrder
from actors.receipt import Receipt
from host.demo.events import AgentAppeared, MessageLanded, MessageSent, ReceiptAdvanced
from host.demo.pages import Page
from host.demo.stage import Stage

TITLE = "A message in the middle of a turn"
NOTE = "This program writes the message, where a capable model would by its SendMessage tool."
EXCERPT_CHARACTERS = 450
WRITER = "writer"
BODY = "One thing more: name the word of the page that matters most."


async def play(stage: Stage, pages: tuple[Page, ...]) -> None:
    """Sends as soon as the request of the first step is out, then follows the receipt."""
    host, since = stage.host, len(stage.seen)
    page = pages[len(pages) // 2]
    coordinator = await host.start(Agent("sender", instructions="You coordinate a writer."))
    stage.show(AgentAppeared(coordinator.name, None, "coordinates"))
    stage.show(AgentAppeared(WRITER, coordinator.name, f"describes {page.name}", is_background=True))
    order = SpawnOrder(f"Describe {page.name}", _task(page), name=WRITER, is_background=True)
    await host.spawn(coordinator, order)
    first_step = await stage.until(StepBegan, lambda e: e.agent == WRITER, since=since)
    sent_s = anyio.current_time()
    stage.show(MessageSent(coordinator.name, WRITER, BODY))
    receipt = await host.send(coordinator, WRITER, BODY)
    order_of_states = await _followed(stage, receipt, sent_s)
    taken = await stage.until(MessageTaken, lambda e: e.envelope_id == receipt.envelope.id, since=since)
    end = await stage.turn_of(WRITER, since)
    _check(stage, receipt, order_of_states, first_step, taken, end)
    await coordinator.stop()
    stage.claim("stopping the sender left no agent behind", stage.players() == ())


def _task(page: Page) -> str:
    return (
        "Say in one short sentence what this page tells its reader. It begins:\n\n"
        + page.excerpt[:EXCERPT_CHARACTERS].rsplit(" ", 1)[0]
    )


async def _followed(stage: Stage, receipt: Receipt, sent_s: float) -> list[str]:
    """The states in the order in which independent waiters heard of them."""
    heard: list[str] = []

    def advanced(state: ReceiptState, detail: str) -> None:
        heard.append(state.value)
        stage.show(ReceiptAdvanced(state.value, anyio.current_time() - sent_s, detail))

    async def answered() -> None:
        turn = await receipt.answered()
        advanced(ReceiptState.ANSWERED, f"the turn ended as {turn.stop.value} after {turn.n_steps} steps")

    async def presented() -> None:
        try:
            advanced(ReceiptState.PRESENTED, f"in request {await receipt.presented()}")
        except ActorError as error:  # then the order does not hold, and the claim says so
            heard.append(str(error))

    async def accepted() -> None:
        await receipt.accepted()
        advanced(ReceiptState.ACCEPTED, "in the log of its recipient")

    async def landed() -> None:
        await receipt.taken()
        taken = await stage.until(MessageTaken, lambda e: e.envelope_id == receipt.envelope.id)
        stage.show(MessageLanded(taken.agent, taken.presentation, _n_said_before(stage, taken)))

    async with anyio.create_task_group() as tasks:
        for wait in (answered, presented, landed, accepted):
            tasks.start_soon(wait)
    return heard


def _n_said_before(stage: Stage, taken: MessageTaken) -> int:
    said = [
        len(s.event.text)
        for s in stage.seen[: stage.place(taken)]
        if isinstance(s.event, AnswerCommitted) and s.event.agent == taken.agent
    ]
    return said[-1] if said else 0


def _check(
    stage: Stage,
    receipt: Receipt,
    order_of_states: list[str],
    first_step: StepBegan,
    taken: MessageTaken,
    end: TurnFinished,
) -> None:
    stage.claim(
        "its receipt came in this order",
        order_of_states == ["accepted", "presented", "answered"],
        " → ".join(order_of_states),
    )
    stage.claim(
        "it joined the turn that was running when it was sent",
        receipt.turn is not None
        and receipt.turn.turn_id == first_step.turn_id == end.turn_id
        and taken.presentation == Presentation.COORDINATOR_STEER,
    )
    between = [
        s.event
        for s in stage.seen[stage.place(first_step) : stage.place(taken)]
        if isinstance(s.event, AnswerCommitted) and s.event.agent == WRITER
    ]
    stage.claim(
        "it landed behind a step of text alone, and a further step answered it",
        len(between) >= 1 and between[-1].n_calls == 0 and end.n_steps > len(between),
    )
    stage.claim("the turn ended as done", end.stop.value == "done", end.error or "")
