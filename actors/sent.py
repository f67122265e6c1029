"""A request that went out, made again from the log of its agent."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from actors.errors import UnknownRequest
from actors.history import Entry, MessageEntry, Origin
from actors.projection import Projection, ProjectionOptions, project
from actors.projection.thinking import Trace
from actors.records import EntriesAppended, PrefixBuilt, Record, RequestMade
from actors.state import folded
from providers.model import ToolSpec


@dataclass(frozen=True, slots=True)
class SentRequest:
    """One request of an agent: what it was made from, and what that comes to.

    `number` counts from 1 up to `n_requests`, the requests of the log. Of
    `entries`, the first `n_prefix` were built for the request, the others are
    the history of that moment. `is_same_as_sent` is false where this version
    of the program makes other messages of them than went out.
    """

    number: int
    n_requests: int
    made: RequestMade
    entries: tuple[Entry, ...]
    n_prefix: int
    options: ProjectionOptions
    projection: Projection
    is_same_as_sent: bool

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        return self.options.tools


def sent_request(records: Sequence[Record], number: int | None = None) -> SentRequest:
    """The request of this number: from 1 on, from the end as -1, -2, …; None is the last one.

    Takes time linear in the records.

    Raises:
        UnknownRequest: the log has no such request; says how many it has.
        UnknownReminderSource, EmptyReminderBody: an entry that cannot be sent.
    """
    requests = [at for at, record in enumerate(records) if isinstance(record, RequestMade)]
    if not requests:
        raise UnknownRequest(_no_requests(records), n_requests=0)
    index = _index(number, len(requests))
    made = records[requests[index]]
    assert isinstance(made, RequestMade), "the place of one"
    fold = folded(islice(records, requests[index]))
    built = fold.built or PrefixBuilt((), ())
    entries = (*built.prefix, *fold.history)
    options = _options(made, built.tools)
    projection = project(entries, options)
    return SentRequest(
        index + 1,
        len(requests),
        made,
        entries,
        len(built.prefix),
        options,
        projection,
        _fingerprint(projection, options) == made.fingerprint,
    )


def _index(number: int | None, n_requests: int) -> int:
    wanted = -1 if number is None else number
    index = wanted + n_requests if wanted < 0 else wanted - 1
    if not 0 <= index < n_requests:
        there_are = "there is only request 1" if n_requests == 1 else f"there are requests 1 to {n_requests}"
        raise UnknownRequest(f"no request {wanted}: {there_are}, or -1 for the last", n_requests=n_requests)
    return index


def _no_requests(records: Iterable[Record]) -> str:
    appended = (record.entries for record in records if isinstance(record, EntriesAppended))
    if any(_is_answer(entry) for entries in appended for entry in entries):
        return (
            "this log has answers but no requests: it was written before requests were noted in logs,"
            " and what the model saw then is not known"
        )
    return "this agent has made no request yet"


def _is_answer(entry: Entry) -> bool:
    return isinstance(entry, MessageEntry) and entry.origin is Origin.MODEL


def _options(made: RequestMade, tools: tuple[ToolSpec, ...]) -> ProjectionOptions:
    return ProjectionOptions(
        mid_conversation_system=made.mid_conversation_system,
        peers_may_use_system_role=made.peers_may_use_system_role,
        apply_cache_control=made.cache_marks,
        model=made.reader,
        tools=tools,
        sees_images=made.sees_images,
    )


def _fingerprint(projection: Projection, options: ProjectionOptions) -> str:
    trace = Trace.of(options)
    trace.take(projection.messages)
    return trace.fingerprint()
