"""The header Idempotency-Key of every POST under /api/projects."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from uuid import UUID

import httpx
import pytest
import sqlalchemy as sa

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.audit.propagation import Place, changed_places
from flagstaff.changes.changes import Committed
from flagstaff.database import tables
from flagstaff.idempotency.idempotency_service import KEYS_PER_ACCOUNT, Idempotency
from flagstaff.values.moments import format_moment
from tests.support.api import Caller, Json, created, environment_path, field_errors, flag_path, project_path
from tests.support.changes import changes_in
from tests.support.clock import Clock
from tests.support.description import described
from tests.support.sessions import PASSWORD, log_in

KEY = {"idempotency-key": "8e03978e-40d5-43dd-bc93-6894a57f9324"}
REUSED = "This Idempotency-Key was used for another request. Use a new key for each request."
OF_FLAG = "/api/projects/{project_id}/environments/{env_id}/flags/{flag_id}"
RELEASE = {"steps": [{"after_seconds": 3600, "changes": {"enabled": True}}]}
NO_KEY = {"Idempotency-Key": "must be one header of 1 to 255 visible ASCII characters"}

CountKeys = Callable[[], Awaitable[int]]


@pytest.fixture
async def flag(ada: Caller, environment: Json) -> Json:
    """A flag of Ada's in production, which is on."""
    return await ada.create_flag(environment)


@pytest.fixture
def toggle(flag: Json) -> str:
    """The path that toggles it."""
    return f"{flag_path(flag)}/toggle"


@pytest.fixture
async def count_keys(flagstaff: Flagstaff) -> CountKeys:
    """Count the keys that are stored."""

    async def count() -> int:
        async with flagstaff.database.read() as connection:
            query = sa.select(sa.func.count()).select_from(tables.idempotency_keys)
            return int((await connection.execute(query)).scalar_one())

    return count


def is_replayed(answer: httpx.Response) -> bool:
    return answer.headers.get("idempotency-replayed") == "true"


async def log_in_again(flagstaff: Flagstaff, caller: Caller) -> None:
    """A token expires after 24 hours, too."""
    token = await log_in(flagstaff, email=caller.account["email"], password=PASSWORD)
    caller.headers["authorization"] = f"Bearer {token}"


async def toggles(flagstaff: Flagstaff, flag: Json) -> int:
    """Return how often the flag was toggled, according to the audit trail."""
    return sum(
        change.action == "flag.toggled" for change in await changes_in(flagstaff, {"id": flag["environment_id"]})
    )


async def use_keys(flagstaff: Flagstaff, account: Json, now: datetime, count: int) -> None:
    """Store keys of an account as its requests would."""
    columns = {"fingerprint": b"", "project_id": None, "environment_id": None, "status": 200, "body": b"{}"}
    row = {"account_id": UUID(account["id"]), "created_at": now, **columns}
    async with flagstaff.database.transaction() as transaction:
        rows = [{**row, "key": f"used-{number}"} for number in range(count)]
        await transaction.connection.execute(tables.idempotency_keys.insert(), rows)


async def test_without_a_token_a_key_opens_nothing(ada: Caller, client: Caller, toggle: str) -> None:
    assert (await ada.post(toggle, headers=KEY)).status_code == 200
    assert (await client.post(toggle, headers=KEY)).status_code == 401


@pytest.mark.parametrize("key", ["", " ", "a b", "k" * 256, "a\tb", "ключ".encode(), b"caf\xe9", b"a\x7f"])
async def test_an_invalid_key_is_refused_and_nothing_is_done(
    flagstaff: Flagstaff, ada: Caller, flag: Json, toggle: str, key: str | bytes
) -> None:
    answer = await ada.post(toggle, headers={b"idempotency-key": key if isinstance(key, bytes) else key.encode()})
    assert field_errors(answer) == NO_KEY
    assert await toggles(flagstaff, flag) == 0


async def test_two_keys_in_one_request_are_refused(flagstaff: Flagstaff, ada: Caller, flag: Json, toggle: str) -> None:
    answer = await ada.post(toggle, headers=[("idempotency-key", "a"), ("idempotency-key", "b")])
    assert field_errors(answer) == NO_KEY
    assert await toggles(flagstaff, flag) == 0


