"""From what a provider answered instead of an answer to the error that says what to do.

Statuses, codes and wordings differ by provider; `classify` looks at them in
an order in which the more telling one wins. Pure: the clock is passed in.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http import HTTPStatus

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
from providers.overflow import says_overflow, says_rate_limit
from providers.reading import JsonObject, index_at, joined_surrogates, object_at, parse_json, text_at

_MAX_SHOWN = 300
_STATUS_OF_TYPE = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "conflict_error": 409,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "api_error": 500,
    "server_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
_NO_CREDIT = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}
_BAD_KEY = {"invalid_api_key", "invalid_authentication"}
_REFUSED = {"content_filter", "content_policy_violation"}
_UNKNOWN_MODEL = re.compile(
    r"model\b.{0,120}\b(not exist|not found|unknown)|(unknown|no such|invalid) model\b",
    re.IGNORECASE | re.DOTALL,
)
_OUTAGES = {408, 409, 425}
_TELLING = {401, 402, 403, 413, 429} | _OUTAGES


@dataclass(frozen=True, slots=True)
class Asked:
    """Who was asked, where, and what must not be shown. `url` is shown as it is."""

    who: str
    url: str
    secret: str | None = None


@dataclass(frozen=True, slots=True)
class _Said:
    """What a provider said, in one form for all of them."""

    message: str
    kind: str = ""
    code: str = ""
    status: int | None = None
    request_id: str | None = None

    @property
    def words(self) -> str:
        return f"{self.kind} {self.code} {self.message}"


def http_failure(
    asked: Asked, status: int, headers: Mapping[str, str], body: bytes, now_s: float
) -> ProviderError:
    """The error for an answer whose status is not 200; header names in lower case."""
    request_id = request_id_of(headers)
    said = _read(body)
    if said is None:
        return _strange(asked, status, headers, body, now_s)
    error = _classify(asked, said, status, request_id or said.request_id)
    return _with_headers(error, headers, now_s)


def stream_failure(asked: Asked, payload: JsonObject, request_id: str | None) -> ProviderError:
    """The error for an error event in a stream that began with 200."""
    said = _said(payload)
    kinds = (said.kind, said.code)
    status = said.status or next((_STATUS_OF_TYPE[kind] for kind in kinds if kind in _STATUS_OF_TYPE), 500)
    return _classify(asked, said, status, request_id or said.request_id, in_stream=True)


def wrong_content(asked: Asked, headers: Mapping[str, str], body: bytes) -> ProtocolMismatch:
    """The error for a 200 that is no stream of events."""
    kind = headers.get("content-type", "no content type").split(";")[0]
    return ProtocolMismatch(
        f"{asked.who}: {asked.url} answered with {kind} where a stream of events belongs"
        f" ({_shown(asked, _start(body))}); is the base URL right?",
        status=200,
        request_id=request_id_of(headers),
    )


def request_id_of(headers: Mapping[str, str]) -> str | None:
    """What the provider's support wants to know."""
    return headers.get("request-id") or headers.get("x-request-id")


