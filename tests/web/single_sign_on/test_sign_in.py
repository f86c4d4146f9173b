"""Signing in at a real identity provider: GET /auth/sso, POST …/begin and POST …/complete."""

import asyncio
import time
from copy import copy
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import sqlalchemy as sa

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from tests.support.api import BASE_URL, Caller, field_errors, project_path
from tests.support.clock import Clock
from tests.support.members import join
from tests.support.oidc import IdentityProvider
from tests.support.sessions import PASSWORD
from tests.support.two_factor import enrol, log_in
from tests.web.conftest import ListChanges, ReadMails
from tests.web.single_sign_on.conftest import ADA, SignIn, begin, complete

INVALID = "The sign-in with Acme is not valid. Sign in again."
ENDED = "This sign-in is unknown, has been completed or has expired, or was begun in another browser. Sign in again."


async def accounts(flagstaff: Flagstaff) -> list[str]:
    async with flagstaff.database.read() as connection:
        return list((await connection.execute(sa.select(tables.accounts.c.email))).scalars())


async def who(client: Caller, token: str) -> str:
    answer = await client.get("/api/me", headers={"authorization": f"Bearer {token}"})
    assert answer.status_code == 200
    return str(answer.json()["user_id"])


RETURNS = (
    "",
    "projects",
    "//evil.example",
    "/\\evil.example",
    "///evil.example",
    "https://evil.example",
    "javascript:alert(1)",
    "/a\nb",
    "/\t/evil.example",
    "/ü",
    "/" + "a" * 2_000,
)


async def test_a_page_of_another_site_to_go_on_with_is_refused(client: Caller) -> None:
    for return_to in RETURNS:
        answer = await client.post("/auth/sso/acme/begin", json={"return_to": return_to})
        assert field_errors(answer).keys() == {"return_to"}, return_to
    for field in ("redirect_uri", "returnTo", "scope"):
        answer = await client.post("/auth/sso/acme/begin", json={field: "https://evil.example"})
        assert field_errors(answer).keys() == {field}


async def test_an_unknown_provider_is_not_found(client: Caller) -> None:
    for key in ("other", "ACME", "%00", "x" * 1_000):
        assert (await client.post(f"/auth/sso/{key}/begin", json={})).status_code == 404


async def test_a_malformed_or_made_up_answer_is_refused(client: Caller) -> None:
    missing = dict.fromkeys(("state", "code", "binding"), "is required")
    assert field_errors(await client.post("/auth/sso/complete", json={})) == missing
    for text in ("", "x", "é" * 100, "x" * 4_000):
        body = {"state": text, "code": text, "binding": text}
        answer = await client.post("/auth/sso/complete", json=body)
        assert (answer.status_code, answer.json()["detail"]) == (401, ENDED)


async def test_the_providers_are_listed_without_secrets(client: Caller) -> None:
    assert (await client.get("/auth/sso")).json() == [{"key": "acme", "name": "Acme"}]


async def test_the_provider_is_asked_with_pkce_a_nonce_and_the_one_redirect_uri(client: Caller) -> None:
    first = urlsplit((await begin(client))["authorization_url"])
    second = urlsplit((await begin(client))["authorization_url"])

    query = parse_qs(first.query)
    assert query["redirect_uri"] == [f"{BASE_URL}/sso/callback"]
    assert (query["response_type"], query["code_challenge_method"]) == (["code"], ["S256"])
    for name in ("state", "nonce", "code_challenge"):
        assert len(query[name][0]) == 43
        assert query[name] != parse_qs(second.query)[name]


@pytest.mark.both_databases
async def test_whoever_signs_in_first_gets_an_account_and_then_the_same(
    client: Caller, sign_in: SignIn, flagstaff: Flagstaff, list_changes: ListChanges
) -> None:
    first = await sign_in(return_to="/projects?tab=1")

    assert first.status_code == 200, first.text
    assert first.json().keys() == {"token", "email", "return_to", "logout_url"}
    assert first.json()["email"] == "ada@acme.com"
    assert first.json()["return_to"] == "/projects?tab=1"
    again = await sign_in()
    assert await who(client, first.json()["token"]) == await who(client, again.json()["token"])
    assert await accounts(flagstaff) == ["ada@acme.com"]
    assert [change["action"] for change in await list_changes()] == ["account.registered"]


@pytest.mark.both_databases
async def test_nobody_knows_the_password_of_such_an_account(client: Caller, sign_in: SignIn) -> None:
    await sign_in()
    for password in ("", PASSWORD, "!"):
        assert (await log_in(client, "ada@acme.com", password)).status_code == 401