@pytest.mark.both_databases
async def test_a_key_that_was_used_for_another_request_is_a_conflict_and_changes_nothing(
    ada: Caller, project: Json, environment: Json, toggle: str
) -> None:
    flags = f"{environment_path(environment)}/flags"
    assert (await ada.post(flags, json={"name": "One", "key": "one"}, headers=KEY)).status_code == 201
    before = (await ada.get(f"{project_path(project)}/changes")).json()
    for path, body in ((flags, {"name": "Two", "key": "two"}), (toggle, None)):
        answer = await ada.post(path, json=body, headers=KEY)
        assert (answer.status_code, answer.json()["detail"]) == (409, REUSED)
    assert (await ada.get(f"{project_path(project)}/changes")).json() == before


@pytest.mark.both_databases
async def test_a_failed_request_leaves_its_key_unused(
    ada: Caller, eve: Caller, environment: Json, flag: Json, count_keys: CountKeys
) -> None:
    flags = f"{environment_path(environment)}/flags"
    for caller, body, status in (
        (ada, {"name": "No key"}, 400),
        (ada, {"name": "Taken", "key": flag["key"]}, 409),
        (eve, {"name": "Not hers", "key": "hers"}, 404),
    ):
        answer = await caller.post(flags, json=body, headers=KEY)
        assert answer.status_code == status
        assert not is_replayed(answer)
    answer = await ada.post(flags, content=b"{", headers={**KEY, "content-type": "application/json"})
    assert answer.status_code == 400
    assert await count_keys() == 0
    assert (await ada.post(flags, json={"name": "Good", "key": "good"}, headers=KEY)).status_code == 201


@pytest.mark.both_databases
async def test_beyond_the_bound_of_an_account_new_keys_are_refused_until_old_ones_expire(
    flagstaff: Flagstaff,
    ada: Caller,
    eve: Caller,
    clock: Clock,
    flag: Json,
    toggle: str,
) -> None:
    await use_keys(flagstaff, ada.account, clock(), KEYS_PER_ACCOUNT - 2)
    for number in range(2):
        assert (await ada.post(toggle, headers={"idempotency-key": f"key-{number}"})).status_code == 200
        clock.advance(hours=1)
    answer = await ada.post(toggle, headers={"idempotency-key": "key-2"})
    assert answer.status_code == 429
    assert 22 * 3600 <= int(answer.headers["retry-after"]) <= 22 * 3600 + 1
    assert await toggles(flagstaff, flag) == 2
    assert is_replayed(await ada.post(toggle, headers={"idempotency-key": "key-1"}))
    assert (await ada.post(toggle)).status_code == 200
    assert (await eve.post("/api/projects", json={"name": "Hers"}, headers=KEY)).status_code == 201
    clock.advance(hours=22)
    await log_in_again(flagstaff, ada)
    await flagstaff.foundation.offered()[Idempotency].purge()
    assert (await ada.post(toggle, headers={"idempotency-key": "key-2"})).status_code == 200


async def test_a_project_that_is_deleted_is_not_created_again_by_its_first_request(ada: Caller) -> None:
    first = await ada.post("/api/projects", json={"name": "Shop"}, headers=KEY)
    await ada.delete(project_path(first.json()))
    again = await ada.post("/api/projects", json={"name": "Shop"}, headers=KEY)
    assert (again.status_code, again.content, is_replayed(again)) == (201, first.content, True)
    assert (await ada.get("/api/projects")).json() == []


