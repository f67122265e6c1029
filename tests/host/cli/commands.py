"""Commands in this process, as their entry point runs them."""

import os
from collections.abc import Awaitable, Callable

import anyio
import pytest

from host.cli.app import app
from host.cli.boundary import guarded
from host.store import SqliteStore
from tests.host.cli.processes import Done, Home

Call = Callable[..., Done]


def caller(home: Home, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    """Runs commands at home, without keys, in the time zone UTC."""
    for name in tuple(os.environ):
        if name.startswith(("CALLBOARD_", "OPENAI_", "ANTHROPIC_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home.folder))
    monkeypatch.setenv("CALLBOARD_STORE", str(home.store))
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.chdir(home.folder)

    def run(*arguments: str) -> Done:
        capfd.readouterr()
        code = guarded(lambda: app(list(arguments)))
        out, err = capfd.readouterr()
        return Done(out, err, code)

    return run


def in_store(home: Home, work: Callable[[SqliteStore], Awaitable[object]]) -> None:
    """Does this to the store at home, which is made where it is missing."""

    async def run() -> None:
        async with SqliteStore(home.store) as store:
            await work(store)

    anyio.run(run)