@pytest.mark.both_databases
async def test_an_account_stays_the_same_if_its_address_changes_at_the_provider(
    client: Caller, provider: IdentityProvider, sign_in: SignIn
) -> None:
    first = await sign_in()
    await provider.set(people={"ada": {"email": "lovelace@acme.com", "email_verified": True}})
    again = await sign_in()
    assert await who(client, first.json()["token"]) == await who(client, again.json()["token"])


@pytest.mark.both_databases
async def test_whoever_has_a_new_address_loses_the_account_to_the_new_owner_of_the_old_one(
    client: Caller, provider: IdentityProvider, sign_in: SignIn
) -> None:
    first = await sign_in()
    people = {"ada": {"email": "lovelace@acme.com", "email_verified": True}, "heir": ADA}
    await provider.set(people=people)
    heir = await who(client, (await sign_in("heir")).json()["token"])

    again = await sign_in("ada")

    assert (
        await client.get("/api/me", headers={"authorization": f"Bearer {first.json()['token']}"})
    ).status_code == 401
    assert again.json()["email"] == "lovelace@acme.com"
    assert await who(client, again.json()["token"]) != heir


@pytest.mark.both_databases
@pytest.mark.parametrize("values", [{}], ids=["no domains"])
async def test_an_account_whose_domain_another_provider_has_since_got_is_refused(
    flagstaff: Flagstaff, provider: IdentityProvider, sign_in: SignIn
) -> None:
    assert (await sign_in()).status_code == 200
    clients = dict(flagstaff.identity.single_sign_on.clients)
    clients["owner"] = copy(clients["acme"])
    clients["owner"].provider = replace(clients["acme"].provider, key="owner", domains=("acme.com",))
    object.__setattr__(flagstaff.identity.single_sign_on, "clients", clients)

    refused = await sign_in()

    assert refused.status_code == 403
    assert refused.json()["detail"] == "Addresses of acme.com cannot sign in with Acme."


async def test_the_session_at_the_provider_can_be_ended(sign_in: SignIn, provider: IdentityProvider) -> None:
    logout = urlsplit((await sign_in()).json()["logout_url"])

    assert f"{logout.scheme}://{logout.netloc}" == provider.issuer
    assert parse_qs(logout.query).keys() == {"client_id", "id_token_hint", "post_logout_redirect_uri"}
    assert parse_qs(logout.query)["post_logout_redirect_uri"] == [f"{BASE_URL}/"]


@pytest.mark.both_databases
@pytest.mark.parametrize(
    "person",
    [
        {"email": "ada@acme.com", "email_verified": False},
        {"email": "ada@acme.com", "email_verified": "false"},
        {"email": "ada@acme.com", "email_verified": 1},
        {"email": "ada@acme.com", "email_verified": ["true"]},
        {"email_verified": True},
        {"email": "ada", "email_verified": True},
        {"email": "ada@evil.example", "email_verified": True},
        {"email": "ada@acme.com.evil.example", "email_verified": True},
        {"email": ["ada@acme.com"], "email_verified": True},
    ],
)
async def test_without_a_verified_address_of_the_providers_domains_there_is_no_account(
    provider: IdentityProvider, sign_in: SignIn, flagstaff: Flagstaff, person: Any
) -> None:
    await provider.set(people={"ada": person})
    assert (await sign_in()).status_code == 403
    assert await accounts(flagstaff) == []


FULL_WIDTH = {code: code + 0xFEE0 for code in range(ord("!"), ord("~") + 1)}
BAD_CLAIMS: list[dict[str, Any]] = [
    {"aud": "other"},
    {"aud": ["flagstaff", "other"]},
    {"aud": ["flagstaff", "other"], "azp": "other"},
    {"aud": []},
    {"azp": "other"},
    {"iss": "https://evil.example"},
    {"exp": 1_000_000_000},
    {"exp": None},
    {"exp": "never"},
    {"exp": {}},
    {"exp": True},
    {"iat": None},
    {"nonce": "another"},
    {"nonce": None},
    {"nonce": 5},
    {"nonce": "\ud800"},  # half a character, which no encoding has
    {"sub": None},
    {"sub": ""},
    {"sub": 5},
    {"sub": "x" * 256},
    {"sub": "\ud800", "email": "ada@acme.com", "email_verified": True},
    {"sub": "somebody else"},  # another person than the userinfo's
]


