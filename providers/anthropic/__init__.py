"""Anthropic Messages: what goes out, what comes back, and the provider around both."""

from providers.anthropic.decode import AnthropicDecoder
from providers.anthropic.encode import encode
from providers.anthropic.provider import AnthropicProvider

__all__ = ["AnthropicDecoder", "AnthropicProvider", "encode"]
