"""The projection of a history that grows: what is settled is kept, and only the tail is made anew.

An answer is what the stages do not look across. So all that stands before the
newest answer that goes out is settled, the pairing of calls aside: where a
call and its result stand on two sides of it, everything is made anew once.
"""

from collections.abc import Sequence
from dataclasses import replace
from operator import is_

from actors.history import Entry, MessageEntry
from actors.projection.clean import clean
from actors.projection.mark import clear_marks
from actors.projection.model import Projection, ProjectionOptions, Report
from actors.projection.pair import Entangled
from actors.projection.pipeline import finish, project_stretch
from actors.projection.present import present
from actors.projection.stretch import Stretch
from actors.projection.thinking import Before, Trace, same_tools
from providers.model import Role


class Projector:
    """Projects one history again and again; each result equals that of `project`.

    Costs what was appended since the last call, and a glance at every entry to
    see that it is the same one. Another history or other options are no error:
    they cost a full projection. `n_kept` tells how many messages at the
    beginning were taken over; they are the same objects as before, those with
    cache marks aside. `epoch` rises whenever none can be.
    """

    def __init__(self) -> None:
        self._options = ProjectionOptions()
        self.epoch = 0
        self._forget()

    @property
    def n_settled(self) -> int:
        """How many messages at the beginning will stay as they are while the history only grows."""
        return len(self._head.messages)

    def _forget(self) -> None:
        self.epoch += 1
        self.n_kept = 0
        self._head = Stretch()
        self._head_entries: list[Entry] = []
        self._answer: Entry | None = None
        self._head_trace: Trace | None = None
        self._n_traced = 0
        self._tail: Stretch | None = None
        self._tail_entries: Sequence[Entry] = ()

    def project(self, entries: Sequence[Entry], options: ProjectionOptions) -> Projection:
        """The same as `project(entries, options)`.

        Raises:
            UnknownReminderSource, EmptyReminderBody: a reminder that cannot be wrapped.
        """
        # The statuses are copied: a caller may keep and change its mapping.
        asked = replace(options, skip_cache_write=False, call_status=dict(options.call_status))
        if not self._asked_before(asked) or not self._begins(entries):
            self._options = asked
            self._forget()
        self.n_kept = len(self._head.messages)
        try:
            self._settle(entries, options)
            tail = self._stretch(entries[len(self._head_entries) :], options)
        except Entangled:
            self._forget()
            tail = self._stretch(entries, options)
        self._tail, self._tail_entries = tail, entries[len(self._head_entries) :]
        return finish(self._head, tail, options)

    def fingerprint(self) -> str:
        """What was said in the request projected last, tools included, as `Trace` tells it."""
        trace = self._trace()
        if self._tail is not None:
            trace.take(self._tail.messages)
        return trace.fingerprint()

    def _asked_before(self, options: ProjectionOptions) -> bool:
        tools = self._options.tools
        return replace(options, tools=tools) == self._options and same_tools(options.tools, tools)

    def _begins(self, entries: Sequence[Entry]) -> bool:
        """Are these the settled entries, and behind them the answer that settled them?"""
        n_head = len(self._head_entries)
        if not n_head:
            return True
        is_longer = n_head < len(entries) and entries[n_head] is self._answer
        return is_longer and all(map(is_, self._head_entries, entries))

    def _settle(self, entries: Sequence[Entry], options: ProjectionOptions) -> None:
        """Moves what stands before the newest answer into the head."""
        n_head = len(self._head_entries)
        n_settled = _newest_answer(entries, n_head, options)
        if n_settled <= n_head:
            return
        settled = entries[n_head:n_settled]
        # The usual case: an answer came to just what was projected last.
        is_known = len(settled) == len(self._tail_entries) and all(map(is_, settled, self._tail_entries))
        stretch = self._tail if is_known and self._tail is not None else self._stretch(settled, options)
        self._tail, self._tail_entries = None, ()
        if options.apply_cache_control:
            clear_marks(stretch.messages, stretch.marks)
        self._head.extend(stretch)
        self._head_entries.extend(settled)
        self._answer = entries[n_settled]

    def _stretch(self, entries: Sequence[Entry], options: ProjectionOptions) -> Stretch:
        before = Before(len(self._head_entries), self._trace, self._head.repaired, self._head.items)
        return project_stretch(entries, options, self._head.calls, before)

    def _trace(self) -> Trace:
        """The fingerprint of the head, to be carried on."""
        if self._head_trace is None:
            self._head_trace = Trace.of(self._options)
        self._head_trace.take(self._head.messages[self._n_traced :])
        self._n_traced = len(self._head.messages)
        return self._head_trace.copy()


def _newest_answer(entries: Sequence[Entry], n_head: int, options: ProjectionOptions) -> int:
    """Where the newest answer stands that goes out; `n_head` where none does."""
    for at in range(len(entries) - 1, n_head, -1):
        entry = entries[at]
        if (
            isinstance(entry, MessageEntry)
            and entry.message.role is Role.ASSISTANT
            and clean(present([entry], options), options, Report())
        ):
            return at
    return n_head
