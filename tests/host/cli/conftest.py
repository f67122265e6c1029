"""Homes for the command, and a model server that streams at a pace that can be interrupted."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.host.cli.processes import Home
from tests.real.conftest import LLMock, serving


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home without keys."""
    return Home(tmp_path)


@pytest.fixture(scope="module")
def model_server() -> Iterator[LLMock]:
    with serving("--stream-chunk-delay-ms", "20", "--tool-mode", "off") as server:
        yield server


@pytest.fixture
def connected(tmp_path: Path, model_server: LLMock) -> Home:
    """A home whose keys and base URLs lead to the model server."""
    model_server.reset()
    return Home(tmp_path, model_server)
