"""What goes into a projection and what comes out; and the pieces that the stages pass on."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from operator import attrgetter
from typing import Final

from actors.history import ResultStatus
from actors.reminders import Presenter, TextPresenter
from providers.model import CacheMark, Message, Role, ToolSpec


@dataclass(frozen=True, slots=True)
class ProjectionOptions:
    """What the model, the configuration and the log say about this request.

    `mid_conversation_system`: reminders may become system messages where they
    stand. `peers_may_use_system_role`: bodies of lesser authority may as well.
    `apply_cache_control`: one mark on the last message; with `skip_cache_write`
    on the one before it. `call_status` is what the log knows of calls that
    have no result: not started, interrupted, cancelled; a call that it does
    not name has an unknown outcome. `model` is the model that will read the
    request: reasoning of another one is left out; None keeps all of it.
    `tools` is what the model is told of its tools, and `sees_images` whether
    pictures go out or words in their place: sealed thinking is bound to both, as
    to everything else that stands before it.

    `as_recorded` lets stand what the recorded system sends although a provider
    refuses it: stored system messages of a conversation whose model takes
    none, texts of nothing but blanks, and more than four cache marks of the
    input where nothing else had to be repaired.
    """

    mid_conversation_system: bool = False
    peers_may_use_system_role: bool = False
    apply_cache_control: bool = False
    skip_cache_write: bool = False
    presenter: Presenter = field(default_factory=TextPresenter)
    call_status: Mapping[str, ResultStatus] = field(default_factory=dict)
    model: str | None = None
    tools: tuple[ToolSpec, ...] = ()
    sees_images: bool = True
    as_recorded: bool = False


class RepairRule(StrEnum):
    """Why a message could not go out as it was stored."""

    EMPTY_TEXT = "empty_text"
    EMPTY_MESSAGE = "empty_message"
    EMPTY_RESULT = "empty_result"
    FOREIGN_REASONING = "foreign_reasoning"
    LONE_REASONING = "lone_reasoning"
    UNBOUND_REASONING = "unbound_reasoning"
    REPEATED_REASONING = "repeated_reasoning"
    EMPTY_SIGNATURE = "empty_signature"
    BLOCK_KIND = "block_kind"
    ATTACHMENT = "attachment"
    UNICODE = "unicode"
    ARGUMENTS = "arguments"
    RESULT_MOVED = "result_moved"
    MOVED_BEHIND_RESULTS = "moved_behind_results"
    RESULT_MISSING = "result_missing"
    RESULT_WITHOUT_CALL = "result_without_call"
    RESULT_DUPLICATE = "result_duplicate"
    CALL_ID_REUSED = "call_id_reused"
    SYSTEM_PLACE = "system_place"
    CACHE_MARKS = "cache_marks"


@dataclass(frozen=True, slots=True)
class Repair:
    """One thing that was put right, and the entry that it was about."""

    rule: RepairRule
    entry: int


@dataclass(frozen=True, slots=True)
class Projection:
    """The messages of a request, and where each came from.

    `sources` holds, for every message, the indices of the entries in it;
    nothing for a message that no entry stands behind. `latest_real_user_index`
    is the message with the newest words of the user: -1 when the history shows
    that there are none, None when it cannot tell. `moved` are entries that
    stand elsewhere than in the history, `repaired` what was put right, both in
    the order of the history.
    """

    messages: tuple[Message, ...]
    sources: tuple[tuple[int, ...], ...]
    latest_real_user_index: int | None
    cache_control_index: int | None
    moved: tuple[int, ...]
    repaired: tuple[Repair, ...]


@dataclass(slots=True)
class Piece:
    """An entry on its way through the stages.

    Three forms. A *message* (`role` set, `message` set). A *reminder* still to
    be wrapped (`role` None). A *system message made here* (`is_made`), which
    has the bodies of its reminders in `bodies` until they are joined.

    Slotted but not frozen: eight thousand of them are made for one request,
    and frozen instances take four times as long. No stage changes a piece
    that it did not make.
    """

    sources: tuple[int, ...]
    role: Role | None
    message: Message | None = None
    source: str = ""
    bodies: tuple[str, ...] = ()
    cache: CacheMark | None = None
    is_presented: bool = False
    is_real_user: bool = False
    is_synthetic: bool = False
    floats: bool = False
    may_be_system: bool = False
    is_made: bool = False
    written_by: str | None = None


@dataclass(slots=True)
class Report:
    """What the stages noticed on the way; the only thing that they share."""

    repaired: list[Repair] = field(default_factory=list)
    passed: set[int] = field(default_factory=set)

    def repair(self, rule: RepairRule, piece: Piece) -> None:
        self.repaired.extend(Repair(rule, index) for index in piece.sources)

    def move(self, piece: Piece) -> None:
        """Some stage put this piece elsewhere; whether it came back is seen at the end."""
        self.passed.update(piece.sources)


def shows_unsendable(repaired: Sequence[Repair]) -> bool:
    """Had the history something that the recorded system could not have sent at all?

    Not so what only moved behind results: stages 3 and 4 leave such things to stage 5.
    """
    return any(repair.rule is not RepairRule.MOVED_BEHIND_RESULTS for repair in repaired)


def in_order(repaired: Iterable[Repair]) -> list[Repair]:
    """In the order of the history; what was done to one entry in the order of the stages."""
    return sorted(repaired, key=attrgetter("entry"))


BODY_SEPARATOR: Final = "\n\n"