@pytest.mark.parametrize("claims", BAD_CLAIMS, ids=str)
async def test_a_token_for_another_client_sign_in_or_time_is_refused(
    provider: IdentityProvider, sign_in: SignIn, flagstaff: Flagstaff, claims: dict[str, Any]
) -> None:
    await provider.set(claims=claims)
    answer = await sign_in()
    assert (answer.status_code, answer.json()["detail"]) == (401, INVALID)
    assert await accounts(flagstaff) == []


@pytest.mark.parametrize("signing", ["none", "secret", "unknown", "imitated"])
async def test_a_token_that_no_key_of_the_provider_signed_is_refused(
    provider: IdentityProvider, sign_in: SignIn, flagstaff: Flagstaff, signing: str
) -> None:
    await provider.set(signing=signing)
    answer = await sign_in()
    assert (answer.status_code, answer.json()["detail"]) == (401, INVALID)
    assert await accounts(flagstaff) == []


@pytest.mark.parametrize("values", [{"domains": ["acme.com"], "email_verified": "required"}], ids=str)
async def test_an_address_and_its_verification_come_from_the_same_source(
    provider: IdentityProvider, sign_in: SignIn, flagstaff: Flagstaff
) -> None:
    # The userinfo has an address that is not verified; the ID token says of none that it is.
    await provider.set(
        people={"ada": {"email": "victim@acme.com", "email_verified": False}}, claims={"email_verified": True}
    )
    assert (await sign_in()).status_code == 403
    # The ID token has an address of which only the userinfo says that it is verified.
    await provider.set(people={"ada": ADA}, claims={"email": "victim@acme.com"})
    assert (await sign_in()).status_code == 403
    assert await accounts(flagstaff) == []
    await provider.set(claims={"email": "ada@acme.com", "email_verified": True}, people={"ada": {}})
    assert (await sign_in()).status_code == 200


async def test_keys_that_the_provider_has_changed_are_fetched_again(
    provider: IdentityProvider, sign_in: SignIn, clock: Clock
) -> None:
    assert (await sign_in()).status_code == 200
    await provider.set(rotate=True)
    assert (await sign_in()).status_code == 401, "not at every token with an unknown key"
    clock.advance(seconds=10)
    assert (await sign_in()).status_code == 200


async def test_an_answer_is_accepted_once(client: Caller, provider: IdentityProvider) -> None:
    begun = await begin(client)
    answer = await provider.answer(begun["authorization_url"], "ada")

    answers = await asyncio.gather(*(complete(client, begun, answer) for _ in range(4)))

    assert sorted(each.status_code for each in answers) == [200, 401, 401, 401]
    assert (await complete(client, begun, answer)).json()["detail"] == ENDED


async def test_an_answer_belongs_to_the_browser_that_has_begun(client: Caller, provider: IdentityProvider) -> None:
    begun, other = await begin(client), await begin(client)
    answer = await provider.answer(begun["authorization_url"], "ada")
    refused = await complete(client, begun, answer, binding=other["binding"])
    assert (refused.status_code, refused.json()["detail"]) == (401, ENDED)
    assert (await complete(client, begun, answer)).status_code == 401, "the first try ends it"


async def test_a_code_of_another_sign_in_is_refused(client: Caller, provider: IdentityProvider) -> None:
    mine, hers = await begin(client), await begin(client)
    answer = await provider.answer(mine["authorization_url"], "ada")
    injected = await provider.answer(hers["authorization_url"], "ada")
    refused = await complete(client, mine, answer, code=injected["code"])
    assert (refused.status_code, refused.json()["detail"]) == (401, INVALID)


async def test_an_answer_of_another_issuer_is_refused(client: Caller, provider: IdentityProvider) -> None:
    for issuer in ("https://evil.example", None):
        begun = await begin(client)
        answer = await provider.answer(begun["authorization_url"], "ada")
        assert answer["iss"] == provider.issuer
        refused = await complete(client, begun, answer, iss=issuer)
        assert (refused.status_code, refused.json()["detail"]) == (401, INVALID)


async def test_an_answer_expires_after_exactly_ten_minutes(
    client: Caller, provider: IdentityProvider, clock: Clock, flagstaff: Flagstaff
) -> None:
    begun = await begin(client)
    answer = await provider.answer(begun["authorization_url"], "ada")
    clock.advance(minutes=10)
    assert (await complete(client, begun, answer)).json()["detail"] == ENDED
    clock.advance(microseconds=-1)
    assert (await complete(client, begun, answer)).status_code == 200

    await begin(client)
    clock.advance(minutes=10)
    await flagstaff.identity.single_sign_on.purge()
    async with flagstaff.database.read() as connection:
        assert (await connection.execute(sa.select(tables.sign_ins))).all() == []


