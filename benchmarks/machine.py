"""On what the figures were taken: without it they mean nothing."""

import os
import platform
import sqlite3
import sys
import tempfile
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

_PACKAGES = ("callboard", "anyio", "trio", "pydantic", "httpx", "typer")


def machine_lines() -> list[str]:
    """Date, processor, cores, load, system, folder of the store, and the versions of what is measured."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    folder = tempfile.gettempdir()
    today = datetime.now(UTC).date().isoformat()
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    versions = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    return [
        f"{today}  {_processor()}, {cores} cores{load}; {platform.system()} {platform.release()}",
        f"Python {sys.version.split()[0]}, SQLite {sqlite3.sqlite_version}, {versions}",
        f"the store's files lie in {folder} ({_file_system(folder)})",
        "times are CPU time of the process, but for the store, where waiting for the disk is the point",
    ]


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _file_system(folder: str) -> str:
    """The type of the mount that holds the folder; on a tmpfs a synchronisation costs nothing."""
    mounts = Path("/proc/mounts")
    if not mounts.exists():
        return "unknown file system"
    best, kind = "", "unknown file system"
    for line in mounts.read_text().splitlines():
        _, place, found, *_ = line.split()
        inside = folder == place or folder.startswith(place.rstrip("/") + "/")
        if inside and len(place) >= len(best):
            best, kind = place, found
    return kind
