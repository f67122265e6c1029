"""From history to one request that fits: projection, then the budget."""

from collections.abc import Sequence
from dataclasses import dataclass

from actors.budget import RequestSize, reserve_tokens
from actors.history import Entry, EntryId
from actors.ports import ResolvedModel
from actors.projection import Projection, ProjectionOptions, Projector, RepairRule
from actors.projection.words import TELLING
from providers.correction import CorrectedCounter
from providers.model import OutputSchema, Priority, Request


@dataclass(frozen=True, slots=True)
class Composed:
    """A request, the projection that it came from and what that was told, and its size.

    `n_counted` are its tokens before the correction by what the model was seen
    to count; `fingerprint` is what it says; `telling` are the repairs by which
    the model reads something else than what is stored, each with its entry.
    """

    request: Request
    options: ProjectionOptions
    projection: Projection
    size: RequestSize
    n_counted: int
    fingerprint: str
    telling: tuple[tuple[RepairRule, EntryId], ...]


class Composer:
    """Makes the requests of one agent. What it knows of the last one makes the next one cheap."""

    def __init__(self) -> None:
        self._projector = Projector()
        self._prefix: tuple[Entry, ...] = ()
        self._tally = _Tally(self._projector)
        self._told: frozenset[tuple[RepairRule, EntryId]] = frozenset()

    def compose(
        self,
        prefix: tuple[Entry, ...],
        history: Sequence[Entry],
        model: ResolvedModel,
        options: ProjectionOptions,
        *,
        max_output_tokens: int | None = None,
        output: OutputSchema | None = None,
        priority: Priority = Priority.HUMAN,
    ) -> Composed:
        """One legal request, and whether it fits; one that does not is the caller's to refuse."""
        if prefix != self._prefix:
            self._prefix = prefix
        # The entries known from the last time, where these say the same: they are known by identity.
        entries = (*self._prefix, *history)
        projection = self._projector.project(entries, options)
        request = Request(
            model=model.profile.name,
            messages=projection.messages,
            tools=options.tools,
            max_output_tokens=max_output_tokens,
            output=output,
            priority=priority,
        )
        n_prefix, n_conversation = self._tally.count(projection, len(prefix), model.counter)
        n_tools = model.counter.count_tools(request.tools) if request.tools else 0
        profile = model.profile
        limit = request.max_output_tokens or profile.max_output_tokens
        size = RequestSize(
            prefix=model.counter.corrected(n_prefix),
            tools=model.counter.corrected(n_tools),
            conversation=model.counter.corrected(n_conversation),
            window=profile.window_tokens,
            reserve=reserve_tokens(limit, profile.window_tokens),
        )
        n_counted = n_prefix + n_tools + n_conversation
        fingerprint = self._projector.fingerprint()
        telling = tuple(
            (repair.rule, entries[repair.entry].id)
            for repair in projection.repaired
            if repair.rule in TELLING
        )
        return Composed(request, options, projection, size, n_counted, fingerprint, telling)

    def news_of(self, sent: Composed) -> tuple[RepairRule, ...]:
        """What is read otherwise than stored in this request and was not in the one sent before it."""
        news = tuple(rule for rule, entry_id in sent.telling if (rule, entry_id) not in self._told)
        self._told = frozenset(sent.telling)
        return news


class _Tally:
    """Counts the messages of a projector's requests, the settled ones once."""

    def __init__(self, projector: Projector) -> None:
        self._projector = projector
        self._counted_for: tuple[int, CorrectedCounter | None] = (0, None)
        self._n_messages = 0
        self._n_prefix = 0
        self._n_conversation = 0

    def count(self, projection: Projection, n_prefix: int, counter: CorrectedCounter) -> tuple[int, int]:
        """The tokens of the first `n_prefix` entries, and of all others."""
        if self._counted_for != (self._projector.epoch, counter):
            self._counted_for = (self._projector.epoch, counter)
            self._n_messages = self._n_prefix = self._n_conversation = 0
        n_settled = self._projector.n_settled
        prefix, conversation = _counted(projection, self._n_messages, n_settled, n_prefix, counter)
        self._n_messages = n_settled
        self._n_prefix += prefix
        self._n_conversation += conversation
        prefix, conversation = _counted(projection, n_settled, len(projection.messages), n_prefix, counter)
        return self._n_prefix + prefix, self._n_conversation + conversation


def _counted(
    projection: Projection, start: int, stop: int, n_prefix: int, counter: CorrectedCounter
) -> tuple[int, int]:
    prefix = conversation = 0
    for at in range(start, stop):
        n_tokens = counter.count_message(projection.messages[at])
        sources = projection.sources[at]
        if sources and sources[0] < n_prefix:
            prefix += n_tokens
        else:
            conversation += n_tokens
    return prefix, conversation
