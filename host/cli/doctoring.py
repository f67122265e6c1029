"""What `callboard doctor` does: has the store checked and, where wanted, repaired; shows what came."""

import os
import time
from pathlib import Path

from host.cli.boundary import ExitCode
from host.cli.doctor_view import (
    examination_lines,
    examination_values,
    salvage_lines,
    salvage_values,
)
from host.cli.options import Settings
from host.cli.output import put, put_json
from host.cli.stores import store_to_read
from host.ids import RandomIds
from host.store.examine import examine
from host.store.salvage import repair


def check_store(settings: Settings, *, is_repairing: bool, as_json: bool) -> ExitCode:
    """Shows what is damaged; `FAILED` where something is and was not repaired.

    Raises:
        StoreError: it cannot be read, or not be repaired.
    """
    path = Path(store_to_read(settings).path)
    examination = examine(path)
    if as_json:
        for value in examination_values(examination):
            put_json(value)
    else:
        put("\n".join(examination_lines(examination, is_repairing=is_repairing)) + "\n")
    if examination.is_sound:
        return ExitCode.DONE
    if not is_repairing:
        return ExitCode.FAILED
    salvage = repair(path, ids=RandomIds(), now_s=time.time(), cwd=os.getcwd())
    if as_json:
        for value in salvage_values(salvage):
            put_json(value)
    else:
        put("\n".join(salvage_lines(salvage)) + "\n")
    return ExitCode.DONE
