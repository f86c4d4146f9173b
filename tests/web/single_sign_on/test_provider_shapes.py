"""What each common provider sends: no verification, groups as a text or only in the userinfo, or too many of them."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from structlog.testing import capture_logs

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.settings.providers import RoleRule, parse_providers
from tests.support.api import Caller, Json
from tests.support.oidc import IdentityProvider
from tests.web.single_sign_on.conftest import SignIn

PAGES = Path(__file__).parents[3] / "docs/single-sign-on"
VERIFIED = {"email": "ada@acme.com", "email_verified": True}
GROUPS_CLAIM = {"auth0": "https://flagstaff/groups", "okta": "groups"}

# For each provider the userinfo, and the claims of the ID token beside those of every token.
SHAPES: dict[str, tuple[Json, Json]] = {
    "entra": (
        {"email": "ada@acme.com"},
        {"email": "ada@acme.com", "oid": "11", "tid": "22", "ver": "2.0", "groups": ["engineers"]},
    ),
    "google": (VERIFIED, {**VERIFIED, "hd": "acme.com", "azp": "flagstaff"}),
    "okta": ({**VERIFIED, "groups": ["engineers"]}, {"amr": ["mfa", "otp", "pwd"], "idp": "00o1"}),
    "keycloak": (VERIFIED, {**VERIFIED, "acr": "1", "groups": ["engineers"], "preferred_username": "ada"}),
    "gitlab": ({**VERIFIED, "groups": ["engineers"]}, {**VERIFIED, "groups_direct": ["engineers"]}),
    "authentik": (VERIFIED, {**VERIFIED, "acr": "goauthentik.io/providers/oauth2/default", "groups": ["engineers"]}),
    "jumpcloud": (VERIFIED, {**VERIFIED, "groups": "engineers"}),
    "auth0": (VERIFIED, {**VERIFIED, "https://flagstaff/groups": ["engineers"]}),
}
WITHOUT_GROUPS = ("google",)


@pytest.fixture
async def project(eve: Caller, flagstaff: Flagstaff) -> Json:
    """A project of Eve's of which engineers are editors."""
    created = await eve.create_project()
    client = flagstaff.identity.single_sign_on.clients["acme"]
    client.provider = replace(client.provider, roles=(RoleRule("engineers", UUID(created["id"]), "editor"),))
    return created


async def role_of_ada(owner: Caller, project: Json) -> str | None:
    listed = (await owner.get(f"/api/projects/{project['id']}/members")).json()
    return next((each["role"] for each in listed if each["email"] == "ada@acme.com"), None)


@pytest.mark.parametrize(
    ("values", "person"),
    [
        ({"domains": ["acme.com"], "email_verified": "required"}, {"email": "ada@acme.com"}),
        ({}, {"email": "ada@acme.com"}),
        ({"domains": ["acme.com"], "email_verified": "trusted"}, {"email": "ada@acme.com", "email_verified": False}),
        ({"domains": ["acme.com"], "email_verified": "trusted"}, {"email": "ada@acme.com", "email_verified": "no"}),
        ({"domains": ["acme.com"], "email_verified": "trusted"}, {}),
        ({"domains": ["acme.com"], "email_verified": "trusted"}, {"email": "ada@other.example"}),
    ],
    ids=str,
)
async def test_an_address_that_does_not_count_is_refused_and_the_log_says_why(
    provider: IdentityProvider, sign_in: SignIn, person: Json
) -> None:
    await provider.set(people={"ada": person})
    with capture_logs() as logs:
        answer = await sign_in()
    assert answer.status_code == 403
    (refused,) = [each for each in logs if each["event"] == "sign_in_refused"]
    assert (refused["provider"], refused["reason"]) == ("acme", answer.json()["detail"])


async def test_an_answer_without_a_sign_in_is_in_the_log(client: Caller) -> None:
    with capture_logs() as logs:
        body = {"state": "x", "code": "x", "binding": "x"}
        assert (await client.post("/auth/sso/complete", json=body)).status_code == 401
    assert [each["event"] for each in logs if each["log_level"] == "warning"] == ["sign_in_refused"]


@pytest.mark.parametrize("name", SHAPES)
async def test_people_sign_in_and_get_the_roles_of_their_groups(
    name: str, provider: IdentityProvider, sign_in: SignIn, flagstaff: Flagstaff, eve: Caller, project: Json
) -> None:
    userinfo, claims = SHAPES[name]
    client = flagstaff.identity.single_sign_on.clients["acme"]
    client.provider = replace(client.provider, groups_claim=GROUPS_CLAIM.get(name, "groups"))
    await provider.set(people={"ada": userinfo}, claims=claims)
    answer = await sign_in()
    assert answer.status_code == 200, answer.text
    assert answer.json()["email"] == "ada@acme.com"
    assert await role_of_ada(eve, project) == (None if name in WITHOUT_GROUPS else "editor")


async def test_a_claim_that_is_null_is_read_from_the_userinfo(
    provider: IdentityProvider, sign_in: SignIn, eve: Caller, project: Json
) -> None:
    nulls = ["email", "email_verified", "groups"]
    await provider.set(people={"ada": {**VERIFIED, "groups": ["engineers"]}}, claims={}, nulls=nulls)
    assert (await sign_in()).status_code == 200
    assert await role_of_ada(eve, project) == "editor"


async def test_every_group_counts(provider: IdentityProvider, sign_in: SignIn, eve: Caller, project: Json) -> None:
    groups = [*(f"group {number}" for number in range(2_000)), "engineers"]
    await provider.set(people={"ada": VERIFIED}, claims={**VERIFIED, "groups": groups})
    assert (await sign_in()).status_code == 200
    assert await role_of_ada(eve, project) == "editor"


@pytest.mark.parametrize(
    "overage",
    [
        {"_claim_names": {"groups": "src1"}, "_claim_sources": {"src1": {"endpoint": "https://graph.example/groups"}}},
        {"hasgroups": True},
    ],
    ids=str,
)
async def test_groups_that_are_too_many_for_a_token_leave_the_roles_as_they_are(
    provider: IdentityProvider, sign_in: SignIn, eve: Caller, project: Json, overage: Any
) -> None:
    userinfo, claims = SHAPES["entra"]
    await provider.set(people={"ada": userinfo}, claims=claims)
    await sign_in()
    await provider.set(claims={**claims, "groups": None, **overage})
    with capture_logs() as logs:
        assert (await sign_in()).status_code == 200
    assert [each["event"] for each in logs if each["log_level"] == "warning"] == ["groups_left_out"]
    assert await role_of_ada(eve, project) == "editor"
    await provider.set(claims={**claims, "groups": None})
    assert (await sign_in()).status_code == 200
    assert await role_of_ada(eve, project) is None


@pytest.mark.parametrize("name", SHAPES)
def test_the_page_of_each_provider_has_a_setting_that_is_accepted(name: str) -> None:
    page = (PAGES / f"{name}.md").read_text("utf-8")
    (setting,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    (provider,) = parse_providers(setting)
    assert provider.key == name
    assert f"]({name}.md)" in (PAGES / "README.md").read_text("utf-8")
