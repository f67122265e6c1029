"""What is asked about a history, and what is answered."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from actors.projection import RepairRule
from providers.model import Dialect, ModelProfile

Kind: TypeAlias = Literal["history", "request", "reading"]


@dataclass(frozen=True, slots=True)
class Question:
    """By whose rules to judge.

    `dialects` are those that were asked for. Where none was, those that the
    chosen model speaks (`spoken`) count, else what the file itself is in.
    `profile_of` gives the facts of a model in a dialect; the name is the one
    that the file gives, None where it gives none.
    """

    profile_of: Callable[[Dialect, str | None], ModelProfile]
    dialects: tuple[Dialect, ...] = ()
    spoken: tuple[Dialect, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """A line of the file, counted from 1, and the path from the top of the document on it."""

    line: int
    path: str


@dataclass(frozen=True, slots=True)
class Complaint:
    """Something that is wrong with one message, or (role None) with what stands around them.

    Kind `history` is about what a message holds, `request` about the request
    as a whole, which is its sender's business; `reading` could not be
    understood. `dialects` refuse it; none where it only was not judged.
    `at` is the number of the entry and `within` its place, None where it is
    about no single one; `place` may be that of a part of it.
    """

    place: Place
    role: str | None
    kind: Kind
    dialects: tuple[Dialect, ...]
    rule: str
    text: str
    at: int | None
    within: Place | None


@dataclass(frozen=True, slots=True)
class RepairLine:
    """What the projector does to one entry before it sends it, `n_times`, for these dialects."""

    place: Place
    role: str
    dialects: tuple[Dialect, ...]
    rule: RepairRule
    text: str
    at: int
    n_times: int = 1


@dataclass(frozen=True, slots=True)
class Report:
    """All about one history.

    `format` is what it was read as, None for a case of our own. `remaining`
    is what a dialect still refuses behind the repair; `failure` says why there
    could be none. `n_repaired` is the number of entries that repair touches.
    """

    name: str | None
    place: Place
    format: Dialect | None
    is_request: bool
    dialects: tuple[Dialect, ...]
    models: tuple[str, ...]
    n_messages: int
    complaints: tuple[Complaint, ...]
    repairs: tuple[RepairLine, ...]
    n_repaired: int
    remaining: tuple[Complaint, ...]
    failure: str | None = None

    def counts(self, complaint: Complaint) -> bool:
        """Would it be refused? Conditions on whole requests count only where one is sent as it stands."""
        return bool(complaint.dialects) and (complaint.kind != "request" or self.is_request)

    @property
    def is_refused(self) -> bool:
        """Would one of the dialects refuse something of it?"""
        return any(map(self.counts, self.complaints))
