"""What an agent would send next, as one word: equal words, equal requests."""

import hashlib

from actors.projection import Projection, ProjectionOptions, Projector, project
from actors.records import PrefixBuilt
from actors.state import AgentFold
from providers.model import Message
from providers.scripted import SCRIPTED_PROFILE

_NOTHING = PrefixBuilt((), ())


def projected(fold: AgentFold) -> Projection:
    """The next request of this state, made from nothing."""
    built = fold.built or _NOTHING
    return project((*built.prefix, *fold.history), options_of(fold))


def options_of(fold: AgentFold) -> ProjectionOptions:
    built = fold.built or _NOTHING
    return ProjectionOptions(
        mid_conversation_system=SCRIPTED_PROFILE.mid_conversation_system,
        apply_cache_control=SCRIPTED_PROFILE.cache_marks,
        model=SCRIPTED_PROFILE.name,
        tools=built.tools,
        sees_images=SCRIPTED_PROFILE.images,
    )


def digest(messages: tuple[Message, ...]) -> str:
    return hashlib.blake2b(repr(messages).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


class Sayings:
    """What agents would say, each step at the price of what is new in it."""

    def __init__(self) -> None:
        self._projectors: dict[str, Projector] = {}

    def says(self, agent_id: str, fold: AgentFold) -> str:
        built = fold.built or _NOTHING
        projector = self._projectors.setdefault(agent_id, Projector())
        return digest(projector.project((*built.prefix, *fold.history), options_of(fold)).messages)
