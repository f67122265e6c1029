"""From a configuration to a running host."""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from actors.ports import Clock, Ids, Models
from host.clock import SystemClock
from host.config import IN_MEMORY, Config, endpoints, load_config
from host.host import Host
from host.ids import RandomIds
from host.store.memory import MemoryStore
from host.store.ports import Store
from host.store.sqlite import SqliteStore
from host.surroundings import Machine, Surroundings
from providers.endpoint import EnvironmentKey


@asynccontextmanager
async def open_host(
    *,
    config: Config | None = None,
    arguments: Mapping[str, object] | None = None,
    store: Store | None = None,
    models: Models | None = None,
    surroundings: Surroundings | None = None,
    clock: Clock | None = None,
    ids: Ids | None = None,
    environ: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> AsyncIterator[Host]:
    """A host, open as long as the block runs.

    Without anything: configuration from files and environment, the SQLite
    store that it names, the working directory of the process. `arguments` are
    settings by their key (`{"model": "local:smollm2-135m"}`) and win over
    both. Everything else is for programs and tests that bring their own.
    Leaving the block means
    that nothing runs any more and everything accepted is stored.

    Raises:
        ConfigInvalid: names the file or variable, what was wanted and what came.
        StoreError: the store cannot be opened.
    """
    environ = dict(os.environ) if environ is None else environ
    cwd = (cwd or Path.cwd()).absolute()
    config = config or load_config(cwd, environ, arguments)
    clock = clock or SystemClock()
    async with AsyncExitStack() as stack:
        if models is None:
            # Here and not at the top: the HTTP client is a third of what importing `host` may cost.
            from host.models import open_models

            models = await stack.enter_async_context(open_models(config, environ))
        host = Host(
            store=store or _store(config),
            models=models,
            surroundings=surroundings or Machine(environ, clock),
            clock=clock,
            ids=ids or RandomIds(),
            environ=without_keys(environ, config),
            cwd=cwd,
            config=config,
        )
        yield await stack.enter_async_context(host)


def _store(config: Config) -> Store:
    if config.store == IN_MEMORY:
        return MemoryStore()
    return SqliteStore(Path(config.store), durability=config.durability)


def without_keys(environ: Mapping[str, str], config: Config) -> dict[str, str]:
    """The environment that commands of agents get: without the keys of providers.

    What a command prints goes to the model and into the log, and neither may
    ever see a key.
    """
    keys = {
        endpoint.key.variable
        for endpoint in endpoints(config, environ).values()
        if isinstance(endpoint.key, EnvironmentKey)
    }
    return {name: value for name, value in environ.items() if name not in keys}
