"""Sessions to export, and exports as bytes."""

import io
import json

from actors.records import Record
from host.store.ports import KeepingStore
from host.transfer import CheckedExport, Imported, export_session, import_session
from host.transfer.checking import Checking
from host.transfer.lines import lines_of
from tests.host.store.samples import OTHER, ROOT, opened


async def filled(store: KeepingStore, *records: Record, child: tuple[Record, ...] = ()) -> None:
    """Stores a session with these records behind the first, and a subagent with those."""
    async with await store.lease(ROOT):
        await store.create_all([(opened(), records), (opened(OTHER, ROOT), child)])


async def exported(store: KeepingStore, *, is_exact: bool = True) -> bytes:
    lines = export_session(store, ROOT, exported_at=5.0, program="0.0", is_exact=is_exact)
    return b"".join([line async for line in lines])


async def imported(store: KeepingStore, data: bytes) -> Imported:
    return await import_session(store, io.BytesIO(data))


def checked(data: bytes) -> CheckedExport:
    """What the bytes hold, checked without a store."""
    checking = Checking()
    for line in lines_of(io.BytesIO(data)):
        checking.take(line)
    return checking.finish()


def values(data: bytes) -> list[dict[str, object]]:
    """What the lines say to a reader that takes nothing but JSON."""
    return [json.loads(line, parse_constant=_refuse) for line in data.decode("utf-8").split("\n")[:-1]]


def _refuse(constant: str) -> float:
    raise AssertionError(f"{constant} is no JSON")
