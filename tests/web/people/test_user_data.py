"""Everything that is stored about one user, in one document."""

from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from tests.support.api import NO_IDS, Caller, Json, field_errors, project_path
from tests.support.clock import Clock
from tests.support.history import make_batch, make_layout, nanoseconds
from tests.support.members import join
from tests.support.releases import create_metric, send_events, until_stored
from tests.support.sdk_keys import create_key

SUBJECT = {"user_id": "grace", "user_email": "Grace@Navy.example"}


@pytest.fixture
def clock() -> Clock:
    """The time of evaluations and events, which is the machine's."""
    return Clock(datetime.now(UTC))


@pytest.fixture
def path(project: Json) -> str:
    """The path of the documents."""
    return f"{project_path(project)}/user-data"


async def test_only_owners_and_admins_export_users(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, project: Json, path: str
) -> None:
    for caller, where in ((eve, path), *((ada, f"/api/projects/{each}/user-data") for each in (uuid4(), *NO_IDS))):
        assert (await caller.post(where, json=SUBJECT)).status_code == 404
    assert list(field_errors(await ada.post(path, json={}))) == ["user_id"]
    await join(flagstaff, project, eve, "editor")
    assert (await eve.post(path, json=SUBJECT)).status_code == 403
    await join(flagstaff, project, eve, "admin")
    assert (await eve.post(path, json=SUBJECT)).status_code == 200


async def test_the_document_has_all_of_the_user_and_nothing_of_others(
    ada: Caller, project: Json, environment: Json, path: str, flagstaff: Flagstaff
) -> None:
    flag = await ada.create_flag(environment, key="new-checkout", enabled=True)
    await create_metric(ada, project)
    contexts: list[Json] = [
        {"user_id": "grace", "custom_attributes": {"country": "PT"}},
        {"user_id": "grace", "user_email": "grace@navy.example"},
        {"user_email": "GRACE@navy.example"},
        {"user_id": "ada"},
    ]
    for context in contexts:
        assert (await ada.evaluate(project["sdk_key"], context=context)).status_code == 200
    events = [{"metric": "errors", "user_id": "grace"}, {"metric": "errors", "user_email": "grace@navy.example"}]
    key = await create_key(ada, project, name="Shop")
    await send_events(ada, project["sdk_key"], events[0], {"metric": "errors", "user_id": "ada"})
    await send_events(ada, key["key"], events[1])
    await until_stored(flagstaff)
    answer = await ada.post(path, json=SUBJECT)
    assert answer.headers["content-disposition"] == 'attachment; filename="user-data.json"'
    found = answer.json()
    assert (found["project_id"], found["user_id"]) == (project["id"], "grace")
    of_environment = {each["environment"]: each for each in found["environments"]}
    assert sorted(of_environment) == ["production", "staging"]
    production, staging = of_environment["production"], of_environment["staging"]
    assert [each["user_id"] for each in production["evaluations"]] == ["grace", "grace", None]
    assert [each["user_email"] for each in production["evaluations"]].count(None) == 1
    assert all(each["flags"][flag["key"]]["enabled"] for each in production["evaluations"])
    named = {each["user"]: (each["key_kind"], each["key_id"], each["key_name"]) for each in production["events"]}
    assert named == {"grace": ("server", None, None), "grace@navy.example": ("server", key["id"], "Shop")}
    assert {each["protocol"] for each in production["events"]} == {"events"}
    assert all(each["instance"] for each in production["events"])
    assert (staging["evaluations"], staging["events"], staging["releases"]) == ([], [], [])


async def test_a_long_history_of_a_user_is_one_document(
    ada: Caller, environment: Json, path: str, flagstaff: Flagstaff
) -> None:
    now, layout = datetime.now(UTC), make_layout()
    records = [(nanoseconds(now, seconds=place - 5000), "grace", None, b"\x05\x64") for place in range(2_500)]
    await flagstaff.history.service.record(make_batch(UUID(environment["id"]), layout, *records))
    found = (await ada.post(path, json=SUBJECT)).json()
    (production,) = (each for each in found["environments"] if each["environment"] == "production")
    assert len({each["id"] for each in production["evaluations"]}) == 2_500


@pytest.mark.both_databases
async def test_releases_for_which_the_user_was_counted_are_in_the_document_and_in_the_preview(
    ada: Caller, project: Json, environment: Json, path: str, flagstaff: Flagstaff
) -> None:
    release = uuid4()
    row = {"release_id": release, "environment_id": UUID(environment["id"]), "version": 1, "holder": ""}
    exposure = {"unit": "grace", "step": 0, "arm": 1, "at": 1}
    async with flagstaff.database.write_history() as connection:
        observed = tables.counted_releases
        made = observed.insert().values(**row, held_until=tables.moment(0), content=b"{}").returning(observed.c.number)
        number = (await connection.execute(made)).scalar_one()
        await connection.execute(tables.step_exposures.insert().values(release=number, **exposure))
    found = (await ada.post(path, json=SUBJECT)).json()["environments"]
    assert [each["release_id"] for of in found for each in of["releases"]] == [str(release)]
    preview = await ada.post(f"/api/projects/{project['id']}/erasures/preview", json=SUBJECT)
    assert [
        each["release_users"] for each in preview.json()["found"] if each["environment_id"] == environment["id"]
    ] == [1]
