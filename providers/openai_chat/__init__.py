"""OpenAI Chat Completions: what goes out, what comes back, and the provider around both."""

from providers.openai_chat.decode import ChatDecoder
from providers.openai_chat.encode import encode
from providers.openai_chat.provider import OpenAIChatProvider

__all__ = ["ChatDecoder", "OpenAIChatProvider", "encode"]
