"""SDK keys of environments: /api/projects/{project_id}/sdk-keys."""

from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
import sqlalchemy as sa

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from flagstaff.projects.sdk_keys import hash_sdk_key
from flagstaff.values.moments import format_moment
from tests.support import tokens
from tests.support.api import NO_IDS, Caller, Json, created, environment_path, field_errors, project_path
from tests.support.clock import Clock
from tests.support.jobs import do_now
from tests.support.members import join
from tests.support.sdk_keys import create_key, keys_path
from tests.web.conftest import ListChanges, SignUp

BODY = {"name": "Checkout service", "environment": "production", "kind": "server"}
MALFORMED: list[tuple[Json, dict[str, str]]] = [
    ({}, {"name": "is required", "environment": "is required", "kind": "is required"}),
    ({**BODY, "name": " "}, {"name": "must not be empty"}),
    ({**BODY, "name": "x" * 256}, {"name": "must be at most 255 characters long"}),
    ({**BODY, "environment": "nowhere"}, {"environment": "must be the key of an environment of the project"}),
    ({**BODY, "environment": "No!"}, {"environment": "must consist of lowercase letters a-z, digits, _ and -"}),
    ({**BODY, "environment": None}, {"environment": "must be a string"}),
    ({**BODY, "kind": "frontend"}, {"kind": "must be 'server' or 'browser'"}),
    ({**BODY, "kind": ["server"]}, {"kind": "must be 'server' or 'browser'"}),
    (
        {**BODY, "key": "my-own"},
        {
            "key": "is not a known field; known fields are name, environment, kind, expires_at, replaces, "
            "allowed_origins"
        },
    ),
    ({**BODY, "expires_at": "2026-11-20T10:00:00Z"}, {"expires_at": "must be in the future"}),
]


async def test_a_malformed_key_is_refused_at_its_field(ada: Caller, project: Json) -> None:
    for body, errors in MALFORMED:
        assert field_errors(await ada.post(keys_path(project), json=body)) == errors, body
    assert (await ada.get(keys_path(project))).json() == []


async def test_an_environment_of_another_project_is_none_of_this(ada: Caller, project: Json) -> None:
    await ada.create_environment(await ada.create_project(), key="elsewhere")
    refused = await ada.post(keys_path(project), json={**BODY, "environment": "elsewhere"})
    assert field_errors(refused) == {"environment": "must be the key of an environment of the project"}


async def test_what_is_no_key_cannot_be_revoked(ada: Caller, eve: Caller, project: Json) -> None:
    elsewhere = await create_key(eve, await eve.create_project())
    for key_id in (*NO_IDS, str(uuid4()), elsewhere["id"]):
        assert (await ada.delete(f"{keys_path(project)}/{key_id}")).status_code == 404, key_id


async def test_a_key_is_shown_once_and_only_its_hash_is_stored(
    flagstaff: Flagstaff, ada: Caller, project: Json, clock: Clock
) -> None:
    expires_at = format_moment(clock() + timedelta(days=30))
    answer = await ada.post(keys_path(project), json={**BODY, "kind": "browser", "expires_at": expires_at})
    made = created(answer)
    text = made.pop("key")
    assert answer.headers["cache-control"] == "no-store"
    assert text.startswith(f"{project['id'].replace('-', '')}:production.")
    assert made == {
        "id": made["id"],
        "environment": "production",
        "name": "Checkout service",
        "kind": "browser",
        "hint": text[-4:],
        "created_by": ada.account["email"],
        "created_at": format_moment(clock()),
        "expires_at": expires_at,
        "last_used_at": None,
        "replaces": None,
        "allowed_origins": [],
    }
    listed = await ada.get(keys_path(project))
    assert listed.json() == [made]
    assert text.partition(".")[2] not in listed.text
    async with flagstaff.database.read() as connection:
        rows = list(await connection.execute(sa.select(tables.sdk_keys)))
    assert [row.key_hash for row in rows] == [hash_sdk_key(text)]
    assert text.partition(".")[2] not in str(rows)


async def test_a_key_replaces_only_one_of_the_same_environment(ada: Caller, project: Json) -> None:
    staging = await create_key(ada, project, environment="staging")
    elsewhere = await create_key(ada, await ada.create_project())
    for given in (staging["id"], elsewhere["id"], str(uuid4())):
        refused = await ada.post(keys_path(project), json={**BODY, "replaces": given})
        assert field_errors(refused) == {"replaces": "must be the id of an SDK key of the same environment"}
    refused = await ada.post(keys_path(project), json={**BODY, "replaces": "x"})
    assert field_errors(refused) == {"replaces": "must be a UUID"}