async def test_while_the_provider_is_away_or_talks_too_much_the_answer_says_so_and_nothing_hangs(
    client: Caller, provider: IdentityProvider, flagstaff: Flagstaff
) -> None:
    await provider.set(large=True)
    answer = await client.post("/auth/sso/acme/begin", json={})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    await provider.set(large=False)
    provider.stop()
    try:
        assert (await client.post("/auth/sso/acme/begin", json={})).status_code == 503
    finally:
        provider.start()


async def test_a_provider_that_does_not_answer_is_given_up(
    client: Caller, provider: IdentityProvider, flagstaff: Flagstaff
) -> None:
    flagstaff.identity.single_sign_on.clients["acme"]._calls._seconds = 0.2
    await provider.set(hang=True)
    assert (await client.post("/auth/sso/acme/begin", json={})).status_code == 503


async def test_who_has_no_password_confirms_a_token_by_signing_in(
    client: Caller, sign_in: SignIn, clock: Clock, ada: Caller
) -> None:
    body = {"name": "Pipeline", "permissions": ["project:read"]}
    headers = {"authorization": f"Bearer {(await sign_in()).json()['token']}"}
    clock.advance(seconds=590)
    assert (await client.post("/api/me/tokens", json=body, headers=headers)).status_code == 201
    clock.advance(seconds=11)
    late = await client.post("/api/me/tokens", json=body, headers=headers)
    assert list(field_errors(late)) == ["current_password"]
    # A session that has just been opened with a password is not enough.
    assert list(field_errors(await ada.post("/api/me/tokens", json=body))) == ["current_password"]


@pytest.mark.both_databases
async def test_an_existing_account_is_opened_and_every_other_way_into_it_ends(
    client: Caller, flagstaff: Flagstaff, sign_in: SignIn, list_changes: ListChanges
) -> None:
    intruder = {"email": "ADA@acme.com", "password": PASSWORD}
    account_id = (await client.post("/auth/register", json=intruder)).json()["id"]
    token = (await log_in(client, "ada@acme.com")).json()["token"]
    client.headers["authorization"] = f"Bearer {token}"
    body = {"name": "Pipeline", "permissions": ["flags:read"], "current_password": PASSWORD}
    made = await client.post("/api/me/tokens", json=body)
    del client.headers["authorization"]

    answer = await sign_in()

    assert await who(client, answer.json()["token"]) == account_id
    assert (await list_changes())[-1]["action"] == "account.taken_over"
    for ended in (token, made.json()["token"]):
        assert (await client.get("/api/me", headers={"authorization": f"Bearer {ended}"})).status_code == 401
    assert (await log_in(client, "ada@acme.com")).status_code == 401


@pytest.mark.both_databases
@pytest.mark.parametrize("values", [{}], ids=["no domains"])
async def test_a_provider_without_domains_opens_no_existing_account_and_creates_others(
    client: Caller, flagstaff: Flagstaff, sign_in: SignIn, provider: IdentityProvider
) -> None:
    await client.post("/auth/register", json={"email": "ada@acme.com", "password": PASSWORD})
    assert (await sign_in()).status_code == 409
    assert (await log_in(client, "ada@acme.com")).status_code == 200
    await provider.set(people={"eve": {"email": "eve@evil.example", "email_verified": True}})
    assert (await sign_in("eve")).status_code == 200


class TestWhileRegistrationIsClosed:
    @pytest.fixture
    def environ(self, environ: dict[str, str]) -> dict[str, str]:
        return {**environ, "FLAGSTAFF_REGISTRATION": "closed"}

    @pytest.mark.both_databases
    @pytest.mark.parametrize("values", [{}], ids=["no domains"])
    async def test_a_provider_without_domains_creates_no_accounts(self, sign_in: SignIn) -> None:
        assert (await sign_in()).status_code == 403

    async def test_one_with_domains_does(self, sign_in: SignIn) -> None:
        assert (await sign_in()).status_code == 200


@pytest.mark.parametrize("values", [{"domains": ["xn--bcher-kva.example"], "password_login": False}], ids=["IDN"])
@pytest.mark.parametrize(
    "domain",
    ["bücher.example", "BÜCHER.example", "bu\u0308cher.example", "xn--bcher-kva.example", "XN--BCHER-KVA.EXAMPLE"],
)
async def test_an_international_domain_is_the_same_in_all_its_forms(client: Caller, domain: str) -> None:
    answer = await client.post("/auth/register", json={"email": f"ada@{domain}", "password": PASSWORD})
    assert (answer.status_code, answer.json()["provider"]) == (403, "acme")


