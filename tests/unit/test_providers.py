"""FLAGSTAFF_OIDC_PROVIDERS: valid values, and the error line for invalid ones."""

import json
from pathlib import Path
from typing import Any

import pytest

from flagstaff.settings import Settings, SettingsError

GOOD: dict[str, Any] = {"key": "acme", "name": "Acme", "issuer": "https://id.acme.com/", "client_id": "flagstaff"}
RULE = {"group": "engineers", "project_id": "01a20181-851f-7462-8181-ab622556cbb0", "role": "editor"}


def load(text: str) -> Settings:
    return Settings.load({"FLAGSTAFF_OIDC_PROVIDERS": text})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("acme", "is not valid JSON"),
        ("[" * 100_000, "is not valid JSON"),
        ("{}", "must be a JSON list of providers"),
        ("[1]", "has provider 1, which is not a JSON object"),
        (json.dumps([GOOD, GOOD]), "must not name the same key twice"),
        (json.dumps([GOOD, {**GOOD, "key": "other"}]), "must not name the same issuer twice"),
    ],
    ids=lambda value: value[:20],
)
def test_what_is_no_list_of_providers_is_refused(text: str, reason: str) -> None:
    with pytest.raises(SettingsError, match=reason):
        load(text)


@pytest.mark.parametrize("name", ["key", "name", "issuer", "client_id"])
def test_a_provider_without_what_it_needs_is_refused(name: str) -> None:
    with pytest.raises(SettingsError, match=f"has provider 1 without {name}"):
        load(json.dumps([{each: value for each, value in GOOD.items() if each != name}]))


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"key": "Acme"}, "key must be 1 to 32 of a-z"),
        ({"key": "a/b"}, "key must be"),
        ({"key": 5}, "key must be"),
        ({"name": " "}, "name must be a text"),
        ({"issuer": "http://id.acme.com"}, "issuer must be an https URL"),
        ({"issuer": "https://id.acme.com?x=1"}, "issuer must be"),
        ({"issuer": "https://user@id.acme.com"}, "issuer must be"),
        ({"issuer": "javascript:alert(1)"}, "issuer must be"),
        ({"client_secret": ""}, "client_secret must be a text"),
        ({"scopes": ["email"]}, "scopes must be a list of texts with openid"),
        ({"scopes": "openid email"}, "scopes must be"),
        ({"domains": ["@acme.com"]}, "domains must be a list of domains"),
        ({"domains": ["*"]}, "domains must be"),
        ({"password_login": "off"}, "password_login must be true or false"),
        ({"password_login": False}, "needs domains"),
        ({"email_verified": True}, "email_verified must be required or trusted"),
        ({"email_verified": "trusted"}, "with email_verified trusted, which needs domains"),
        ({"second_factor": "yes"}, "second_factor must be true or false"),
        ({"acr_values": ["a b"]}, "acr_values must be a list of texts without spaces"),
        ({"roles": [{**RULE, "role": "owner"}]}, "roles must be a list of rules"),
        ({"roles": [{**RULE, "project_id": "shop"}]}, "roles must be"),
        ({"roles": [{"group": "engineers"}]}, "roles must be"),
        ({"secret": "x"}, "unknown field 'secret'"),
    ],
    ids=str,
)
def test_a_field_of_another_form_is_refused_by_name(changed: dict[str, Any], reason: str) -> None:
    with pytest.raises(SettingsError, match=reason):
        load(json.dumps([{**GOOD, **changed}]))


def test_no_message_contains_the_secret() -> None:
    with pytest.raises(SettingsError) as refusal:
        load(json.dumps([{**GOOD, "client_secret": "hunter2", "scopes": []}]))
    assert "hunter2" not in str(refusal.value)
    assert "hunter2" not in repr(load(json.dumps([{**GOOD, "client_secret": "hunter2"}])))


def test_providers_can_be_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "providers.json"
    file.write_text(json.dumps([{**GOOD, "domains": ["ACME.com"], "roles": [RULE]}]))
    (provider,) = Settings.load({"FLAGSTAFF_OIDC_PROVIDERS_FILE": str(file)}).oidc_providers
    assert (provider.key, provider.domains, provider.scopes) == ("acme", ("acme.com",), ("openid", "email"))
    assert str(provider.roles[0].project_id) == RULE["project_id"]


def test_without_any_there_is_no_single_sign_on() -> None:
    assert Settings.load({}).oidc_providers == ()