async def test_every_post_is_carried_out_once_and_answered_twice_alike(
    flagstaff: Flagstaff, ada: Caller, project: Json, environment: Json, flag: Json
) -> None:
    invited = {"email": "grace@example.com", "role": "viewer"}
    invitation = created(await ada.post(f"/api/projects/{project['id']}/invitations", json=invited))
    staging = await ada.get_environment(project, "staging")
    other, released = [await ada.create_flag(environment, key=key, name=key) for key in ("other", "released")]
    release = created(await ada.post(f"{flag_path(released)}/releases", json=RELEASE))
    erased = {"user_id": "ada"}
    confirmation = (await ada.post(f"{project_path(project)}/erasures/preview", json=erased)).json()["confirmation"]
    renamed_too = (await ada.put(flag_path(other), json={"name": "Renamed too"})).headers["flagstaff-change"]
    posts = {
        "/api/projects": {"name": "Second shop"},
        "/api/projects/{project_id}/invitations": {"email": "alan@example.com", "role": "viewer"},
        "/api/projects/{project_id}/invitations/{invitation_id}/send": None,
        "/api/projects/{project_id}/regenerate-key": None,
        "/api/projects/{project_id}/environments": {"name": "Canary", "key": "canary"},
        "/api/projects/{project_id}/segments": {"name": "Beta testers", "key": "beta", "conditions": []},
        "/api/projects/{project_id}/environments/{env_id}/flags": {"name": "Second", "key": "second"},
        "/api/projects/{project_id}/environments/{env_id}/flags/{flag_id}/toggle": None,
        "/api/projects/{project_id}/environments/{env_id}/flags/{flag_id}/rules": {
            "rule_type": "user_id",
            "rule_value": "ada",
        },
        "/api/projects/{project_id}/flags": {"name": "Third", "key": "third", "environments": [environment["id"]]},
        "/api/projects/{project_id}/copy": {"from": environment["id"], "to": staging["id"], "flag_keys": [flag["key"]]},
        "/api/projects/{project_id}/views": {"name": "Beta", "search": {"tag": "beta"}},
        "/api/projects/{project_id}/pinned-charts": {"name": "Beta", "environment_id": environment["id"]},
        "/api/projects/{project_id}/environments/{env_id}/bulk-actions": {"flags": [flag["id"]], "action": "disable"},
        "/api/projects/{project_id}/changes/{change_id}/restore": None,
        "/api/projects/{project_id}/changes/restore": {"changes": [renamed_too]},
        "/api/projects/{project_id}/metrics": {"key": "errors", "name": "Errors", "kind": "binary", "better": "down"},
        "/api/projects/{project_id}/environments/{env_id}/releases": {
            "at": format_moment(datetime.now(UTC) + timedelta(days=1)),
            "flags": [{"flag_id": other["id"], "changes": {"enabled": True}}],
        },
        "/api/projects/{project_id}/environments/{env_id}/flags/{flag_id}/releases": RELEASE,
        "/api/projects/{project_id}/subscriptions": {"tag": "beta"},
        "/api/projects/{project_id}/erasures": {**erased, "confirmation": confirmation},
        "/api/projects/{project_id}/changes/{change_id}/comments": {"text": "Why?"},
        f"{OF_FLAG}/comments": {"text": "Why?"},
        f"{OF_FLAG}/releases/{{release_id}}/comments": {"text": "Why?"},
        **{f"{OF_FLAG}/releases/{{release_id}}/{verb}": None for verb in ("pause", "resume", "cancel")},
        "/api/projects/{project_id}/environments/{env_id}/flags/{flag_id}/archive": None,
        "/api/projects/{project_id}/environments/{env_id}/flags/{flag_id}/unarchive": None,
    }
    renamed = await ada.put(flag_path(flag), json={"name": "Renamed"})
    documented = {
        path: operations["post"]
        for path, operations in described()["paths"].items()
        if "post" in operations and path.startswith("/api/projects")
    }
    with_key = {
        path
        for path, operation in documented.items()
        if any(parameter["name"] == "Idempotency-Key" for parameter in operation["parameters"])
    }
    of_project, environment_of = "/api/projects/{project_id}", "/api/projects/{project_id}/environments/{env_id}"
    secrets = {f"{of_project}/tokens", f"{of_project}/sdk-keys"}
    asked = ("explain", "answers", "flags/{flag_id}/impact", "flags/{flag_id}/outlook", "evaluations/changes/causes")
    questions = {f"{environment_of}/{each}" for each in asked}
    assert with_key == posts.keys()
    hooks = f"{of_project}/webhooks"  # a message that is sent twice has the same id
    hook = f"{hooks}/{{webhook_id}}"
    sending = {f"{hook}/test", f"{hook}/repeat", f"{hook}/deliveries/{{delivery_id}}/repeat"}
    secrets |= {hooks, f"{hook}/rotate-secret"}
    assert documented.keys() - with_key == secrets | questions | sending | {
        f"{of_project}/playground",
        f"{of_project}/erasures/preview",
        f"{of_project}/user-data",
        f"{hooks}/preview",
    }

    for number, (template, body) in enumerate(posts.items()):
        ids = {"env_id": environment["id"], "flag_id": flag["id"], "invitation_id": invitation["id"]}
        if "{release_id}" in template:
            ids |= {"flag_id": released["id"], "release_id": release["id"]}
        ids["change_id"] = renamed.headers["flagstaff-change"]
        path = template.format(project_id=project["id"], **ids)
        headers = {"idempotency-key": f"key-{number}"}
        first = await ada.post(path, json=body, headers=headers)
        again = await ada.post(path, json=body, headers=headers)
        assert first.status_code in (200, 201, 202), first.text
        assert (again.status_code, again.content) == (first.status_code, first.content)
        assert (is_replayed(first), is_replayed(again)) == (False, True)
        for name in ("content-type", "cache-control"):
            assert again.headers[name] == first.headers[name]
    assert await toggles(flagstaff, flag) == 1
    assert len((await ada.get("/api/projects")).json()) == 2
    assert len((await ada.get(f"{flag_path(flag)}/comments")).json()) == 1


