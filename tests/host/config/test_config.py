from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.config import Config, ConfigFile, build_config, endpoints, load_config
from host.errors import ConfigInvalid
from host.permissions import PermissionMode
from providers.endpoint import EnvironmentKey, FileKey
from providers.model import Dialect

USER = "/home/u/.callboard/config.toml"
PROJECT = "/work/project/.callboard/config.toml"


def build(
    user: str = "",
    project: str = "",
    environ: Mapping[str, str] | None = None,
    arguments: Mapping[str, object] | None = None,
) -> Config:
    files = [ConfigFile(USER, user.encode()), ConfigFile(PROJECT, project.encode(), is_project=True)]
    return build_config(files, environ or {}, arguments or {}, home="/home/u", cwd="/work/project")


def test_without_anything_the_defaults_hold() -> None:
    config = build()
    assert config == Config(store="/home/u/.callboard/store.db")
    assert config.origin_of("model") == "default"
    assert (config.limits.steps, config.spawn.depth, config.limits.tokens) == (200, 3, None)


def test_what_comes_later_wins_and_every_value_knows_where_it_came_from() -> None:
    assert build('model = "a:file"').origin_of("model") == USER
    from_environment = build('model = "a:file"', environ={"CALLBOARD_MODEL": "a:environment"})
    assert from_environment.model == "a:environment"
    assert from_environment.origin_of("model") == "environment CALLBOARD_MODEL"
    last = build('model = "a:file"', "", {"CALLBOARD_MODEL": "a:environment"}, {"model": "a:argument"})
    assert (last.model, last.origin_of("model")) == ("a:argument", "arguments")


def test_tables_are_merged_key_by_key() -> None:
    config = build("[limits]\nsteps = 5\ntime_s = 2", arguments={"limits": {"steps": 7, "tokens": None}})
    assert (config.limits.steps, config.limits.time_s, config.limits.tokens) == (7, 2, None)
    assert (config.origin_of("limits.steps"), config.origin_of("limits.time_s")) == ("arguments", USER)


def test_rules_add_up_and_name_their_source() -> None:
    config = build(
        '[permissions]\ndeny = ["Bash(rm:*)"]\nallow = ["Edit(~/notes/**)"]',
        '[permissions]\ndeny = ["Read(**/.env)"]',
        arguments={"permissions": {"allow": ["Bash"]}},
    )
    assert [(str(r), r.source) for r in config.rules.deny] == [
        ("Bash(rm:*)", USER),
        ("Read(**/.env)", PROJECT),
    ]
    assert [str(r) for r in config.rules.allow] == ["Edit(/home/u/notes/**)", "Bash"]
    assert config.origin_of("permissions.deny") == f"{USER}, {PROJECT}"


