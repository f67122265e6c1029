"""The request as a whole, which its caller has to see to."""

from providers.legality.finding import Finding, Found, a, leading_system
from providers.model import Dialect, ModelProfile, Request, Role

MAX_ANTHROPIC_MESSAGES = 100_000


def number_of_messages(request: Request, dialect: Dialect, profile: ModelProfile) -> Found:
    """Anthropic: at most 100,000 messages in one request [docs]."""
    if dialect is Dialect.ANTHROPIC and len(request.messages) > MAX_ANTHROPIC_MESSAGES:
        text = f"{len(request.messages):,} messages; {MAX_ANTHROPIC_MESSAGES:,} are allowed"
        yield Finding("too_many_messages", None, text, "request")


def request_as_a_whole(request: Request, dialect: Dialect, profile: ModelProfile) -> Found:
    """Not empty, a user first, no assistant last.

    All: "messages: at least one message is required". Anthropic: "first
    message must use the user role", and newer models refuse a final
    assistant message (a prefill).
    """
    spoken = request.messages[leading_system(request) :]
    if not spoken:
        yield Finding("empty_request", None, "there is no message but system messages", "request")
        return
    if dialect is Dialect.ANTHROPIC and spoken[0].role is not Role.USER:
        at = leading_system(request)
        yield Finding("first_role", at, f"{a(spoken[0].role)} message comes first, not a user's", "request")
    last = next((m for m in reversed(spoken) if m.role is not Role.SYSTEM), None)
    if last is not None and last.role is Role.ASSISTANT:
        at = len(request.messages) - 1
        yield Finding("assistant_last", at, "an assistant message comes last", "request")
