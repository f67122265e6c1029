"""A coordinator with two subagents: it waits for one, and a notification tells it of the other.

    python examples/orchestrate_subagents.py

Here the program decides whom to start. A capable model does it by itself: give
the coordinator `tools=builtin_tools().values()`, which has the Agent tool, and
ask it.
"""

import anyio

from actors import Agent
from actors.events import MessageTaken, TurnFinished
from actors.ports import SpawnOrder
from host import Host, open_host

QUESTION = "Say in one short sentence what {} is good for."


async def orchestrate(host: Host) -> str:
    """What the coordinator says when both have answered."""
    coordinator = await host.start(
        Agent("coordinator", instructions="You coordinate others. Answer in one short sentence.")
    )
    events = coordinator.watch()  # its own, and those of every agent below it
    await host.spawn(
        coordinator,
        SpawnOrder("think of logs", QUESTION.format("a log"), name="in-background", is_background=True),
    )
    report = await host.spawn(
        coordinator, SpawnOrder("think of mailboxes", QUESTION.format("a mailbox"), name="awaited")
    )
    print(f"{report.name} is {report.state}: {report.text}")
    answer = ""
    async for event in events:
        match event:
            case MessageTaken(agent=coordinator.name, presentation="task_notification"):
                print(f"{event.agent} is notified: {event.preview}")
            case TurnFinished(agent=coordinator.name):
                answer = event.text
                break
            case TurnFinished():
                print(f"{event.agent} has ended its turn, {event.usage.output_tokens} tokens")
    events.close()
    return answer


async def main() -> None:
    async with open_host() as host:
        print(f"coordinator: {await orchestrate(host)}")


if __name__ == "__main__":
    anyio.run(main)