@pytest.mark.parametrize("values", [{"domains": ["strasse.example"], "password_login": False}], ids=["another"])
@pytest.mark.parametrize("domain", ["straße.example", "xn--strae-oqa.example", "\u0430cme.example", "_x.example"])
async def test_a_domain_that_is_another_one_in_the_names_of_hosts_is_another_one_here(
    client: Caller, domain: str
) -> None:
    answer = await client.post("/auth/register", json={"email": f"ada@{domain}", "password": PASSWORD})
    assert answer.status_code == 201


@pytest.mark.parametrize("values", [{"domains": ["acme.com"], "password_login": False}], ids=["password off"])
class TestWithoutPasswords:
    @pytest.mark.both_databases
    async def test_accounts_of_the_domain_cannot_use_a_password(
        self, client: Caller, sign_in: SignIn, read_mails: ReadMails
    ) -> None:
        await sign_in()
        credentials = {"email": "Ada@ACME.com ", "password": PASSWORD}
        for path in ("/auth/login", "/auth/register"):
            answer = await client.post(path, json=credentials)
            assert (answer.status_code, answer.json()["type"]) == (403, "urn:flagstaff:error:forbidden")
            assert answer.json()["detail"] == "Accounts of acme.com sign in with Acme, not with a password."
            assert answer.json()["provider"] == "acme"
        assert (await client.post("/auth/forgot-password", json={"email": "ada@acme.com"})).status_code == 200
        assert await read_mails() == []

    @pytest.mark.parametrize(
        "domain",
        [
            "acme.com".translate(FULL_WIDTH),
            "ACME.COM".translate(FULL_WIDTH),
            "acme\uff0ecom",
            "acme\u3002com",
            "acme\uff61com",
            "acme.com\u3002",
            "\u24d0cme.com",
            "\U0001d41acme.com",
            "ac\ufe0fme.com",
            "acme.\u1d9c\u1d52\u1d50",
        ],
    )
    async def test_other_ways_to_write_the_domain_do_not_avoid_it(
        self, client: Caller, flagstaff: Flagstaff, domain: str
    ) -> None:
        credentials = {"email": f"ada@{domain}", "password": PASSWORD}
        for path in ("/auth/login", "/auth/register"):
            answer = await client.post(path, json=credentials)
            assert answer.status_code == 403
            assert answer.json()["provider"] == "acme"
        assert await accounts(flagstaff) == []

    async def test_a_second_at_sign_does_not_avoid_it(self, client: Caller, flagstaff: Flagstaff) -> None:
        credentials = {"email": "ada@evil.example\uff20acme.com", "password": PASSWORD}
        assert (await client.post("/auth/login", json=credentials)).status_code == 403
        assert field_errors(await client.post("/auth/register", json=credentials)).keys() == {"email"}
        assert await accounts(flagstaff) == []

    async def test_an_endless_address_takes_no_time(self, client: Caller) -> None:
        began = time.process_time()  # and not the time that passes: the machine may be busy
        answer = await client.post("/auth/login", json={"email": "\uff41" * 5_000 + "@acme.com", "password": PASSWORD})
        assert time.process_time() - began < 1
        assert answer.status_code == 403

    async def test_those_of_other_domains_can(self, client: Caller) -> None:
        credentials = {"email": "eve@evil.example", "password": PASSWORD}
        assert (await client.post("/auth/register", json=credentials)).status_code == 201
        assert (await log_in(client, "eve@evil.example")).status_code == 200

    @pytest.mark.both_databases
    async def test_the_provider_counts_as_the_second_factor_that_a_project_demands(
        self, client: Caller, sign_in: SignIn, ada: Caller, clock: Clock, flagstaff: Flagstaff
    ) -> None:
        token = (await sign_in()).json()["token"]
        project = await ada.create_project()
        await enrol(ada, clock)
        await ada.put(f"{project_path(project)}/security", json={"demands_second_factor": True})
        account = {"id": await who(client, token), "email": "ada@acme.com"}
        async with Caller(flagstaff.edge.asgi, token=token, account=account) as employee:
            await join(flagstaff, project, employee, "viewer")
            assert (await employee.get(project_path(project))).status_code == 200
            state = (await employee.get("/api/me/two-factor")).json()
            assert (state["totp_since"], state["passkeys"], state["meets_demand"]) == (None, [], True)
