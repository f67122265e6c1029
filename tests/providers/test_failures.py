import json

import pytest

from providers.errors import (
    AccessDenied,
    AuthenticationFailed,
    ContentRefused,
    ContextOverflow,
    ModelNotFound,
    ProtocolMismatch,
    ProviderError,
    RateLimited,
    RequestRejected,
    RetryableError,
    ServerFailed,
)
from providers.failures import Asked, http_failure, retry_after_s, stream_failure
from providers.reading import JsonObject

SECRET = "sk-very-secret"
ASKED = Asked("box", "http://box/v1/messages", SECRET)


def anthropic(kind: str, message: str = "no") -> JsonObject:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def openai(
    message: str = "no", kind: str = "invalid_request_error", code: str | int | None = None
) -> JsonObject:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def failure(status: int, body: JsonObject | bytes, **headers: str) -> ProviderError:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return http_failure(ASKED, status, {k.replace("_", "-"): v for k, v in headers.items()}, raw, 0.0)


@pytest.mark.parametrize(
    ("status", "body", "want"),
    [
        (400, anthropic("invalid_request_error"), RequestRejected),
        (401, anthropic("authentication_error"), AuthenticationFailed),
        (402, anthropic("billing_error"), AccessDenied),
        (403, anthropic("permission_error"), AccessDenied),
        (404, anthropic("not_found_error", "model: claude-0"), ModelNotFound),
        (408, anthropic("timeout_error"), ServerFailed),
        (409, anthropic("conflict_error"), ServerFailed),
        (413, anthropic("request_too_large"), ContextOverflow),
        (422, openai(), RequestRejected),
        (429, anthropic("rate_limit_error"), RateLimited),
        (500, anthropic("api_error"), ServerFailed),
        (529, anthropic("overloaded_error"), ServerFailed),
        (401, openai(code="invalid_api_key"), AuthenticationFailed),
        (404, openai("The model `gpt-0` does not exist", code="model_not_found"), ModelNotFound),
        (400, openai("Model Not Exist"), ModelNotFound),
        (404, {"detail": "Not Found"}, ProtocolMismatch),
        (405, {"detail": "Method Not Allowed"}, ProtocolMismatch),
        (
            429,
            openai("You exceeded your current quota", "insufficient_quota", "insufficient_quota"),
            AccessDenied,
        ),
        (429, openai("slow down", "requests", "rate_limit_exceeded"), RateLimited),
        (400, openai("refused", code="content_filter"), ContentRefused),
        (503, {"error": "upstream is away"}, ServerFailed),
        (400, {"object": "error", "message": "bad", "type": "BadRequestError", "code": 400}, RequestRejected),
        (422, {"detail": [{"msg": "field required"}]}, RequestRejected),
        (500, [], ServerFailed),
    ],
)
def test_statuses_and_bodies_have_their_error(
    status: int, body: JsonObject, want: type[ProviderError]
) -> None:
    assert type(failure(status, body)) is want


OVERFLOWS: list[tuple[int, JsonObject]] = [
    (400, anthropic("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")),
    (400, openai("too long", code="context_length_exceeded")),
    (400, openai("Your input exceeds the context window of this model.")),
    (400, openai("This model's maximum context length is 65536 tokens. However, you requested 70000 tokens")),
    (400, openai("This endpoint's maximum context length is 131072 tokens.", code=400)),
    (400, {"error": {"code": 400, "type": "exceed_context_size_error", "n_ctx": 8192, "message": "too big"}}),
    (400, openai("The input (1492905 tokens) is longer than the model's context length (1048576 tokens).")),
    (400, openai("tokens to keep from the initial prompt is greater than the context length")),
    (500, {"error": "prompt too long; exceeded max context length by 12 tokens"}),
    (400, openai("Please reduce the length of the messages or completion.")),
    (400, openai("Prompt contains 40000 tokens, too large for model with 32768 maximum context length")),
    (400, {"error": "This model's maximum prompt length is 131072 but the request contains 537812 tokens."}),
    (400, openai("Invalid request: Your request exceeded model token limit: 262144 (requested: 269030)")),
    (400, anthropic("invalid_request_error", "invalid params, context window exceeds limit (2013)")),
    (400, openai("`inputs` tokens + `max_new_tokens` must be <= 8193.")),
    (400, openai("The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).")),
    (400, openai("the input token count is 32825 but model only supports up to 32768")),
]


