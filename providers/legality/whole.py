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
    """Not empty; for Anthropic a user first and no assistant last.

    Anthropic: "messages: at least one message is required", beside the system
    prompt; "first message must use the user role", and newer models refuse a
    final assistant message (a prefill); a system message behind it has a rule
    of its own. OpenAI takes any message first and last, and Chat Completions
    [sdk] system messages alone; Responses wants input beside its instructions.
    """
    spoken = request.messages[leading_system(request) :]
    if not (request.messages if dialect is Dialect.OPENAI_CHAT else spoken):
        yield Finding("empty_request", None, "there is no message but system messages", "request")
    if dialect is not Dialect.ANTHROPIC or not spoken:
        return
    if spoken[0].role is not Role.USER:
        at = leading_system(request)
        yield Finding("first_role", at, f"{a(spoken[0].role)} message comes first, not a user's", "request")
    if spoken[-1].role is Role.ASSISTANT:
        at = len(request.messages) - 1
        text = "an assistant message comes last, which newer models refuse"
        yield Finding("assistant_last", at, text, "request")
