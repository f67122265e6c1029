"""What can go wrong with an export, split by what the caller can do.

HostError
├── ExportInvalid    get another copy of the file: this one is none, or not as it was written
├── ExportTooLarge   a part of the session is larger than a line of an export may be
└── AlreadyThere     the store has the session, or one of its agents; nothing was changed
"""

from host.errors import HostError


class ExportInvalid(HostError):
    """No export, a cut-off or altered one, or one of a newer version; the text names the line."""


class ExportTooLarge(HostError):
    """A record or artifact that no line can hold; the text names it."""


class AlreadyThere(HostError):
    """The store holds an agent of this id."""