async def test_the_first_answer_is_given_again_whatever_has_happened_since(ada: Caller, project: Json) -> None:
    path = f"{project_path(project)}/regenerate-key"
    first = await ada.post(path, headers=KEY)
    current = (await ada.post(path)).json()["sdk_key"]
    again = await ada.post(path, headers=KEY)
    assert again.content == first.content
    assert (await ada.evaluate(again.json()["sdk_key"])).status_code == 401
    assert (await ada.evaluate(current)).status_code == 200


async def test_each_account_has_its_own_keys(ada: Caller, eve: Caller) -> None:
    for caller in (ada, eve):
        answer = await caller.post("/api/projects", json={"name": "Shop"}, headers=KEY)
        assert (answer.status_code, is_replayed(answer)) == (201, False)


async def test_on_other_methods_a_key_means_nothing(ada: Caller, flag: Json) -> None:
    for enabled in (False, True, False):
        answer = await ada.put(flag_path(flag), json={"enabled": enabled}, headers=KEY)
        assert answer.json()["enabled"] is enabled
    assert (await ada.get(flag_path(flag), headers={b"idempotency-key": b"\xe4"})).status_code == 200


async def test_after_24_hours_a_key_is_new(
    flagstaff: Flagstaff, ada: Caller, clock: Clock, flag: Json, toggle: str, count_keys: CountKeys
) -> None:
    assert (await ada.post(toggle, headers=KEY)).json()["enabled"] is False
    clock.advance(hours=23, minutes=59)
    assert is_replayed(await ada.post(toggle, headers=KEY))
    await flagstaff.foundation.offered()[Idempotency].purge()
    assert await count_keys() == 1
    clock.advance(minutes=1)
    await log_in_again(flagstaff, ada)
    answer = await ada.post(toggle, headers=KEY)
    assert (answer.json()["enabled"], is_replayed(answer)) == (True, False)
    assert await toggles(flagstaff, flag) == 2
    clock.advance(hours=24)
    await flagstaff.foundation.offered()[Idempotency].purge()
    assert await count_keys() == 0


@pytest.mark.both_databases
async def test_of_many_equal_requests_at_once_one_is_carried_out(
    flagstaff: Flagstaff, ada: Caller, project: Json, flag: Json, toggle: str
) -> None:
    answers = await asyncio.gather(*(ada.post(toggle, headers=KEY) for _ in range(25)))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) == 1
    assert sum(not is_replayed(answer) for answer in answers) == 1
    assert await toggles(flagstaff, flag) == 1
    evaluated = (await ada.evaluate(project["sdk_key"])).json()
    assert evaluated["flags"][flag["key"]]["enabled"] is answers[0].json()["enabled"]


async def test_requests_with_keys_of_their_own_are_each_carried_out(
    flagstaff: Flagstaff, ada: Caller, flag: Json, toggle: str
) -> None:
    answers = await asyncio.gather(*(ada.post(toggle, headers={"idempotency-key": f"{n}"}) for n in range(21)))
    assert {answer.status_code for answer in answers} == {200}
    assert await toggles(flagstaff, flag) == 21
    assert (await ada.get(flag_path(flag))).json()["enabled"] is False


async def test_a_repeated_change_waits_until_its_project_is_served_as_the_first_did(
    flagstaff: Flagstaff, ada: Caller, flag: Json, toggle: str
) -> None:
    announced: list[tuple[set[Place], set[UUID]]] = []
    announce = flagstaff.database._announce
    assert announce is not None

    async def note(committed: Committed) -> None:
        announced.append((changed_places(committed.changes), set(committed.found)))
        await announce(committed)

    flagstaff.database.announce_to(note)
    for _ in range(2):
        assert (await ada.post(toggle, headers=KEY)).status_code == 200
    created = {**KEY, "idempotency-key": "new-project"}
    for _ in range(2):
        project = (await ada.post("/api/projects", json={"name": "Shop"}, headers=created)).json()
    place = (UUID(flag["project_id"]), UUID(flag["environment_id"]))
    new = UUID(project["id"])
    assert announced == [({place}, {place[0]}), (set(), {place[0]}), ({(new, None)}, set()), (set(), {new})]
