"""Layers of settings become one configuration. Pure: files come in as bytes, the environment as a mapping.

user file → project file → environment → arguments; what comes later wins. Rules add up instead.
"""

import posixpath
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from actors.agent import Limits
from host.config.model import IN_MEMORY, Config, ProviderConfig
from host.config.tables import ConfigTable, ProviderTable, check, nearest
from host.errors import ConfigInvalid
from host.limits import SpawnLimits
from host.permissions import Rule, RuleSet, parse_rule
from providers.catalog import Catalog
from providers.errors import CallboardError

_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "CALLBOARD_MODEL": ("model",),
    "CALLBOARD_STORE": ("store",),
    "CALLBOARD_DURABILITY": ("durability",),
    "CALLBOARD_MID_CONVERSATION_SYSTEM": ("mid_conversation_system",),
    "CALLBOARD_PERMISSION_MODE": ("permissions", "mode"),
}
_VARIABLE_PREFIX = "CALLBOARD_"
_RULE_KEYS = ("permissions.allow", "permissions.ask", "permissions.deny")
_PROJECT_KEYS = ("permissions.ask", "permissions.deny")
_PATH_KEYS = ("store", "key_file")


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A file's bytes. A project's file came with the project, so it may only narrow what is permitted."""

    path: str
    data: bytes
    is_project: bool = False


@dataclass(frozen=True, slots=True)
class _Setting:
    """One value and where it was set."""

    path: tuple[str, ...]
    value: object
    source: str

    @property
    def key(self) -> str:
        return ".".join(self.path)


@dataclass(frozen=True, slots=True)
class _Layer:
    """All settings of one source; `folder` is where its relative paths start."""

    source: str
    folder: str
    home: str
    values: Mapping[str, object]

    def settings(self) -> tuple[_Setting, ...]:
        """Every value that was set, checked, paths absolute."""
        table = check(self.values, self.source)
        _check_profiles(table, self.source)
        set_here = table.model_dump(exclude_unset=True)
        return tuple(_Setting(path, self._settled(path, v), self.source) for path, v in _leaves(set_here))

    def _settled(self, path: tuple[str, ...], value: object) -> object:
        if path[-1] in _PATH_KEYS and isinstance(value, str) and value != IN_MEMORY:
            at_home = posixpath.join(self.home, value[2:]) if value.startswith("~/") else value
            return posixpath.normpath(posixpath.join(self.folder, at_home))
        if ".".join(path) in _RULE_KEYS and isinstance(value, list):
            return tuple(parse_rule(text, self.source, self.home) for text in value)
        return value


def build_config(
    files: Sequence[ConfigFile],
    environ: Mapping[str, str],
    arguments: Mapping[str, object],
    *,
    home: str,
    cwd: str,
) -> Config:
    """The configuration that all layers make together.

    `arguments` are nested like the file; None leaves a value unset.

    Raises:
        ConfigInvalid: names file, key, what was wanted and what came.
    """
    settings: list[_Setting] = []
    for file in files:
        layer = _Layer(file.path, posixpath.dirname(file.path), home, _parse(file))
        found = layer.settings()
        if file.is_project:
            _refuse_widening(found)
        settings += found
    for variable, values in _from_environment(environ):
        settings += _Layer(f"environment {variable}", cwd, home, values).settings()
    settings += _Layer("arguments", cwd, home, _without_none(arguments)).settings()
    return _assemble(settings, home)


def _parse(file: ConfigFile) -> dict[str, object]:
    try:
        return tomllib.loads(file.data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ConfigInvalid(f"{file.path}: UTF-8 wanted, got other bytes at {error.start}") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigInvalid(f"{file.path}: this is no TOML: {error}") from error


def _refuse_widening(settings: tuple[_Setting, ...]) -> None:
    for setting in settings:
        if setting.key not in _PROJECT_KEYS:
            raise ConfigInvalid(
                f"{setting.source}: a project may set nothing but {' and '.join(_PROJECT_KEYS)}, since"
                f" it comes with files of others; got {setting.key!r}. Set it in"
                " ~/.callboard/config.toml instead"
            )


def _from_environment(environ: Mapping[str, str]) -> Iterator[tuple[str, dict[str, object]]]:
    for variable in sorted(environ):
        if not variable.startswith(_VARIABLE_PREFIX):
            continue
        if variable not in _VARIABLES:
            hint = nearest(variable, list(_VARIABLES))
            raise ConfigInvalid(f"environment: unknown variable {variable!r}; {hint}")
        if environ[variable]:
            yield variable, _nested([(_VARIABLES[variable], environ[variable])])


def _check_profiles(table: ConfigTable, source: str) -> None:
    try:
        Catalog(table.models)
    except CallboardError as error:
        raise ConfigInvalid(f"{source}: models: {error}") from error


def _assemble(settings: Sequence[_Setting], home: str) -> Config:
    last = {setting.path: setting for setting in settings if setting.key not in _RULE_KEYS}
    table = check(_nested([(path, setting.value) for path, setting in last.items()]), "configuration")
    return Config(
        store=table.store or posixpath.join(home, ".callboard", "store.db"),
        model=table.model,
        permission_mode=table.permissions.mode,
        rules=RuleSet(*(_rules(settings, key) for key in _RULE_KEYS)),
        durability=table.durability,
        mid_conversation_system=table.mid_conversation_system,
        peers_may_use_system_role=table.peers_may_use_system_role,
        limits=Limits(**dict(table.limits)),
        spawn=SpawnLimits(**dict(table.spawn)),
        providers={name: _provider(name, p, last) for name, p in table.providers.items()},
        models=table.models,
        origins=_origins(settings),
    )


def _provider(name: str, table: ProviderTable, last: Mapping[tuple[str, ...], _Setting]) -> ProviderConfig:
    if table.key_env is not None and table.key_file is not None:
        sources = {last["providers", name, key].source for key in ("key_env", "key_file")}
        raise ConfigInvalid(
            f"{', '.join(sorted(sources))}: providers.{name}: one of key_env and key_file wanted, got both"
        )
    return ProviderConfig(**dict(table))


def _rules(settings: Sequence[_Setting], key: str) -> tuple[Rule, ...]:
    found = [rule for s in settings if s.key == key and isinstance(s.value, tuple) for rule in s.value]
    return tuple(rule for rule in found if isinstance(rule, Rule))


def _origins(settings: Sequence[_Setting]) -> dict[str, str]:
    origins: dict[str, str] = {}
    for setting in settings:
        is_added = setting.key in _RULE_KEYS and setting.key in origins
        origins[setting.key] = f"{origins[setting.key]}, {setting.source}" if is_added else setting.source
    return origins


def _leaves(
    values: Mapping[str, object], above: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], object]]:
    """Every value with its path; headers stay together, since halves of two layers fit nobody."""
    for name, value in values.items():
        path = (*above, name)
        if isinstance(value, dict) and name != "headers":
            yield from _leaves(value, path)
        else:
            yield path, value


def _nested(leaves: Sequence[tuple[tuple[str, ...], object]]) -> dict[str, object]:
    root: dict[str, object] = {}
    for path, value in leaves:
        table = root
        for name in path[:-1]:
            below = table.setdefault(name, {})
            assert isinstance(below, dict)
            table = below
        table[path[-1]] = value
    return root


def _without_none(values: Mapping[str, object]) -> dict[str, object]:
    return {
        key: _without_none(value) if isinstance(value, Mapping) else value
        for key, value in values.items()
        if value is not None
    }
