"""What the first six stages make of a stretch of the history."""

from dataclasses import dataclass, field

from actors.projection.model import Repair
from actors.projection.pair import CallIds
from providers.model import Message


@dataclass(slots=True)
class Stretch:
    """Messages without the mark of the request, and what is known of them.

    `sources`, `moved` and `repaired` number the entries of the whole history;
    `marks` and `real_user` the messages of the stretch: those with a cache
    mark of their own, and the newest one with words of the user. `items` are
    the ids of reasoning items.
    """

    messages: list[Message] = field(default_factory=list)
    sources: list[tuple[int, ...]] = field(default_factory=list)
    moved: list[int] = field(default_factory=list)
    repaired: list[Repair] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)
    real_user: int | None = None
    has_presented: bool = False
    calls: CallIds = field(default_factory=CallIds)
    items: set[str] = field(default_factory=set)

    def extend(self, later: "Stretch") -> None:
        """Takes in the stretch that follows this one."""
        n_before = len(self.messages)
        self.messages += later.messages
        self.sources += later.sources
        self.moved += later.moved
        self.repaired += later.repaired
        self.marks += [n_before + at for at in later.marks]
        if later.real_user is not None:
            self.real_user = n_before + later.real_user
        self.has_presented = self.has_presented or later.has_presented
        self.calls.extend(later.calls)
        self.items |= later.items
