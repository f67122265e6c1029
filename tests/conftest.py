"""Every async test runs twice: on asyncio and on trio, under a clock that jumps."""

from typing import Any

import pytest

from host.testing import virtual_asyncio, virtual_trio


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    return virtual_asyncio() if request.param == "asyncio" else virtual_trio()


@pytest.fixture(params=["asyncio", "trio"])
def real_backend(request: pytest.FixtureRequest) -> str:
    """For tests with processes, sockets or threads: `anyio.run(main, backend=real_backend)`."""
    backend: str = request.param
    return backend
