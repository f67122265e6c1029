"""One part of a prefix, and the prefix that the parts become."""

from dataclasses import dataclass
from enum import StrEnum

from actors.errors import BadInput
from actors.history import Authority, Entry, Origin, authority_of


class GoesTo(StrEnum):
    """The role in which a section is sent."""

    SYSTEM = "system"
    META_USER = "meta_user"


class CacheHint(StrEnum):
    """Whether a section stays the same for the whole session or may differ from turn to turn."""

    STABLE = "stable"
    DYNAMIC = "dynamic"


# From the most to the least trusted; among equals of authority, what others may have written comes last.
_TRUST = (
    Origin.HOST,
    Origin.USER,
    Origin.COORDINATOR,
    Origin.PEER_AGENT,
    Origin.MODEL,
    Origin.SUMMARY,
    Origin.MEMORY,
    Origin.SKILL,
    Origin.PROJECT_FILE,
    Origin.TOOL,
    Origin.WEB,
)


def lowest_trust(origins: tuple[Origin, ...]) -> Origin:
    """The least trusted of several origins; the host's own where there is none."""
    return max(origins, key=_TRUST.index, default=Origin.HOST)


def goes_by_trust(origin: Origin) -> GoesTo:
    """System role for a text of the host or the user, user role for anybody else's."""
    return GoesTo.SYSTEM if authority_of(origin) >= Authority.USER else GoesTo.META_USER


@dataclass(frozen=True, slots=True)
class Section:
    """A titled text with where it goes, how long it holds, and the trust of what it quotes.

    `is_bare` leaves out the heading that is otherwise made of the title.

    Raises:
        BadInput: a text of less than the user's authority in system role.
    """

    source: str
    title: str
    body: str
    goes_to: GoesTo
    cache: CacheHint
    origin: Origin = Origin.HOST
    is_bare: bool = False

    def __post_init__(self) -> None:
        if self.goes_to is GoesTo.SYSTEM and goes_by_trust(self.origin) is not GoesTo.SYSTEM:
            raise BadInput(
                f"section {self.source!r} quotes {self.origin} text; only host and user texts"
                " may be sent in system role"
            )

    @property
    def text(self) -> str:
        return self.body if self.is_bare else f"# {self.title}\n{self.body}"


class Form(StrEnum):
    """What became of a section."""

    FULL = "full"
    SHORT = "short"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class SectionReport:
    """Size of one section; of a dropped one, the size that it would have had.

    `reason` says why it is short or dropped.
    """

    source: str
    title: str
    goes_to: GoesTo
    cache: CacheHint
    origin: Origin
    n_characters: int
    n_tokens: int
    form: Form = Form.FULL
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Prefix:
    """The head of a history, and what it is made of, in the order of sending; dropped sections come last."""

    entries: tuple[Entry, ...]
    sections: tuple[SectionReport, ...]
