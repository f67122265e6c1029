"""A bell beside a channel: waiting for it takes nothing out."""

import anyio


class Bell:
    """Remembers that it was rung until somebody has waited for it."""

    def __init__(self) -> None:
        self._is_rung = False
        self._event: anyio.Event | None = None

    def ring(self) -> None:
        self._is_rung = True
        if self._event is not None:
            self._event.set()

    async def wait(self) -> None:
        while not self._is_rung:
            self._event = anyio.Event()
            await self._event.wait()
        self._event = None
        self._is_rung = False
