"""The local model itself: its server, its weights, spoken to as any other provider."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from providers.catalog import Catalog
from providers.errors import ConnectionFailed, ContextOverflow
from providers.http import Call, open_http
from providers.install import install, is_installed
from providers.local import LocalProvider
from providers.local_process import LocalServer
from providers.model import (
    Answered,
    AnswerStarted,
    Message,
    ModelEvent,
    OutputSchema,
    Request,
    Role,
    StopReason,
    TextDelta,
    text_of,
)

pytestmark = pytest.mark.real

MODEL = "smollm2-135m"
REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="module", autouse=True)
def installed_model() -> None:
    if not is_installed():
        anyio.run(install, print)


@asynccontextmanager
async def local() -> AsyncIterator[tuple[LocalServer, LocalProvider]]:
    async with open_http() as http, LocalServer() as server:
        yield server, LocalProvider(server, http, lambda model: Catalog().profile("local", model))


def run(main: Callable[[], Awaitable[None]], backend: str) -> None:
    anyio.run(main, backend=backend)


def asked(text: str, *, limit: int | None = 6, output: OutputSchema | None = None) -> Request:
    messages = (Message(Role.SYSTEM, "You answer in one short sentence."), Message(Role.USER, text))
    return Request(MODEL, messages, max_output_tokens=limit, output=output)


async def answer_of(provider: LocalProvider, request: Request) -> Answered:
    async with provider.stream(request) as stream:
        events = [event async for event in stream]
    assert isinstance(events[0], AnswerStarted)
    last = events[-1]
    assert isinstance(last, Answered)
    shown = "".join(event.text for event in events if isinstance(event, TextDelta))
    assert shown == text_of(last.message.content)
    return last


async def rest_of(stream: AsyncIterator[ModelEvent]) -> None:
    async for _ in stream:
        pass


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_it_chats_and_the_second_request_finds_its_prefix_cached(real_backend: str) -> None:
    async def main() -> None:
        async with local() as (server, provider):
            first = await answer_of(provider, asked("What is the capital of France?", limit=None))
            assert text_of(first.message.content).strip()
            assert first.model == MODEL
            assert 0 < first.usage.output_tokens <= 40
            assert first.usage.total_input_tokens > 20
            second = await answer_of(provider, asked("What is the capital of Italy?"))
            assert second.usage.cache_read_tokens > 10
            assert second.usage.input_tokens < first.usage.input_tokens
            assert not second.usage.is_estimated
            assert server.n_starts == 1

    run(main, real_backend)


def test_it_chooses_among_candidates_by_schema(real_backend: str) -> None:
    titles = ["How to open a door", "Windows", "Annex \u201cB\u201d"]
    schema = OutputSchema(
        "record",
        {
            "type": "object",
            "properties": {"title": {"type": "string", "enum": list(titles)}},
            "required": ["title"],
            "additionalProperties": False,
        },
    )

    async def main() -> None:
        async with local() as (_, provider):
            answer = await answer_of(
                provider, asked("Choose the title of a text on doors.", limit=None, output=schema)
            )
            assert answer.stop is StopReason.END_TURN
            assert json.loads(text_of(answer.message.content))["title"] in titles

    run(main, real_backend)


def test_two_concurrent_requests_share_one_server(real_backend: str) -> None:
    async def main() -> None:
        answers: list[Answered] = []

        async def ask(provider: LocalProvider, text: str) -> None:
            answers.append(await answer_of(provider, asked(text)))

        async with local() as (server, provider):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(ask, provider, "Name a colour.")
                tasks.start_soon(ask, provider, "Name a fruit.")
            assert len(answers) == 2
            assert server.n_starts == 1

    run(main, real_backend)


def test_after_a_cancelled_answer_the_same_server_goes_on(real_backend: str) -> None:
    async def main() -> None:
        async with local() as (server, provider):
            with anyio.CancelScope() as scope:
                async with provider.stream(asked("Tell me a story.")) as stream:
                    async for event in stream:
                        if isinstance(event, TextDelta):
                            scope.cancel()
            assert scope.cancelled_caught
            await answer_of(provider, asked("Name a colour."))
            assert server.n_starts == 1

    run(main, real_backend)


def test_after_a_crash_in_the_middle_of_an_answer_another_server_goes_on(real_backend: str) -> None:
    async def main() -> None:
        async with local() as (server, provider):
            pid = (await server.running()).pid
            async with provider.stream(asked("Tell me a story.")) as stream:
                assert isinstance(await anext(stream), AnswerStarted)
                os.kill(pid, signal.SIGKILL)
                with pytest.raises(ConnectionFailed, match=r"(?s)killed by signal 9.*it said"):
                    await rest_of(stream)
            await answer_of(provider, asked("Name a colour."))
            assert server.n_starts == 2

    run(main, real_backend)


def test_what_it_cannot_take_is_refused(real_backend: str) -> None:
    async def main() -> None:
        async with open_http() as http, LocalServer() as server:
            provider = LocalProvider(server, http, lambda model: Catalog().profile("local", model))
            with pytest.raises(ContextOverflow):
                await answer_of(provider, asked("many words " * 9_000))
            url = (await server.running()).base_url + "/chat/completions"
            for headers in ({}, {"authorization": "Bearer guessed"}):
                reply = await http.post_json(Call("local", url, headers), {"model": MODEL, "messages": []})
                assert reply.status == 401

    run(main, real_backend)


PARENT = """
import sys, anyio
from providers.local_process import LocalServer

async def main():
    async with LocalServer() as server:
        print((await server.running()).pid, flush=True)
        await anyio.sleep_forever()

anyio.run(main, backend=sys.argv[1])
"""


def test_the_server_dies_with_a_killed_parent(real_backend: str) -> None:
    command = [sys.executable, "-c", PARENT, real_backend]
    with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert is_alive(pid)
        parent.kill()
    end = time.monotonic() + 3
    while is_alive(pid) and time.monotonic() < end:
        time.sleep(0.01)
    assert not is_alive(pid)
