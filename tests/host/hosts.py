"""A host for tests in virtual time: in memory, with a scripted model."""

from collections.abc import Callable
from pathlib import Path

from actors.ports import Clock, Ids, ResolvedModel
from host.config import Config
from host.host import Host
from host.ids import CountingIds
from host.store.memory import MemoryStore
from host.store.ports import Store
from host.surroundings import Unseen
from host.testing import VirtualClock
from providers.correction import CorrectedCounter
from providers.errors import ModelNotFound
from providers.ports import Provider
from providers.scripted import ScriptedProvider
from providers.tokens import EstimateCounter


class ScriptedModels:
    """Resolves `scripted` (and nothing) to the given providers, by name."""

    def __init__(
        self, *providers: ScriptedProvider, wrap: Callable[[Provider], Provider] = lambda provider: provider
    ) -> None:
        self._wrap = wrap
        self._providers = {provider.name: provider for provider in providers}
        self._default = providers[0].name

    def resolve(self, name: str | None) -> ResolvedModel:
        wanted = name or self._default
        provider = self._providers.get(wanted)
        if provider is None:
            raise ModelNotFound(f"no model named {wanted!r}")
        return ResolvedModel(
            wanted, self._wrap(provider), provider.profile, CorrectedCounter(EstimateCounter())
        )

    async def sharpen(self, model: ResolvedModel) -> ResolvedModel:
        return model


def scripted_host(
    *providers: ScriptedProvider,
    store: Store | None = None,
    config: Config | None = None,
    wrap: Callable[[Provider], Provider] = lambda provider: provider,
    ids: Ids | None = None,
    clock: Clock | None = None,
) -> Host:
    """Hosts that share a store share `ids` too, which are unique for ever."""
    clock = clock or VirtualClock()
    return Host(
        store=store if store is not None else MemoryStore(now_s=clock.now_s),
        models=ScriptedModels(*providers, wrap=wrap),
        surroundings=Unseen(),
        clock=clock,
        ids=ids or CountingIds(),
        environ={},
        cwd=Path("/work"),
        config=config or Config(store="unused"),
    )
