from pathlib import Path

import pytest

from providers.endpoint import (
    AuthStyle,
    Endpoint,
    EnvironmentKey,
    FileKey,
    KeySource,
    LiteralKey,
    anthropic_endpoint,
    auth_headers,
    openai_endpoint,
    resolve_key,
)
from providers.errors import AuthenticationFailed, ProviderUnusable
from providers.model import Dialect

SECRET = "sk-very-secret"


def endpoint(key: KeySource | None, **headers: str) -> Endpoint:
    return Endpoint("box", Dialect.ANTHROPIC, "http://box/", key, headers=headers, auth=AuthStyle.X_API_KEY)


def test_base_urls_mean_what_they_mean_to_the_official_sdks() -> None:
    assert anthropic_endpoint({}).url("/v1/messages") == "https://api.anthropic.com/v1/messages"
    assert openai_endpoint({}).url("/chat/completions") == "https://api.openai.com/v1/chat/completions"
    here = {"ANTHROPIC_BASE_URL": "http://box:1/root/", "OPENAI_BASE_URL": "http://box:2/v1"}
    assert anthropic_endpoint(here).url("/v1/messages") == "http://box:1/root/v1/messages"
    assert openai_endpoint(here).url("/chat/completions") == "http://box:2/v1/chat/completions"


def test_an_empty_base_url_is_none() -> None:
    assert anthropic_endpoint({"ANTHROPIC_BASE_URL": ""}).base_url == "https://api.anthropic.com"


@pytest.mark.parametrize("url", ["", "api.example.com", "ftp://box", "http://", "http://me:pw@box"])
def test_what_is_no_base_url_is_refused_without_being_shown(url: str) -> None:
    with pytest.raises(ProviderUnusable) as caught:
        Endpoint("box", Dialect.OPENAI_CHAT, url, None)
    assert "pw" not in str(caught.value).replace("password", "")


@pytest.mark.parametrize("environ", [{}, {"BOX_KEY": ""}, {"BOX_KEY": " \n"}])
def test_a_missing_key_names_the_environment_variable(environ: dict[str, str]) -> None:
    with pytest.raises(AuthenticationFailed, match="BOX_KEY"):
        resolve_key(endpoint(EnvironmentKey("BOX_KEY")), environ)


def test_a_key_is_found_in_each_of_its_places(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text(f"{SECRET}\n")
    file.chmod(0o600)
    assert resolve_key(endpoint(EnvironmentKey("BOX_KEY")), {"BOX_KEY": f" {SECRET}\n"}) == SECRET
    assert resolve_key(endpoint(FileKey(file)), {}) == SECRET
    assert resolve_key(endpoint(LiteralKey(SECRET)), {}) == SECRET
    assert resolve_key(endpoint(None), {"BOX_KEY": SECRET}) is None


def test_a_key_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text(SECRET)
    file.chmod(0o644)
    with pytest.raises(AuthenticationFailed, match="0600") as caught:
        resolve_key(endpoint(FileKey(file)), {})
    assert SECRET not in str(caught.value)


def test_a_key_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(AuthenticationFailed, match="no-such-key"):
        resolve_key(endpoint(FileKey(tmp_path / "no-such-key")), {})


@pytest.mark.parametrize("value", ["sk-a\nb", "sk-ä", "two words", "sk-\x00"])
def test_what_no_header_can_carry_is_no_key_and_is_not_shown(value: str) -> None:
    with pytest.raises(AuthenticationFailed) as caught:
        resolve_key(endpoint(EnvironmentKey("BOX_KEY")), {"BOX_KEY": value})
    assert value not in str(caught.value)


def test_no_text_form_shows_a_key_or_a_header() -> None:
    shown = repr(endpoint(LiteralKey(SECRET), authorization=f"Bearer {SECRET}"))
    assert SECRET not in shown


def test_keys_go_where_the_endpoint_says() -> None:
    box = endpoint(LiteralKey(SECRET))
    assert auth_headers(box, SECRET) == {"anthropic-version": "2023-06-01", "x-api-key": SECRET}
    assert auth_headers(openai_endpoint({}), SECRET) == {"authorization": f"Bearer {SECRET}"}
    assert auth_headers(openai_endpoint({}), None) == {}


def test_configured_headers_win_whatever_their_case() -> None:
    box = Endpoint("box", Dialect.OPENAI_CHAT, "http://box", None, headers={"Authorization": "Other"})
    assert auth_headers(box, SECRET) == {"authorization": "Other"}
