"""What can be set, where it was set, and what holds."""

from host.config.endpoints import endpoints
from host.config.load import load_config
from host.config.merge import ConfigFile, build_config
from host.config.model import IN_MEMORY, Config, Durability, MidConversationSystem, ProviderConfig

__all__ = [
    "IN_MEMORY",
    "Config",
    "ConfigFile",
    "Durability",
    "MidConversationSystem",
    "ProviderConfig",
    "build_config",
    "endpoints",
    "load_config",
]
