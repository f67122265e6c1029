"""The store that a command works on without a host."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from actors.errors import BadInput
from host.cli.options import Settings
from host.cli.output import visible
from host.config import IN_MEMORY, load_config
from host.errors import StoreDamaged, StoreUnavailable
from host.store.sqlite import SqliteStore


def store_to_read(settings: Settings) -> SqliteStore:
    """The store that the settings name, which must be there; somebody else may be writing it.

    Raises:
        StoreUnavailable: there is none.
        ConfigInvalid, BadInput: the settings name no file.
    """
    return SqliteStore(store_to_change(settings).path, read_only=True)


def store_if_there(settings: Settings) -> SqliteStore | None:
    """The store that the settings name, to be read only; None where there is none yet, or only in memory."""
    config = load_config(Path.cwd(), os.environ, settings.arguments())
    if config.store == IN_MEMORY or not Path(config.store).exists():
        return None
    return SqliteStore(Path(config.store), read_only=True)


@contextmanager
def naming_the_doctor() -> Iterator[None]:
    """Says of a store that turns out to be damaged who can tell more."""
    try:
        yield
    except StoreDamaged as error:
        text = f"{error}; `callboard doctor` tells what can still be read"
        raise StoreDamaged(text, agent_id=error.agent_id, seq=error.seq) from error


def store_to_change(settings: Settings) -> SqliteStore:
    """The store that the settings name, which must be there.

    Raises:
        StoreUnavailable: there is none.
        ConfigInvalid, BadInput: the settings name no file.
    """
    store = _file(settings)
    if not store.path.exists():  # opening it would make one
        raise StoreUnavailable(f"there is no store {visible(str(store.path))}")
    return store


def store_to_write(settings: Settings) -> SqliteStore:
    """The store that the settings name, made where it is missing.

    Raises:
        ConfigInvalid, BadInput: the settings name no file.
    """
    return _file(settings)


def _file(settings: Settings) -> SqliteStore:
    config = load_config(Path.cwd(), os.environ, settings.arguments())
    if config.store == IN_MEMORY:
        raise BadInput(f"--store: a store in a file wanted, got {IN_MEMORY}, which keeps nothing")
    return SqliteStore(Path(config.store), durability=config.durability)
