"""What can still be read of a log that is damaged."""

from collections.abc import Sequence
from pathlib import Path

from host.store.judging import judge
from host.store.ports import AgentRow
from host.store.verdicts import Claim, Part
from host.store.wreck_opening import open_wreck


def readable_parts(path: Path, row: AgentRow) -> Sequence[Part]:
    """The agent's records in their order, with gaps where they cannot be read.

    Raises:
        StoreError: nothing of the store can be read.
    """
    with open_wreck(path) as wreck:
        rows, failures = wreck.records(row.agent_id, row.n_records)
        claim = Claim(row.n_records)
        return judge(row.agent_id, rows, failures, claim, has_hashes=wreck.has_hashes).parts
