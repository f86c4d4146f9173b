"""GET …/environments/{env_id}/connections."""

from uuid import UUID, uuid4

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller, Json, environment_path
from tests.support.clock import Clock
from tests.web.applications.conftest import make_client


async def connections(caller: Caller, environment: Json) -> Json:
    answer = await caller.get(f"{environment_path(environment)}/connections")
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


async def test_it_needs_a_token(client: Caller, environment: Json) -> None:
    assert (await client.get(f"{environment_path(environment)}/connections")).status_code == 401


async def test_an_environment_is_listed_nowhere_but_in_its_place(ada: Caller, eve: Caller, environment: Json) -> None:
    missing = {**environment, "id": str(uuid4())}
    for caller, place in ((eve, environment), (ada, missing)):
        assert (await caller.get(f"{environment_path(place)}/connections")).status_code == 404


async def test_without_applications_it_is_empty(ada: Caller, environment: Json) -> None:
    found = await connections(ada, environment)
    assert (found["current"], found["total"], found["connections"]) == (0, 0, [])


async def test_an_instance_that_asks_is_listed_with_its_revision_and_when_it_asks_next(
    flagstaff: Flagstaff, ada: Caller, environment: Json, clock: Clock
) -> None:
    flag = await ada.create_flag(environment)
    revision = (await connections(ada, environment))["revision"]
    environment_id, client = UUID(environment["id"]), make_client(interval_seconds=15.0)
    flagstaff.applications.collector.record_poll(environment_id, client, revision)
    await flagstaff.applications.collector.write()
    assert await connections(ada, environment) == {
        "revision": revision,
        "current": 1,
        "total": 1,
        "connections": [
            {
                "application": "checkout",
                "instance": "pod-1",
                "connection": "pod-1",
                "sdk": "unleash-python:6.9.1",
                "streams": False,
                "revision": revision,
                "is_current": True,
                "seen_at": "2026-11-20T10:00:00.000000Z",
                "due_at": "2026-11-20T10:00:15.000000Z",
            }
        ],
    }
    await ada.post(f"{environment_path(environment)}/flags/{flag['id']}/toggle")
    after = await connections(ada, environment)
    assert (after["revision"] > revision, after["current"], after["total"]) == (True, 0, 1)
    clock.advance(seconds=1)
    flagstaff.applications.collector.record_poll(environment_id, client, after["revision"])
    await flagstaff.applications.collector.write()
    assert (await connections(ada, environment))["current"] == 1


async def test_instances_of_an_application_are_told_apart(flagstaff: Flagstaff, ada: Caller, environment: Json) -> None:
    environment_id = UUID(environment["id"])
    for client in (
        make_client(),
        make_client(instance="pod-2"),
        make_client(connection="a"),
        make_client(connection="b"),
    ):
        flagstaff.applications.collector.record_poll(environment_id, client, 1)
    await flagstaff.applications.collector.write()
    found = (await connections(ada, environment))["connections"]
    assert [each["connection"] for each in found] == ["a", "b", "pod-1", "pod-2"]


async def test_a_stream_is_listed_until_it_is_closed_and_shortly_after(
    flagstaff: Flagstaff, ada: Caller, environment: Json, clock: Clock
) -> None:
    environment_id, client = UUID(environment["id"]), make_client()
    flagstaff.applications.collector.record_stream(environment_id, client, 3)
    await flagstaff.applications.collector.write()
    (found,) = (await connections(ada, environment))["connections"]
    assert (found["streams"], found["revision"], found["due_at"]) == (True, 3, None)
    clock.advance(hours=2)
    await flagstaff.applications.collector.write()  # it is still open
    assert (await connections(ada, environment))["total"] == 1
    flagstaff.applications.collector.record_closed(environment_id, client)
    await flagstaff.applications.collector.write()
    (found,) = (await connections(ada, environment))["connections"]
    assert found["streams"] is False
    clock.advance(hours=2)
    assert (await connections(ada, environment))["total"] == 0


async def test_what_another_process_wrote_later_is_kept(
    flagstaff: Flagstaff, ada: Caller, environment: Json, clock: Clock
) -> None:
    environment_id, client = UUID(environment["id"]), make_client()
    flagstaff.applications.collector.record_poll(environment_id, client, 7)
    await flagstaff.applications.collector.write()
    clock.advance(seconds=-5)
    flagstaff.applications.collector.record_poll(environment_id, client, 6)
    await flagstaff.applications.collector.write()
    clock.advance(seconds=5)
    assert [each["revision"] for each in (await connections(ada, environment))["connections"]] == [7]
