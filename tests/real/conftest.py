"""Servers as processes of their own, one for all tests that use them."""

import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import JsonValue

_START_S = 30.0


@dataclass(frozen=True)
class LLMock:
    """A running `llmock serve`: its control interface, and the base URLs of its wire formats."""

    url: str

    @property
    def openai_url(self) -> str:
        return f"{self.url}/v1"

    @property
    def anthropic_url(self) -> str:
        return f"{self.url}/anthropic"

    def script(self, *behaviors: dict[str, JsonValue]) -> None:
        """What the next matching requests get instead of an answer; see llmock's scenarios."""
        self._ask("/_llmock/scenario", {"behaviors": list(behaviors)})

    def findings(self) -> JsonValue:
        """What the server says against its client; an empty list if nothing."""
        return self._ask("/_llmock/verdict")["findings"]

    def n_requests(self) -> JsonValue:
        return self._ask("/_llmock/requests")["count"]

    def reset(self) -> None:
        self._ask("/_llmock/reset", {})

    def _ask(self, path: str, body: JsonValue = None) -> dict[str, JsonValue]:
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(self.url + path, data=data, timeout=10) as response:
            answer: dict[str, JsonValue] = json.load(response)
            return answer


@pytest.fixture(scope="session")
def llmock_server() -> Iterator[LLMock]:
    # the pause lets the server notice a client that hangs up before everything is sent
    with serving("--stream-chunk-delay-ms", "5", "--context-window", "2000") as server:
        yield server


@contextmanager
def serving(*options: str) -> Iterator[LLMock]:
    """A server of its own with these options, on a free port, until the block ends."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(Path(sys.executable).with_name("llmock")), "serve", "--host", "127.0.0.1"]
    command += ["--port", str(port), "--log-level", "warning", *options]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        server = LLMock(f"http://127.0.0.1:{port}")
        _wait_until_it_answers(server, process)
        yield server
    finally:
        process.terminate()
        process.wait(timeout=10)


@pytest.fixture
def llmock(llmock_server: LLMock) -> Iterator[LLMock]:
    """The server with nothing scripted; at the end of a test it must have nothing against its client."""
    llmock_server.reset()
    yield llmock_server
    assert llmock_server.findings() == []


def _wait_until_it_answers(server: LLMock, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + _START_S
    while True:
        try:
            server.reset()
            return
        except urllib.error.URLError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.05)