def retry_after_s(headers: Mapping[str, str], now_s: float) -> float | None:
    """The wait that the headers ask for: milliseconds, seconds or an HTTP date."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now_s)
    except (ValueError, OverflowError):
        return None


def _classify(
    asked: Asked, said: _Said, status: int, request_id: str | None, *, in_stream: bool = False
) -> ProviderError:
    kind = _class_of(said, status)
    head = "reported an error in the middle of its answer" if in_stream else f"answered {_phrase(status)}"
    reason = _shown(asked, said.message) or said.kind or "no reason given"
    where = f"; is the base URL right? {asked.url}" if kind is ProtocolMismatch else ""
    tail = f" (request {request_id})" if request_id else ""
    return kind(f"{asked.who} {head}: {reason}{where}{tail}", status=status, request_id=request_id)


def _class_of(said: _Said, status: int) -> type[ProviderError]:
    """The first rule that fits; more telling ones come first."""
    codes = {said.kind, said.code}
    if codes & _NO_CREDIT or status == 402:
        return AccessDenied
    if status == 429 or (says_rate_limit(said.words) and status < 500 and status not in (401, 403)):
        return RateLimited
    if says_overflow(said.words) or status == 413:
        return ContextOverflow
    if codes & _REFUSED:
        return ContentRefused
    if status == 401 or codes & _BAD_KEY:
        return AuthenticationFailed
    if status == 403:
        return AccessDenied
    if status >= 500 or status in _OUTAGES:
        return ServerFailed
    return _rejected(said, status, codes)


def _rejected(said: _Said, status: int, codes: set[str]) -> type[ProviderError]:
    if "model_not_found" in codes or _UNKNOWN_MODEL.search(said.message):
        return ModelNotFound
    if status == 404 and "not_found_error" in codes:
        return ModelNotFound
    if status in (404, 405):
        return ProtocolMismatch
    return RequestRejected


def _with_headers(error: ProviderError, headers: Mapping[str, str], now_s: float) -> ProviderError:
    wish = {"true": True, "false": False}.get(headers.get("x-should-retry", "").lower())
    if wish is True and type(error) is RequestRejected:
        error = ServerFailed(str(error), status=error.status, request_id=error.request_id)
    if isinstance(error, RetryableError):
        error.should_retry = wish
        error.retry_after_s = retry_after_s(headers, now_s)
    return error


def _strange(
    asked: Asked, status: int, headers: Mapping[str, str], body: bytes, now_s: float
) -> ProviderError:
    """A body that is no JSON comes from something before the provider, or from another kind of server."""
    request_id = request_id_of(headers)
    start = _start(body) or "an empty body"
    if status in _TELLING or status >= 500:
        return _with_headers(_classify(asked, _Said(start), status, request_id), headers, now_s)
    location = headers.get("location")
    came = f"a redirect to {location}" if location and status < 400 else start
    return ProtocolMismatch(
        f"{asked.who}: {asked.url} answered {_phrase(status)} with {_shown(asked, came)};"
        " is the base URL right?",
        status=status,
        request_id=request_id,
    )


def _read(body: bytes) -> _Said | None:
    try:
        value = parse_json(body.decode("utf-8", "replace"))
    except ValueError:
        return None
    if isinstance(value, list) and value:
        value = value[0]
    return _said(value) if isinstance(value, dict) else None


def _said(payload: JsonObject) -> _Said:
    error = payload.get("error")
    inner: JsonObject = error if isinstance(error, dict) else payload
    message = error if isinstance(error, str) else text_at(inner, "message") or _detail(payload)
    code = inner.get("code")
    return _Said(
        message=message,
        kind=text_at(inner, "type") if inner.get("type") != "error" else "",
        code=code if isinstance(code, str) else "",
        status=_status(inner),
        request_id=text_at(payload, "request_id") or None,
    )


def _status(inner: JsonObject) -> int | None:
    for key in ("code", "status", "status_code"):
        number = index_at(inner, key)
        if number is not None and 400 <= number < 600:
            return number
    return None


def _detail(payload: JsonObject) -> str:
    detail = payload.get("detail")
    if isinstance(detail, list) and detail and isinstance(detail[0], dict):
        return text_at(detail[0], "msg")
    return detail if isinstance(detail, str) else text_at(object_at(payload, "detail"), "message")


def _phrase(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def _start(body: bytes) -> str:
    return body[: 4 * _MAX_SHOWN].decode("utf-8", "replace")


def _shown(asked: Asked, text: str) -> str:
    """One line of bearable length, without the key."""
    if asked.secret:
        text = text.replace(asked.secret, "***")
    line = joined_surrogates(" ".join(text.split()))
    line = "".join(character if character.isprintable() else "\ufffd" for character in line)
    return line if len(line) <= _MAX_SHOWN else line[: _MAX_SHOWN - 1] + "…"


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return max(0.0, number) if math.isfinite(number) else None