@pytest.mark.parametrize(
    "text",
    [
        'model = "a:b"',
        'store = "x"',
        "peers_may_use_system_role = true",
        '[permissions]\nmode = "bypass"',
        '[permissions]\nallow = ["Bash"]',
        '[providers.anthropic]\nbase_url = "https://evil.example"',
        '[providers.anthropic]\nkey_file = "/etc/passwd"',
        '[providers.anthropic.headers]\nx = "y"',
        '[models."a:b"]\nwindow_tokens = 1',
        "[limits]\nsteps = 100000",
        "[spawn]\ndepth = 100",
    ],
)
def test_a_project_may_only_tighten(text: str) -> None:
    build(text)
    with pytest.raises(ConfigInvalid, match=rf"^{PROJECT}: a project may set nothing but"):
        build(project=text)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('modle = "a:b"', "unknown key 'modle'; did you mean 'model'?"),
        ('[permissions]\nmod = "plan"', "unknown key 'permissions.mod'; did you mean 'mode'?"),
        ("[permissions]\nzzz = 1", "unknown key 'permissions.zzz'; known are mode, allow, ask, deny"),
        (
            '[providers.mine]\nbase_ulr = "x"',
            "unknown key 'providers.mine.base_ulr'; did you mean 'base_url'?",
        ),
        ('[providers.mine]\napi_key = "x"', "unknown key 'providers.mine.api_key'; known are base_url,"),
        ("[limits]\nstep = 1", "unknown key 'limits.step'; did you mean 'steps'?"),
        ("[limits]\nsteps = 0", "limits.steps: input should be greater than or equal to 1, got 0"),
        ('[limits]\nsteps = "9"', "limits.steps: input should be a valid integer, got '9'"),
        ("[limits]\nsteps = true", "limits.steps: input should be a valid integer, got True"),
        ("[limits]\ncost_usd = nan", "limits.cost_usd: input should be"),
        ('model = "gpt"', "model: a model is named provider:model, such as"),
        ("model = 3", "model: input should be a valid string, got 3"),
        ('durability = "fast"', "durability: input should be 'full' or 'normal', got 'fast'"),
        ('[permissions]\nmode = "yolo"', "permissions.mode: input should be 'plan', 'default',"),
        ('[permissions]\nallow = ["Bash("]', "a permission rule is written Tool or Tool(pattern)"),
        ('[permissions]\nallow = "Bash"', "permissions.allow: input should be a valid list, got 'Bash'"),
        ('[models."a:b"]\nwindow = 1', "models: the profile of a:b is wrong: window: unknown field"),
        ("[models.ab]\nwindow_tokens = 1", "models: a model's profile is set by 'provider:model'"),
        ("model = ", "this is no TOML"),
        ("a = " + "[" * 5_000, "this is no TOML"),
        ('[providers.x]\nkey_env = "A"\nkey_file = "b"', "one of key_env and key_file wanted, got both"),
    ],
)
def test_what_cannot_be_used_is_refused_with_file_key_and_hint(text: str, complaint: str) -> None:
    with pytest.raises(ConfigInvalid) as caught:
        build(text)
    assert str(caught.value).startswith(USER)
    assert complaint in str(caught.value)


def test_every_mistake_of_a_file_is_named_at_once() -> None:
    with pytest.raises(ConfigInvalid) as caught:
        build('modle = "a:b"\ndurability = "fast"')
    assert len(str(caught.value).splitlines()) == 2


def test_bytes_that_are_no_utf8_are_refused_and_a_byte_order_mark_is_not() -> None:
    with pytest.raises(ConfigInvalid, match=f"{USER}: UTF-8 wanted"):
        build_config([ConfigFile(USER, b"model = '\xff'")], {}, {}, home="/h", cwd="/")
    marked = ConfigFile(USER, b"\xef\xbb\xbfmodel = 'a:b'")
    assert build_config([marked], {}, {}, home="/h", cwd="/").model == "a:b"


def test_a_header_is_never_shown() -> None:
    with pytest.raises(ConfigInvalid) as caught:
        build("[providers.x.headers]\nauthorization = 4711")
    assert "4711" not in str(caught.value)
    config = build('[providers.x.headers]\nauthorization = "secret-4711"')
    assert config.providers["x"].headers == {"authorization": "secret-4711"}
    assert "4711" not in repr(config)


def test_an_unknown_variable_of_ours_is_refused_and_an_empty_one_is_none() -> None:
    with pytest.raises(ConfigInvalid, match=r"'CALLBOARD_MODLE'; did you mean 'CALLBOARD_MODEL'"):
        build(environ={"CALLBOARD_MODLE": "a:b"})
    with pytest.raises(ConfigInvalid, match=r"environment CALLBOARD_PERMISSION_MODE: permissions\.mode"):
        build(environ={"CALLBOARD_PERMISSION_MODE": "yolo"})
    assert build(environ={"CALLBOARD_MODEL": "", "OTHER": "x"}).model is None


@pytest.mark.parametrize("mode", list(PermissionMode))
def test_every_mode_can_be_set(mode: PermissionMode) -> None:
    assert build(f'[permissions]\nmode = "{mode}"').permission_mode is mode
    assert build(arguments={"permissions": {"mode": mode}}).permission_mode is mode
    assert build(environ={"CALLBOARD_PERMISSION_MODE": str(mode)}).permission_mode is mode


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("store = 'x.db'", "/home/u/.callboard/x.db"),
        ("store = '~/x.db'", "/home/u/x.db"),
        ("store = '/x/../y.db'", "/y.db"),
        ("store = ':memory:'", ":memory:"),
    ],
)
def test_a_path_starts_where_it_was_written(text: str, path: str) -> None:
    assert build(text).store == path
    assert build(environ={"CALLBOARD_STORE": "x.db"}).store == "/work/project/x.db"


