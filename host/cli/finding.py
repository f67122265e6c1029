"""Which session of a store is meant. Pure."""

from collections.abc import Sequence

from host.errors import UnknownSession
from host.store.ports import AgentRow

_SHOWN = 5


def find_session(rows: Sequence[AgentRow], wanted: str, *, prefers_archived: bool | None = False) -> AgentRow:
    """By id, by a name that no other has, or by the beginning of an id that no other has.

    Of sessions of one name an archived one does not count beside one that is
    not, or the other way round; with None all of them count.

    Raises:
        UnknownSession: none, or several; says which.
    """
    found = [row for row in rows if row.agent_id == wanted]
    found = found or [row for row in rows if row.name == wanted]
    if prefers_archived is not None:
        found = [row for row in found if (row.archived_at is not None) is prefers_archived] or found
    found = found or [row for row in rows if wanted and row.agent_id.startswith(wanted)]
    if len(found) == 1:
        return found[0]
    if not found:
        raise UnknownSession(
            f"the store has no session {wanted!r}; `callboard sessions --all` lists what there is"
        )
    ids = ", ".join(row.agent_id for row in found[-_SHOWN:])
    raise UnknownSession(
        f"{len(found)} sessions are meant by {wanted!r}; name one by its id, the last are: {ids}"
    )