@pytest.mark.parametrize(("status", "body"), OVERFLOWS)
def test_every_wording_of_an_overflow_is_one(status: int, body: JsonObject) -> None:
    assert type(failure(status, body)) is ContextOverflow


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (413, openai("Request too large on tokens per minute (TPM): Limit 6000, Requested 7000", "tokens")),
        (400, openai("Too many tokens, please wait before trying again.")),
        (400, openai("ThrottlingException: input is too long for requested model")),
    ],
)
def test_a_rate_limit_that_speaks_of_tokens_is_no_overflow(status: int, body: JsonObject) -> None:
    assert type(failure(status, body)) is RateLimited


HTML = b"<!DOCTYPE html><html><body><h1>Welcome to nginx!</h1></body></html>"


@pytest.mark.parametrize("status", [301, 400, 404])
def test_html_says_what_came_and_from_where(status: int) -> None:
    error = failure(status, HTML, content_type="text/html")
    assert type(error) is ProtocolMismatch
    assert "http://box/v1/messages" in str(error)
    assert "Welcome to nginx" in str(error)


def test_a_redirect_says_where_to() -> None:
    assert "https://elsewhere/" in str(failure(308, b"", location="https://elsewhere/"))


@pytest.mark.parametrize(
    ("status", "want"),
    [(502, ServerFailed), (503, ServerFailed), (429, RateLimited), (401, AuthenticationFailed)],
)
def test_html_of_a_gateway_keeps_the_meaning_of_its_status(status: int, want: type[ProviderError]) -> None:
    assert type(failure(status, HTML)) is want


def test_a_gateway_without_json_can_still_say_how_long_to_wait() -> None:
    error = failure(503, HTML, retry_after="7")
    assert isinstance(error, RetryableError)
    assert error.retry_after_s == 7


def test_messages_name_provider_status_reason_and_request() -> None:
    error = failure(429, anthropic("rate_limit_error", "slow down"), request_id="req_9")
    assert str(error) == "box answered 429 Too Many Requests: slow down (request req_9)"
    assert (error.status, error.request_id) == (429, "req_9")


def test_the_request_id_of_the_body_serves_where_no_header_has_one() -> None:
    assert failure(400, anthropic("invalid_request_error")).request_id == "req_1"


def test_a_key_that_a_server_echoes_is_not_shown() -> None:
    for body in (openai(f"wrong key {SECRET}"), f"<html>{SECRET}".encode()):
        for status in (401, 404):
            assert SECRET not in str(failure(status, body))


def test_a_long_reason_is_cut_and_stays_on_one_line() -> None:
    error = failure(400, openai("a\n\x1b[31m" + "x" * 10_000))
    assert len(str(error)) < 400
    assert str(error).isprintable()


@pytest.mark.parametrize(
    ("headers", "want"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:01:40 GMT"}, 90.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "later"}, None),
        ({"retry-after": ""}, None),
    ],
)
def test_retry_after_is_read_in_each_of_its_forms(headers: dict[str, str], want: float | None) -> None:
    assert retry_after_s(headers, now_s=10.0) == want


def test_the_wait_and_the_wish_of_a_provider_stand_in_the_error() -> None:
    error = failure(429, openai(), retry_after="3", x_should_retry="false")
    assert isinstance(error, RateLimited)
    assert (error.retry_after_s, error.should_retry) == (3.0, False)


def test_a_rejected_request_that_should_be_retried_is_retryable() -> None:
    error = failure(400, openai(), x_should_retry="true")
    assert isinstance(error, ServerFailed)
    assert error.should_retry is True


def test_an_overflow_is_never_retried_whatever_the_header_says() -> None:
    assert type(failure(*OVERFLOWS[0], x_should_retry="true")) is ContextOverflow


@pytest.mark.parametrize(
    ("payload", "want"),
    [
        (anthropic("overloaded_error", "Overloaded"), ServerFailed),
        (anthropic("rate_limit_error"), RateLimited),
        (anthropic("invalid_request_error"), RequestRejected),
        (anthropic("something_new"), ServerFailed),
        ({"error": {"code": 429, "message": "Provider returned error"}}, RateLimited),
        ({"error": {"code": 502, "message": "Upstream"}, "choices": []}, ServerFailed),
        (openai("This model's maximum context length is 10 tokens"), ContextOverflow),
        ({"error": "out of memory"}, ServerFailed),
        ({}, ServerFailed),
    ],
)
def test_errors_inside_a_stream_have_their_error(payload: JsonObject, want: type[ProviderError]) -> None:
    error = stream_failure(ASKED, payload, "req_2")
    assert type(error) is want
    assert "in the middle" in str(error)
