"""An export back into a store: all of it is checked before anything is stored."""

from dataclasses import dataclass
from typing import BinaryIO

from anyio.lowlevel import checkpoint

from actors.address import AgentId
from host.store.ports import KeepingStore, Store
from host.transfer.checking import CheckedExport, Checking
from host.transfer.errors import AlreadyThere, ExportInvalid
from host.transfer.format import ArtifactLine, Header
from host.transfer.lines import lines_of
from host.transfer.parsing import parse_line

_LINES_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class Imported:
    """What was stored."""

    header: Header
    n_records: int
    n_artifacts: int


async def import_session(store: KeepingStore, file: BinaryIO) -> Imported:
    """Checks an export and stores its session: all of its agents or none.

    The file is read twice, so it must be one that can seek. Records are held
    in memory until they are stored, artifacts are not.

    Raises: what `check_export` and `store_export` do.
    """
    start = file.tell()
    checked = await check_export(file)
    file.seek(start)
    return await store_export(store, file, checked)


async def check_export(file: BinaryIO) -> CheckedExport:
    """What the file holds from where it stands, all of it checked.

    Raises:
        ExportInvalid: no export, or not as it was written.
        OSError: the file cannot be read.
    """
    checking = Checking()
    for line in lines_of(file):
        checking.take(line)
        if checking.n_lines % _LINES_AT_ONCE == 0:
            await checkpoint()
    return checking.finish()


async def store_export(store: KeepingStore, file: BinaryIO, checked: CheckedExport) -> Imported:
    """Stores what was checked; the file stands again where it stood then, for its artifacts.

    Where storing fails, artifacts may be left that nothing refers to.

    Raises:
        AlreadyThere: the store has an agent of this id; nothing was stored.
        ExportInvalid: the file was changed meanwhile; no agent was stored.
        SessionBusy: somebody else writes a session of this id.
        StoreError, LogFailed: it cannot be stored.
        OSError: the file cannot be read.
    """
    async with await store.lease(AgentId(checked.header.session)):
        await _refuse_what_is_there(store, checked)
        await _store_artifacts(store, file, checked)
        await store.create_all([(log.opened, log.records) for log in checked.logs])
    n_records = sum(agent.records for agent in checked.header.agents)
    return Imported(checked.header, n_records, len(checked.artifact_lines))


async def _refuse_what_is_there(store: Store, checked: CheckedExport) -> None:
    there = {row.agent_id: row.root_id for row in await store.agents()}
    for log in checked.logs:
        agent_id = log.opened.agent_id
        if agent_id == checked.header.session and agent_id in there:
            raise AlreadyThere(f"the store has a session {agent_id} already; nothing was imported")
        if agent_id in there:
            raise AlreadyThere(
                f"the store has an agent {agent_id}, in session {there[agent_id]}; nothing was imported"
            )


async def _store_artifacts(store: Store, file: BinaryIO, checked: CheckedExport) -> None:
    n_stored = 0
    for number, line in enumerate(lines_of(file), 1):
        if number not in checked.artifact_lines:
            continue
        said = parse_line(line, number)
        if isinstance(said, ArtifactLine):
            await store.put_artifact(said.data)
            n_stored += 1
    if n_stored != len(checked.artifact_lines):
        raise ExportInvalid(
            f"{len(checked.artifact_lines)} artifacts wanted, got {n_stored}: the file was changed meanwhile"
        )
