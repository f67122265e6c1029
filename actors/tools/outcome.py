"""What the model reads about a call that did not end well."""

from actors.history import ResultStatus
from providers.errors import CallboardError
from providers.model import Block, TextBlock

_STOPPED = {
    ResultStatus.NOT_STARTED: "The turn was stopped before this call began. It had no effect.",
    ResultStatus.CANCELLED: "The call was stopped while it ran. It only reads, so it changed nothing.",
    ResultStatus.INTERRUPTED: (
        "The call was stopped while it ran. It may have had effects; look before you repeat it."
    ),
}


def stopped_content(status: ResultStatus) -> str:
    """The text of a call that was stopped: not_started, cancelled or interrupted."""
    return _STOPPED[status]


def failure_text(error: BaseException) -> str:
    """Our own errors in their words, which are written to be read; others with their type."""
    if isinstance(error, CallboardError):
        return str(error)
    if isinstance(error, BaseExceptionGroup):
        return "\n".join(failure_text(part) for part in error.exceptions)
    return f"{type(error).__name__}: {error}"


def well_formed(content: str | tuple[Block, ...]) -> str | tuple[Block, ...]:
    """The content without lone surrogates, which no request and no log could hold."""
    if isinstance(content, str):
        return _well_formed(content)
    return tuple(
        TextBlock(_well_formed(block.text)) if isinstance(block, TextBlock) else block for block in content
    )


def _well_formed(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        pass
    else:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
