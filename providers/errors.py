"""What can go wrong with a model, split by what the caller can do.

    CallboardError                    everything that the three rooms raise on their own account
    ├── CatalogError                  a model profile that is not one: fix the configuration
    ├── RanksUnavailable              no token ranks: count by estimate
    ├── InstallFailed                 the local model could not be installed
    └── ProviderError
        ├── RetryableError            wait and try again
        │   ├── RateLimited           … not before retry_after_s
        │   ├── ServerFailed          5xx, overloaded
        │   ├── ConnectionFailed      refused, reset, no such host
        │   ├── ProviderTimeout       no byte for too long
        │   └── StreamBroken          the stream ended without its end marker
        ├── ContextOverflow           compact
        ├── RequestRejected           fix the request
        │   ├── IllegalRequest        our own check found a broken wire rule
        │   └── ModelNotFound         no such model
        └── ProviderUnusable          give up, or ask a person
            ├── AuthenticationFailed  missing or wrong key
            ├── AccessDenied          billing or permission
            ├── ContentRefused        the provider will not answer this
            ├── LocalModelMissing     weights or server of the local model are not installed
            ├── ScriptExhausted       a scripted model has no answer left: write the test on
            └── ProtocolMismatch      what answered does not speak the format

Messages name the provider, the status and the request id, never a key.
"""


class CallboardError(Exception):
    """Root of every error of the three rooms; the command line prints its text and nothing else."""


class CatalogError(CallboardError):
    """A model profile has an unknown or ill-typed field."""


class RanksUnavailable(CallboardError):
    """The token ranks are missing or damaged; the estimate still counts."""


class InstallFailed(CallboardError):
    """The local model could not be installed; the text holds the installer's own last words."""


class ProviderError(CallboardError):
    """A model could not be asked or did not answer.

    `status` is the HTTP status where there was one; `request_id` is what a
    provider's support asks for.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.request_id = request_id


class RetryableError(ProviderError):
    """The same request may succeed later.

    `retry_after_s` is the wait that the provider asked for; `should_retry`
    is its explicit word (`x-should-retry`), None where it said nothing.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        request_id: str | None = None,
        retry_after_s: float | None = None,
        should_retry: bool | None = None,
    ) -> None:
        super().__init__(message, status=status, request_id=request_id)
        self.retry_after_s = retry_after_s
        self.should_retry = should_retry


class RateLimited(RetryableError):
    """Too many requests or tokens in a span of time."""


class ServerFailed(RetryableError):
    """The provider failed or is overloaded."""


class ConnectionFailed(RetryableError):
    """No connection to the provider, or it was lost before an answer began."""


class ProviderTimeout(RetryableError):
    """No byte came for longer than the idle limit."""


class StreamBroken(RetryableError):
    """The answer's stream ended without its end marker."""


class ContextOverflow(ProviderError):
    """The request is larger than the model's window."""


class RequestRejected(ProviderError):
    """The provider calls the request wrong; sending it again cannot help."""


class IllegalRequest(RequestRejected):
    """The request breaks a wire rule; found before or instead of sending it."""


class ModelNotFound(RequestRejected):
    """The provider does not know the model."""


class ProviderUnusable(ProviderError):
    """Nothing that the program does can make this work; a person has to."""


class AuthenticationFailed(ProviderUnusable):
    """The key is missing or wrong."""


class AccessDenied(ProviderUnusable):
    """The key is known, but billing or permissions forbid the request."""


class ContentRefused(ProviderUnusable):
    """The provider will not answer this content."""


class ProtocolMismatch(ProviderUnusable):
    """What answered does not speak the wire format (HTML instead of JSON, say)."""


class LocalModelMissing(ProviderUnusable):
    """The server or the weights of the local model are not installed."""


class ScriptExhausted(ProviderUnusable):
    """A scripted model was asked more often than its script answers."""
