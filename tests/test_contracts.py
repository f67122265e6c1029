"""Concrete classes against their protocols, checked by mypy: one assignment for each.

Nothing inherits from a protocol, so this is where a drifting signature shows. The functions are never called.
"""

from actors.ports import Artifacts, Clock, Ids, Models, Permissions, Postbox, Spawner
from host.artifacts import StoredArtifacts
from host.clock import SystemClock
from host.ids import CountingIds, RandomIds
from host.models import ConfiguredModels
from host.permissions import PermissionBroker
from host.post import Post
from host.spawning import Spawning
from host.store.memory import MemoryStore
from host.store.ports import KeepingStore
from host.store.sqlite import SqliteStore
from host.surroundings import Machine, Surroundings, Unseen
from host.testing import VirtualClock
from providers.anthropic.provider import AnthropicProvider
from providers.correction import CorrectedCounter
from providers.local import LocalProvider
from providers.openai_chat.provider import OpenAIChatProvider
from providers.ports import Provider, TokenCounter
from providers.retry import Retrying
from providers.scripted import ScriptedProvider
from providers.tokens import EstimateCounter, TiktokenCounter


def providers(
    anthropic: AnthropicProvider,
    openai_chat: OpenAIChatProvider,
    local: LocalProvider,
    scripted: ScriptedProvider,
    retrying: Retrying,
) -> list[Provider]:
    return [anthropic, openai_chat, local, scripted, retrying]


def token_counters(
    ranks: TiktokenCounter, estimate: EstimateCounter, corrected: CorrectedCounter
) -> list[TokenCounter]:
    return [ranks, estimate, corrected]


def stores(memory: MemoryStore, sqlite: SqliteStore) -> list[KeepingStore]:
    return [memory, sqlite]


def surroundings(machine: Machine, unseen: Unseen) -> list[Surroundings]:
    return [machine, unseen]


def clocks(system: SystemClock, virtual: VirtualClock) -> list[Clock]:
    return [system, virtual]


def ids(random: RandomIds, counting: CountingIds) -> list[Ids]:
    return [random, counting]


def permissions(broker: PermissionBroker) -> list[Permissions]:
    return [broker]


def models(configured: ConfiguredModels) -> list[Models]:
    return [configured]


def artifacts(stored: StoredArtifacts) -> list[Artifacts]:
    return [stored]


def spawners(spawning: Spawning) -> list[Spawner]:
    return [spawning]


def postboxes(post: Post) -> list[Postbox]:
    return [post]