async def test_a_key_remembers_which_one_it_replaces_also_when_that_is_revoked(
    client: Caller, ada: Caller, project: Json
) -> None:
    old = await create_key(ada, project)
    new = await create_key(ada, project, replaces=old["id"])
    assert (old["replaces"], new["replaces"]) == (None, old["id"])
    assert [(await client.evaluate(each["key"])).status_code for each in (old, new)] == [200, 200]
    assert (await ada.delete(f"{keys_path(project)}/{old['id']}")).status_code == 204
    assert [(await client.evaluate(each["key"])).status_code for each in (old, new)] == [401, 200]
    (listed,) = (await ada.get(keys_path(project))).json()
    assert listed["replaces"] == old["id"]


async def test_keys_are_listed_newest_first(ada: Caller, project: Json, clock: Clock) -> None:
    names = ["first", "second", "third"]
    for name in names:
        clock.advance(seconds=1)
        await create_key(ada, project, name=name)
    assert [each["name"] for each in (await ada.get(keys_path(project))).json()] == names[::-1]


@pytest.mark.both_databases
async def test_a_new_key_is_accepted_at_once_and_a_revoked_one_is_not(
    client: Caller, ada: Caller, project: Json
) -> None:
    old, new = [await create_key(ada, project) for _ in range(2)]
    for key in (old, new):
        assert (await client.evaluate(key["key"])).status_code == 200
    assert (await ada.delete(f"{keys_path(project)}/{old['id']}")).status_code == 204
    assert (await client.evaluate(old["key"])).status_code == 401
    assert (await client.evaluate(new["key"])).status_code == 200
    assert [each["id"] for each in (await ada.get(keys_path(project))).json()] == [new["id"]]
    assert (await ada.delete(f"{keys_path(project)}/{old['id']}")).status_code == 404


async def test_the_projects_own_key_is_as_before(client: Caller, ada: Caller, project: Json) -> None:
    key = await create_key(ada, project)
    renewed = (await ada.post(f"{project_path(project)}/regenerate-key")).json()
    assert (await client.evaluate(project["sdk_key"])).status_code == 401
    for each in (renewed["sdk_key"], key["key"]):
        assert (await client.evaluate(each)).status_code == 200
    for environment in ("production", "staging"):
        assert (await client.evaluate(renewed["sdk_key"], environment)).status_code == 200


async def test_an_idempotency_key_is_refused_because_nothing_stores_the_secret(ada: Caller, project: Json) -> None:
    refused = await ada.post(keys_path(project), json=BODY, headers={"idempotency-key": "once"})
    assert list(field_errors(refused)) == ["Idempotency-Key"]
    assert (await ada.get(keys_path(project))).json() == []


async def test_the_trail_names_keys_without_their_secrets(
    ada: Caller, project: Json, list_changes: ListChanges
) -> None:
    key = await create_key(ada, project)
    await ada.delete(f"{keys_path(project)}/{key['id']}")
    rows = [row for row in await list_changes() if row["action"].startswith("sdk_key.")]
    assert [row["action"] for row in rows] == ["sdk_key.created", "sdk_key.revoked"]
    assert [str(row["resource_id"]) for row in rows] == [key["id"]] * 2
    recorded = rows[0]["after"]
    assert recorded == rows[1]["before"]
    assert (recorded["name"], recorded["environment"], recorded["hint"]) == ("x", "production", key["key"][-4:])
    assert key["key"].partition(".")[2] not in str(rows)
    found = (await ada.get(f"{project_path(project)}/changes?action=sdk_key.revoked")).json()
    assert [each["resource_id"] for each in found["items"]] == [key["id"]]


async def test_members_manage_the_keys_of_the_environments_in_which_they_may(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, project: Json
) -> None:
    keys = {each: await create_key(ada, project, environment=each) for each in ("production", "staging")}
    path = keys_path(project)

    async def listed() -> set[str]:
        return {each["environment"] for each in (await eve.get(path)).json()}

    await join(flagstaff, project, eve, "viewer", {"staging": "admin"})
    assert await listed() == {"staging"}
    refused = await eve.post(path, json=BODY)
    assert (refused.status_code, refused.json()["permission"]) == (403, "keys:rotate")
    assert (await eve.delete(f"{path}/{keys['production']['id']}")).status_code == 403
    await create_key(eve, project, environment="staging")
    assert (await eve.delete(f"{path}/{keys['staging']['id']}")).status_code == 204
    await join(flagstaff, project, eve, "admin", {"production": "editor"})
    assert await listed() == {"production", "staging"}
    assert (await eve.delete(f"{path}/{keys['production']['id']}")).status_code == 403
    await join(flagstaff, project, eve, "viewer")
    assert (await eve.get(path)).status_code == 403


