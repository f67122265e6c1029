"""Sessions as files: exported from one store, imported into another."""

from host.transfer.checking import CheckedExport
from host.transfer.errors import AlreadyThere, ExportInvalid, ExportTooLarge
from host.transfer.exporting import export_session
from host.transfer.importing import Imported, check_export, import_session, store_export
from host.transfer.lines import seekable_copy
from host.transfer.writing import whole_file

__all__ = [
    "AlreadyThere",
    "CheckedExport",
    "ExportInvalid",
    "ExportTooLarge",
    "Imported",
    "check_export",
    "export_session",
    "import_session",
    "seekable_copy",
    "store_export",
    "whole_file",
]
