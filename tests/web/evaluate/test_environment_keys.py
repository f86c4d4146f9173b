"""Evaluate with an SDK key of an environment, by the fast path and by the route."""

from datetime import timedelta
from pathlib import Path

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.values.moments import format_moment
from tests.support.api import Caller, Json, flag_path
from tests.support.clock import Clock
from tests.support.connections import BODY, Connection, Listener, request
from tests.support.sdk_keys import create_key, keys_path

STAGING = BODY.replace(b"production", b"staging")
ON = {"flags": {"new-checkout": {"enabled": True, "reason": "Flag enabled globally"}}}


@pytest.fixture
def template(sqlite_template: Path) -> Path:
    """SQLite only: the storage tests use both databases."""
    return sqlite_template


@pytest.fixture
def environ() -> dict[str, str]:
    """No limits, except in tests about them."""
    return {"FLAGSTAFF_EVALUATE_RATE_LIMIT": "off", "FLAGSTAFF_API_RATE_LIMIT": "off", "FLAGSTAFF_ACCESS_LOG": "off"}


@pytest.fixture
async def flag(ada: Caller, project: Json) -> Json:
    """A flag of `production` that is on."""
    return await ada.create_flag(await ada.get_environment(project))


@pytest.fixture
async def key(ada: Caller, project: Json, flag: Json) -> Json:
    """A server's key of `production`."""
    return await create_key(ada, project)


async def ask(connection: Connection, key: str, body: bytes = BODY) -> tuple[int, Json]:
    connection.feed(request(key.encode(), body))
    answer = await connection.receive()
    return answer.status, answer.json()


@pytest.mark.parametrize("kind", ["server", "browser"])
async def test_both_kinds_of_keys_are_answered_as_the_projects_own(
    connection: Connection, ada: Caller, project: Json, flag: Json, kind: str
) -> None:
    key = await create_key(ada, project, kind=kind)
    answers = [await ask(connection, each) for each in (key["key"], key["key"], project["sdk_key"])]
    assert answers == [(200, ON)] * 3
    assert (await ada.post(f"/sdk/v1/evaluate/{flag['key']}", content=BODY, headers={"x-sdk-key": key["key"]})).json()[
        "enabled"
    ]


@pytest.mark.parametrize("wanted", ["staging", "nowhere"])
async def test_another_environment_is_refused_with_the_names_of_both(
    connection: Connection, ada: Caller, key: Json, wanted: str
) -> None:
    body = BODY.replace(b"production", wanted.encode())
    for _ in range(2):
        status, problem = await ask(connection, key["key"], body)
        assert status == 403
        assert problem["detail"] == (
            f"This SDK key is for the environment production, and the request asks for '{wanted}'. "
            "Use a key of that environment."
        )
    one = await ada.post("/sdk/v1/evaluate/new-checkout", content=body, headers={"x-sdk-key": key["key"]})
    assert one.status_code == 403


@pytest.mark.parametrize(
    "change", [lambda key: key[:-1], lambda key: key + "a", lambda key: key.upper(), lambda key: key.partition(".")[2]]
)
async def test_a_key_that_is_not_quite_it_opens_nothing(connection: Connection, key: Json, change: object) -> None:
    assert (await ask(connection, key["key"]))[0] == 200
    status, problem = await ask(connection, change(key["key"]))  # type: ignore[operator]
    assert (status, problem["detail"]) == (401, "The X-SDK-Key header is missing or is not a valid SDK key.")


async def test_a_change_is_seen_by_the_very_next_request(
    connection: Connection, ada: Caller, flag: Json, key: Json
) -> None:
    for wanted in (True, False, True):
        assert (await ask(connection, key["key"]))[1]["flags"]["new-checkout"]["enabled"] is wanted
        await ada.post(f"{flag_path(flag)}/toggle")


async def test_a_key_ends_at_its_very_expiry(
    connection: Connection, ada: Caller, project: Json, flag: Json, clock: Clock
) -> None:
    expires_at = clock() + timedelta(seconds=10)
    key = await create_key(ada, project, expires_at=format_moment(expires_at))
    clock.at = expires_at - timedelta(microseconds=1)
    assert (await ask(connection, key["key"]))[0] == 200
    clock.at = expires_at
    for _ in range(2):
        assert (await ask(connection, key["key"]))[0] == 401


async def test_a_revoked_key_is_refused_by_the_very_next_request(
    connection: Connection, ada: Caller, project: Json, key: Json
) -> None:
    assert (await ask(connection, key["key"]))[0] == 200
    assert (await ada.delete(f"{keys_path(project)}/{key['id']}")).status_code == 204
    assert (await ask(connection, key["key"]))[0] == 401


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_SDK_KEY_RATE_LIMIT": "2/minute", "FLAGSTAFF_ACCESS_LOG": "off"}])
async def test_each_key_has_its_own_limit_besides_the_one_of_the_address(
    connection: Connection, ada: Caller, project: Json, key: Json
) -> None:
    other = await create_key(ada, project)
    statuses = [(await ask(connection, each))[0] for each in (key["key"], key["key"], key["key"], other["key"])]
    assert statuses == [200, 200, 429, 200]
    connection.feed(request(key["key"].encode(), STAGING))
    answer = await connection.receive()
    assert (answer.status, answer.header("retry-after")) == (429, "60")
    assert [(await ask(connection, project["sdk_key"]))[0] for _ in range(4)] == [200] * 4


async def test_the_fast_path_answers_with_a_known_key_without_the_application(
    flagstaff: Flagstaff, client: Caller, key: Json
) -> None:
    assert (await client.evaluate(key["key"])).status_code == 200

    async def fail(*_: object) -> None:
        raise AssertionError("the request reached the application")

    async with Listener(fail, flagstaff.edge.connection_class) as fast_path:
        assert await ask(await fast_path.connect(), key["key"]) == (200, ON)