async def test_a_key_does_not_end_with_the_membership_of_whoever_made_it(
    flagstaff: Flagstaff, client: Caller, ada: Caller, eve: Caller, project: Json
) -> None:
    member = await join(flagstaff, project, eve, "admin")
    key = await create_key(eve, project)
    assert (await ada.delete(member)).status_code == 204
    assert (await client.evaluate(key["key"])).status_code == 200
    assert [each["created_by"] for each in (await ada.get(keys_path(project))).json()] == [eve.account["email"]]


async def test_an_access_token_for_an_environment_manages_its_keys_only(
    flagstaff: Flagstaff, callers: AsyncExitStack, ada: Caller, project: Json
) -> None:
    staging = await ada.get_environment(project, "staging")
    await create_key(ada, project)
    machine = await tokens.issue(
        flagstaff,
        callers,
        f"{project_path(project)}/tokens",
        ada,
        "keys:read",
        "keys:rotate",
        environments=[staging["id"]],
    )
    assert (await machine.post(keys_path(project), json=BODY)).status_code == 403
    own = await create_key(machine, project, environment="staging")
    assert [each["id"] for each in (await machine.get(keys_path(project))).json()] == [own["id"]]
    assert (await machine.delete(f"{keys_path(project)}/{own['id']}")).status_code == 204


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_MAX_SDK_KEYS_PER_PROJECT": "2"}])
async def test_a_project_may_have_so_many_keys_of_which_expired_ones_make_room(
    client: Caller, ada: Caller, project: Json, clock: Clock, list_changes: ListChanges
) -> None:
    soon = format_moment(clock() + timedelta(minutes=1))
    expired = await create_key(ada, project, expires_at=soon)
    await create_key(ada, project, environment="staging")
    refused = await ada.post(keys_path(project), json=BODY)
    assert refused.status_code == 409
    assert "FLAGSTAFF_MAX_SDK_KEYS_PER_PROJECT allows 2" in refused.json()["detail"]
    clock.advance(minutes=1)
    assert {each["id"] for each in (await ada.get(keys_path(project))).json()} >= {expired["id"]}
    fresh = await create_key(ada, project)
    assert expired["id"] not in {each["id"] for each in (await ada.get(keys_path(project))).json()}
    assert (await client.evaluate(fresh["key"])).status_code == 200
    assert [row["action"] for row in await list_changes()][-2:] == ["sdk_key.revoked", "sdk_key.created"]


@pytest.mark.parametrize("of", ["environment", "project"])
async def test_keys_end_with_their_environment_and_with_their_project(
    client: Caller, ada: Caller, project: Json, environment: Json, of: str
) -> None:
    key, other = await create_key(ada, project), await create_key(ada, project, environment="staging")
    assert (await client.evaluate(key["key"])).status_code == 200
    path = environment_path(environment) if of == "environment" else project_path(project)
    assert (await ada.delete(path)).status_code == 204
    assert (await client.evaluate(key["key"])).status_code == 401
    assert (await client.evaluate(other["key"], "staging")).status_code == (200 if of == "environment" else 401)


async def test_the_last_use_is_known_to_within_a_minute(
    flagstaff: Flagstaff, client: Caller, ada: Caller, project: Json, clock: Clock
) -> None:
    used, unused = await create_key(ada, project), await create_key(ada, project)

    async def last_uses() -> dict[str, Any]:
        return {each["id"]: each["last_used_at"] for each in (await ada.get(keys_path(project))).json()}

    clock.advance(minutes=1)
    await client.evaluate(used["key"])
    await client.evaluate(unused["key"][:-1])
    await do_now(flagstaff, "last-seen")
    assert await last_uses() == {used["id"]: format_moment(clock()), unused["id"]: None}
    first = clock()
    clock.advance(minutes=1)
    await do_now(flagstaff, "last-seen")
    assert (await last_uses())[used["id"]] == format_moment(first)


async def test_a_stranger_finds_no_keys(eve: Caller, sign_up: SignUp, project: Json) -> None:
    for caller in (eve, await sign_up("bob")):
        assert (await caller.get(keys_path(project))).status_code == 404
        assert (await caller.post(keys_path(project), json=BODY)).status_code == 404
