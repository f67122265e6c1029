"""Finds the configuration files and reads them; everything else about them is pure."""

from collections.abc import Mapping
from pathlib import Path

from actors.context.source import home_directory
from host.config.merge import ConfigFile, build_config
from host.config.model import Config
from host.errors import ConfigInvalid

_NAME = Path(".callboard", "config.toml")
_MAX_BYTES = 1_000_000


def load_config(
    cwd: Path, environ: Mapping[str, str], arguments: Mapping[str, object] | None = None
) -> Config:
    """The configuration for a host that works in this folder.

    The user's file is `~/.callboard/config.toml`, with `HOME` as the home
    folder; the project's is the nearest one from the folder upwards to the
    root of its git repository, or the folder's own outside of one.

    Raises:
        ConfigInvalid: a file that cannot be read, or a value that cannot be used.
    """
    cwd = cwd.absolute()
    home = home_directory(environ)
    if home is None:
        raise ConfigInvalid("there is no home folder: HOME wanted, got nothing")
    user = home / _NAME
    files = [_read(user)]
    project = _project_file(cwd)
    if project is not None and not _is_same(project, user):
        files.append(_read(project, is_project=True))
    return build_config(
        [file for file in files if file is not None], environ, arguments or {}, home=str(home), cwd=str(cwd)
    )


def _project_file(cwd: Path) -> Path | None:
    folders = [cwd, *cwd.parents]
    root = next((n for n, folder in enumerate(folders) if (folder / ".git").exists()), 0)
    return next((folder / _NAME for folder in folders[: root + 1] if (folder / _NAME).exists()), None)


def _is_same(one: Path, other: Path) -> bool:
    return other.exists() and one.samefile(other)


def _read(path: Path, *, is_project: bool = False) -> ConfigFile | None:
    try:
        if not path.exists():
            return None
        if not path.is_file():
            raise ConfigInvalid(f"{path}: a file wanted, got something else")
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise ConfigInvalid(f"{path}: cannot be read: {error.strerror}") from error
    if len(data) > _MAX_BYTES:
        raise ConfigInvalid(f"{path}: at most {_MAX_BYTES:,} bytes wanted, got more")
    return ConfigFile(str(path), data, is_project)
