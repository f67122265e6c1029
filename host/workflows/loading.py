"""Workflows from script files."""

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

from host.errors import WorkflowInvalid
from host.workflows.blame import blamed
from host.workflows.definition import Workflow


def load_workflow(path: Path | str, name: str | None = None) -> Workflow[Any]:
    """The workflow that a script file defines: the only one, or the one of this name.

    The script is imported, with its own folder on the path meanwhile, so it
    runs with all rights of this process: load what you trust.

    Raises:
        WorkflowInvalid: no such file, a script that raises when imported, no
            workflow in it, several without a name to choose by, none of the name.
    """
    file = Path(path).absolute()
    if not file.is_file():
        raise WorkflowInvalid(f"a workflow's script wanted, but there is no file {str(path)!r}")
    module = _imported(file)
    found = {
        value.name: value
        for value in vars(module).values()
        if isinstance(value, Workflow) and value.function.__module__ == module.__name__
    }
    return _chosen(found, name, str(path))


def _chosen(found: dict[str, Workflow[Any]], name: str | None, path: str) -> Workflow[Any]:
    if not found:
        raise WorkflowInvalid(
            f"{path} defines no workflow: "
            "write `@workflow` (from host import workflow) above an async function"
        )
    known = ", ".join(found)
    if name is None and len(found) > 1:
        raise WorkflowInvalid(f"{path} defines {len(found)} workflows; name one of: {known}")
    chosen = found.get(name) if name is not None else next(iter(found.values()))
    if chosen is None:
        raise WorkflowInvalid(f"{path} defines no workflow named {name!r}; there are: {known}")
    return chosen


def _imported(file: Path) -> ModuleType:
    # Two scripts of one name must not meet in sys.modules, where pydantic looks annotations up.
    module_name = f"workflow_{file.stem}_{sha256(str(file).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(module_name, file)
    if spec is None or spec.loader is None:
        raise WorkflowInvalid(f"a workflow's script is a Python file (.py); got {str(file)!r}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        with _folder_on_path(file.parent):
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[module_name]
        raise WorkflowInvalid(f"{file.name} cannot be imported: {blamed(error, str(file))}") from error
    return module


@contextmanager
def _folder_on_path(folder: Path) -> Iterator[None]:
    """As for `python FILE`: the script may import what lies beside it."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
