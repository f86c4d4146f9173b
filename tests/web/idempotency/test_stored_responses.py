"""The stored responses to requests with a key: limited in bytes, and only for clients that may still see them."""

from collections.abc import Awaitable, Callable

import pytest
import sqlalchemy as sa

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from flagstaff.idempotency import idempotency_service
from tests.support.api import Caller, Json, created, environment_path, flag_path, project_path
from tests.support.clock import Clock
from tests.support.members import join

CountBytes = Callable[[], Awaitable[int]]
GONE, MOVED = idempotency_service._GONE, idempotency_service._MOVED


def key(number: object) -> dict[str, str]:
    return {"idempotency-key": f"key-{number}"}


@pytest.fixture
async def count_bytes(flagstaff: Flagstaff) -> CountBytes:
    """Return how many bytes the stored keys and responses have."""
    columns = tables.idempotency_keys.c
    each = sum(sa.func.length(column) for column in (columns.key, columns.fingerprint, columns.body))
    query = sa.select(sa.func.coalesce(sa.func.sum(each), 0))

    async def count() -> int:
        async with flagstaff.database.read() as connection:
            return int((await connection.execute(query)).scalar_one())

    return count


@pytest.fixture
async def flag(ada: Caller, environment: Json) -> Json:
    """A flag of Ada's in production, which is on."""
    return await ada.create_flag(environment)


@pytest.fixture
async def long_flags(ada: Caller, environment: Json) -> list[str]:
    """Return the ids of flags with long descriptions, which are on."""
    flags = [await ada.create_flag(environment, key=f"flag-{n}", description="й" * 10_000) for n in range(8)]
    return [flag["id"] for flag in flags]


@pytest.mark.both_databases
async def test_a_request_that_changes_nothing_stores_next_to_nothing(
    ada: Caller, environment: Json, long_flags: list[str], count_bytes: CountBytes
) -> None:
    path, body = f"{environment_path(environment)}/bulk-actions", {"flags": long_flags, "action": "enable"}
    for number in range(5):
        answer = await ada.post(path, json=body, headers=key(number))
        again = await ada.post(path, json=body, headers=key(number))
        assert (answer.status_code, answer.json()["changes"]) == (200, [])
        assert len(answer.content) > 100_000
        assert (again.status_code, again.content) == (200, answer.content)
    assert await count_bytes() < 5 * 500


async def test_the_repetition_of_a_request_that_changed_nothing_does_not_undo_what_was_changed_since(
    ada: Caller, eve: Caller, environment: Json, flag: Json, flagstaff: Flagstaff
) -> None:
    await join(flagstaff, {"id": flag["project_id"]}, eve, "editor")
    path, body = f"{environment_path(environment)}/bulk-actions", {"flags": [flag["id"]], "action": "enable"}
    assert (await ada.post(path, json=body, headers=key(1))).json()["changes"] == []
    await eve.put(flag_path(flag), json={"enabled": False})

    again = await ada.post(path, json=body, headers=key(1))

    assert (again.status_code, again.json()["detail"]) == (409, MOVED)
    assert (await ada.get(flag_path(flag))).json()["enabled"] is False
    await eve.put(flag_path(flag), json={"enabled": True})
    assert (await ada.post(path, json=body, headers=key(1))).status_code == 200
    other = await ada.post(path, json={**body, "action": "disable"}, headers=key(1))
    assert (other.status_code, other.json()["detail"]) == (
        409,
        "This Idempotency-Key was used for another request. Use a new key for each request.",
    )


@pytest.mark.each_case_on_both_databases
@pytest.mark.both_databases
@pytest.mark.parametrize("bound", ["BYTES_PER_ACCOUNT", "BYTES_PER_PROJECT"])
async def test_beyond_a_bound_the_oldest_responses_go_but_their_requests_are_not_carried_out_again(
    ada: Caller,
    clock: Clock,
    environment: Json,
    long_flags: list[str],
    count_bytes: CountBytes,
    monkeypatch: pytest.MonkeyPatch,
    bound: str,
) -> None:
    monkeypatch.setattr(idempotency_service, bound, 500_000)
    path = f"{environment_path(environment)}/bulk-actions"
    bodies = [{"flags": long_flags, "action": "disable" if number % 2 == 0 else "enable"} for number in range(8)]
    answers = []
    for number, body in enumerate(bodies):
        answers.append(await ada.post(path, json=body, headers=key(number)))
        clock.advance(seconds=1)
    assert all(answer.json()["changes"] for answer in answers)
    assert len(answers[0].content) > 100_000

    assert await count_bytes() < 500_000 + 8 * 500
    first = await ada.post(path, json=bodies[0], headers=key(0))
    assert (first.status_code, first.json()["detail"]) == (409, GONE)
    last = await ada.post(path, json=bodies[-1], headers=key(7))
    assert (last.status_code, last.content, last.headers["idempotency-replayed"]) == (200, answers[-1].content, "true")
    flags = (await ada.get(f"{environment_path(environment)}/flags")).json()
    assert {each["enabled"] for each in flags} == {True}


async def test_a_removed_member_gets_no_stored_response(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, project: Json, environment: Json
) -> None:
    await join(flagstaff, project, eve, "admin")
    requests = {
        f"{project_path(project)}/regenerate-key": None,
        f"{environment_path(environment)}/flags": {"name": "New", "key": "new"},
        f"{project_path(project)}/invitations": {"email": "grace@example.com", "role": "viewer"},
        f"{project_path(project)}/views": {"name": "Beta", "search": {"tag": "beta"}},
    }
    for path, body in requests.items():
        assert (await eve.post(path, json=body, headers=key(1 + len(path)))).status_code in (200, 201)
        assert (await eve.post(path, json=body, headers=key(1 + len(path)))).headers["idempotency-replayed"] == "true"
    assert (await ada.delete(f"{project_path(project)}/members/{eve.account['id']}")).status_code == 204

    for path, body in requests.items():
        again = await eve.post(path, json=body, headers=key(1 + len(path)))
        assert (again.status_code, again.json()["detail"]) == (404, "There is no such project.")


async def test_a_member_with_a_lesser_role_gets_no_response_to_what_needed_more(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, project: Json, environment: Json, flag: Json
) -> None:
    await join(flagstaff, project, eve, "admin")
    toggle, regenerate = f"{flag_path(flag)}/toggle", f"{project_path(project)}/regenerate-key"
    for path in (toggle, regenerate):
        assert (await eve.post(path, headers=key(len(path)))).status_code == 200
    member = f"{project_path(project)}/members/{eve.account['id']}"
    assert (await ada.put(member, json={"role": "editor"})).status_code == 200

    refused = await eve.post(regenerate, headers=key(len(regenerate)))
    assert (refused.status_code, refused.json()["permission"]) == (403, "keys:rotate")
    assert (await eve.post(toggle, headers=key(len(toggle)))).headers["idempotency-replayed"] == "true"


async def test_who_has_left_a_project_is_not_told_the_key_that_it_was_created_with(
    flagstaff: Flagstaff, ada: Caller, eve: Caller
) -> None:
    first = await ada.post("/api/projects", json={"name": "Shop"}, headers=key(1))
    project = created(first)
    await join(flagstaff, project, eve, "owner")
    assert (await eve.delete(f"{project_path(project)}/members/{ada.account['id']}")).status_code == 204

    again = await ada.post("/api/projects", json={"name": "Shop"}, headers=key(1))

    assert again.status_code == 404
    assert project["sdk_key"] not in again.text
