"""Hosts in memory that ask a canned model."""

from dataclasses import dataclass, replace
from pathlib import Path

from actors.ports import ResolvedModel
from benchmarks.canned import CannedModel
from host.clock import SystemClock
from host.config import Config
from host.host import Host
from host.ids import RandomIds
from host.store.memory import MemoryStore
from host.store.ports import Store
from host.surroundings import Unseen
from providers.correction import CorrectedCounter
from providers.scripted import SCRIPTED_PROFILE
from providers.tokens import EstimateCounter

# Every history here fits easily, so that none is counted a second time for being large.
_ROOMY = replace(SCRIPTED_PROFILE, window_tokens=40_000_000)


@dataclass(frozen=True, slots=True)
class _OneModel:
    """Whatever name is asked for; one counter for all, as a host keeps it. `actors.ports.Models`."""

    model: ResolvedModel

    def resolve(self, name: str | None) -> ResolvedModel:
        return self.model

    async def sharpen(self, model: ResolvedModel) -> ResolvedModel:
        return model


def host_of(model: CannedModel, store: Store | None = None) -> Host:
    return Host(
        store=store if store is not None else MemoryStore(),
        models=_OneModel(ResolvedModel(model.name, model, _ROOMY, CorrectedCounter(EstimateCounter()))),
        surroundings=Unseen(),
        clock=SystemClock(),
        ids=RandomIds(),
        environ={},
        cwd=Path("/work"),
        config=Config(store="unused"),
    )