def test_endpoints_are_what_is_built_in_with_what_was_set() -> None:
    text = (
        '[providers.anthropic]\nbase_url = "https://file.example"\nkey_file = "~/key"\n'
        'api_version = "2026-10-21"\n'
        '[providers.mine]\ndialect = "openai_chat"\nbase_url = "http://127.0.0.1:8080/v1"\nkey_env = "MINE"\n'
    )
    found = endpoints(build(text), {})
    assert found["anthropic"].base_url == "https://file.example"
    assert found["anthropic"].key == FileKey(Path("/home/u/key"))
    assert found["anthropic"].api_version == "2026-10-21"
    assert found["openai"].key == EnvironmentKey("OPENAI_API_KEY")
    assert (found["mine"].dialect, found["mine"].key) == (Dialect.OPENAI_CHAT, EnvironmentKey("MINE"))
    told = endpoints(build(text), {"ANTHROPIC_BASE_URL": "https://environment.example"})
    assert told["anthropic"].base_url == "https://environment.example"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('[providers.mine]\nbase_url = "http://x"', "base_url and dialect wanted"),
        ('[providers.openai]\nbase_url = "no url"', "providers.openai: openai: a base URL begins with"),
    ],
)
def test_an_endpoint_that_cannot_be_one_is_refused_with_its_source(text: str, complaint: str) -> None:
    with pytest.raises(ConfigInvalid, match=f"{USER}: .*{complaint}"):
        endpoints(build(text), {})


@given(st.binary(max_size=60))
def test_any_bytes_are_a_configuration_or_a_clear_refusal(data: bytes) -> None:
    complaint = USER
    try:
        build_config([ConfigFile(USER, data)], {}, {}, home="/h", cwd="/")
    except ConfigInvalid as error:
        complaint = str(error)
    assert complaint.startswith(USER)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    return home


def _write(folder: Path, text: str) -> Path:
    path = folder / ".callboard" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return path


def test_the_files_of_home_and_project_are_found(home: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    _write(home, 'model = "a:b"')
    found = _write(project, '[permissions]\ndeny = ["Bash"]')
    (project / ".git").mkdir()
    below = project / "src" / "deep"
    below.mkdir(parents=True)
    config = load_config(below, {"HOME": str(home)})
    assert config.model == "a:b"
    assert config.origin_of("permissions.deny") == str(found)


def test_outside_of_a_repository_only_the_folder_itself_is_looked_at(home: Path, tmp_path: Path) -> None:
    _write(tmp_path, '[permissions]\ndeny = ["Bash"]')
    below = tmp_path / "below"
    below.mkdir()
    assert load_config(below, {"HOME": str(home)}).rules.deny == ()
    assert load_config(tmp_path, {"HOME": str(home)}).rules.deny != ()


def test_working_at_home_the_file_there_is_the_users(home: Path) -> None:
    _write(home, 'model = "a:b"')
    assert load_config(home, {"HOME": str(home)}).model == "a:b"


def test_a_file_that_cannot_be_read_is_named(home: Path) -> None:
    (home / ".callboard" / "config.toml").mkdir(parents=True)
    with pytest.raises(ConfigInvalid, match=r"config\.toml: a file wanted"):
        load_config(home, {"HOME": str(home)})


def test_a_huge_file_is_refused(home: Path) -> None:
    _write(home, "# " + "x" * 1_000_001)
    with pytest.raises(ConfigInvalid, match="bytes wanted"):
        load_config(home, {"HOME": str(home)})


def test_no_files_are_no_error(home: Path) -> None:
    assert load_config(home, {"HOME": str(home)}).store == str(home / ".callboard" / "store.db")
