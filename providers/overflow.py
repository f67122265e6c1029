"""How providers word that a request is larger than the model's window.

Data, so that a new wording is one line. Rate limits are tested first: they
speak of tokens as well ("too many tokens, please wait").
"""

import re

RATE_LIMIT_PHRASES: tuple[str, ...] = (
    r"rate[ _-]?limit",
    r"too many requests",
    r"\bper (minute|second|hour|day)\b",
    r"\b[tr]p[mds]\b",
    r"throttl",
    r"please wait before trying again",
    r"quota exceeded",
)

OVERFLOW_PHRASES: tuple[tuple[str, str], ...] = (
    ("anthropic", r"prompt is too long"),
    ("anthropic", r"request_too_large"),
    ("anthropic", r"model_context_window_exceeded"),
    ("openai", r"context_length_exceeded"),
    ("openai", r"exceeds the context window"),
    ("openai, deepseek, vllm, openrouter", r"maximum context length (is|of)"),
    ("vllm, together", r"longer than the model'?s context length"),
    ("llama.cpp", r"exceed_context_size_error"),
    ("llama.cpp", r"exceeds the available context size"),
    ("lm studio", r"greater than the context length"),
    ("ollama", r"exceeded (max(imum)? )?context length"),
    ("ollama", r"input length exceeds the context length"),
    ("groq", r"reduce the length of the (messages|prompt|input)"),
    ("mistral", r"too large for model with \d+ maximum context"),
    ("mistral", r"exceeds the (model'?s )?maximum context length"),
    ("xai", r"maximum prompt length is \d+"),
    ("kimi", r"exceeded model token limit"),
    ("minimax", r"context window exceeds limit"),
    ("together", r"tokens \+ `?max_new_tokens`? must be <="),
    ("bedrock", r"input is too long for requested model"),
    ("google", r"input token count .{0,40}(exceeds the maximum|only supports up to)"),
    ("copilot", r"prompt token count .{0,40}exceeds the limit"),
    ("any", r"context (length|window|size) (was |is )?exceeded"),
)

_RATE_LIMIT = re.compile("|".join(RATE_LIMIT_PHRASES), re.IGNORECASE)
_OVERFLOW = re.compile("|".join(f"(?:{phrase})" for _, phrase in OVERFLOW_PHRASES), re.IGNORECASE)


def says_rate_limit(text: str) -> bool:
    """Whether an error's words speak of a rate limit."""
    return _RATE_LIMIT.search(text) is not None


def says_overflow(text: str) -> bool:
    """Whether an error's words say that the request does not fit the window."""
    return not says_rate_limit(text) and _OVERFLOW.search(text) is not None
