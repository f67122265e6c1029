"""The answer that is asked for: its form and its length. The caller has to see to both."""

import re

from providers.legality.finding import Finding, Found
from providers.legality.tools import subschemas
from providers.model import Dialect, ModelProfile, Request

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def output_schema(request: Request, dialect: Dialect, profile: ModelProfile) -> Found:
    """Anthropic: "For 'object' type, 'additionalProperties' must be explicitly set to false".

    OpenAI: the root is an object and no choice between several [docs]; its
    strict mode wants every object closed too, but a schema that is not can be
    sent without it. A provider that knows no schemas at all gets none.
    """
    if request.output is None:
        return
    schema = request.output.schema
    if not profile.structured_output:
        text = f"{profile.name} cannot hold an answer to a schema"
        yield Finding("output_unsupported", None, text, "request")
    elif dialect is Dialect.ANTHROPIC:
        for part in subschemas(schema):
            if part.get("type") == "object" and part.get("additionalProperties") is not False:
                yield Finding("output_open", None, "the answer's schema has an open object", "request")
    elif schema.get("type") != "object" or "anyOf" in schema:
        yield Finding("output_root", None, "the root of the answer's schema is not one object", "request")


def output_name(request: Request, dialect: Dialect, profile: ModelProfile) -> Found:
    """OpenAI: the name of a schema is up to 64 letters, digits, `_`, `-` [sdk]. Anthropic has no names."""
    if request.output is None or dialect is Dialect.ANTHROPIC or not profile.structured_output:
        return
    if not _NAME.fullmatch(request.output.name):
        text = f"the schema's name {request.output.name!r} has a form that is refused"
        yield Finding("output_name", None, text, "request")


def output_limit(request: Request, dialect: Dialect, profile: ModelProfile) -> Found:
    """Anthropic: "max_tokens: … > …, which is the maximum allowed number of output tokens"; OpenAI likewise.

    Of a model that nobody knows the limit is a guess, so nothing is found.
    """
    limit = request.max_output_tokens
    if limit is None:
        return
    if limit < 0:
        yield Finding("output_limit", None, f"an answer of {limit:,} tokens is asked for", "request")
    elif limit > profile.max_output_tokens and not profile.is_assumed:
        text = f"{limit:,} output tokens; {profile.name} gives up to {profile.max_output_tokens:,}"
        yield Finding("output_limit", None, text, "request")
