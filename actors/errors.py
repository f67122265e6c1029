"""What can go wrong around an agent, split by what the caller can do.

ActorError (a CallboardError)
├── BadInput                 fix what was passed in
│   ├── BadAddress           a name that cannot be one
│   ├── BodyTooLarge         a message over 200,000 bytes
│   ├── UnknownRecipient     nobody has that name
│   ├── UnknownRequest       no request of that number is in the log
│   ├── BadTool              a function that cannot be a tool
│   ├── UnknownReminderSource / EmptyReminderBody / UnescapedReminderBody
│   └── ToolInputInvalid     arguments that do not fit the schema
├── MailboxFull              wait, or send less
├── ActorStopped             the recipient is gone
├── NotDelivered             a receipt ended as withdrawn, expired or dead
├── TurnFailed               the turn ended with an error
│   ├── TurnCancelled        somebody cancelled it
│   ├── LimitReached         steps, calls, tokens, cost or time of a turn
│   └── ResultInvalid        no value that fits the type asked for
├── RequestTooLarge          narrow the task: it does not fit the window
└── LogFailed                the store refused a record
    └── StaleWriter          another writer owns this session
"""

from providers.errors import CallboardError


class ActorError(CallboardError):
    """Base of everything that this room raises on its own account."""


class BadInput(ActorError):
    """What was passed in cannot be used as it is."""


class BadAddress(BadInput):
    """A name that cannot be an address."""


class BodyTooLarge(BadInput):
    """A message body over the limit."""


class UnknownRecipient(BadInput):
    """Nobody on this host has that name."""


class UnknownRequest(BadInput):
    """No request of this number is in an agent's log, which has `n_requests`."""

    def __init__(self, message: str, *, n_requests: int) -> None:
        super().__init__(message)
        self.n_requests = n_requests


class BadTool(BadInput):
    """A function that cannot be offered as a tool."""


class ToolInputInvalid(BadInput):
    """Arguments that do not fit a tool's schema; the text names path, wanted and got."""


class UnknownReminderSource(BadInput):
    """A reminder whose source is not in the registry."""

    code = "unknown_reminder_source"


class EmptyReminderBody(BadInput):
    """A reminder with nothing in it."""

    code = "empty_reminder_body"


class UnescapedReminderBody(BadInput):
    """A body that would close or open a reminder's tag."""

    code = "unescaped_reminder_body"


class MailboxFull(ActorError):
    """The recipient's mailbox has no free slot and the policy is to refuse."""


class ActorStopped(ActorError):
    """The agent does not run any more."""


class NotDelivered(ActorError):
    """The message ended as withdrawn, expired or dead; the text says why."""


class TurnFailed(ActorError):
    """The turn ended otherwise than done; `__cause__` is the error where one ended it."""

    def __init__(self, message: str, *, stop_reason: str, text: str = "") -> None:
        super().__init__(message)
        self.stop_reason = stop_reason
        self.text = text


class TurnCancelled(TurnFailed):
    """The turn was cancelled; `text` holds what had been said by then."""


class LimitReached(TurnFailed):
    """A limit of the turn was reached; `stop_reason` names it."""


class ResultInvalid(TurnFailed):
    """The agent gave no value of the type asked for; `text` is its last text."""


class RequestTooLarge(ActorError):
    """The request does not fit the window even after every reduction."""


class LogFailed(ActorError):
    """The store did not take a record; nothing after it counts."""


class StaleWriter(LogFailed):
    """Another writer owns the session now; this one must stop."""
