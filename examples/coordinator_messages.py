"""A coordinator writes to an agent in the middle of its turn, and follows its message by the receipt.

    python examples/coordinator_messages.py

Here the program writes. A capable model does it by itself, with the
SendMessage tool.
"""

import anyio

from actors import Agent
from actors.events import StepBegan
from actors.ports import SpawnOrder
from host import Host, open_host

TASK = "Say in one short sentence why a message needs a receipt."
AFTERTHOUGHT = "One thing more: also say it in three words."


async def interrupt(host: Host) -> str:
    """What the writer says in the end, having read the message that came while it worked."""
    coordinator = await host.start(Agent("coordinator"))
    events = coordinator.watch()
    await host.spawn(coordinator, SpawnOrder("write", TASK, name="writer", is_background=True))
    async for event in events:
        if isinstance(event, StepBegan) and event.agent == "writer":
            break  # its first request is out: it is in the middle of its turn
    events.close()
    receipt = await host.send(coordinator, "writer", AFTERTHOUGHT)
    print(f"accepted: message {receipt.envelope.id} is in the log of its recipient")
    await receipt.taken()
    print("taken: it stands in the history, behind what the writer was saying")
    print(f"presented: request {await receipt.presented()} carried it to the model")
    turn = await receipt.answered()
    print(f"answered: the turn is {turn.stop} after {turn.n_steps} steps")
    return turn.text


async def main() -> None:
    async with open_host() as host:
        print(f"writer: {await interrupt(host)}")


if __name__ == "__main__":
    anyio.run(main)
