"""A second factor that the instance or a project requires: by a setting, an administrator, or …/security."""

from typing import Any

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller, Json, created, environment_path, field_errors, project_path
from tests.support.clock import Clock
from tests.support.members import join
from tests.support.two_factor import TWO_FACTOR, enrol
from tests.web.conftest import ListChanges

REQUIRED = "urn:flagstaff:error:mfa_enrolment_required"
SETTINGS = "/api/admin/settings"
ON = {"demands_second_factor": True}


def security(project: Json) -> str:
    return f"{project_path(project)}/security"


async def is_refused(caller: Caller, path: str, method: str = "GET", **values: Any) -> bool:
    answer = await caller.request(method, path, **values)
    if answer.status_code != 403:
        return False
    assert answer.json()["type"] == REQUIRED
    assert "POST /api/me/two-factor/totp" in answer.json()["detail"]
    return True


async def test_a_demand_of_another_form_is_refused(ada: Caller, clock: Clock, project: Json) -> None:
    await enrol(ada, clock)
    for body in ({}, {"demands_second_factor": 1}, {"demands_second_factor": "on"}, {"demands_second_factor": None}):
        assert field_errors(await ada.put(security(project), json=body)).keys() == {"demands_second_factor"}
    assert (await ada.get(security(project))).json() == {"demands_second_factor": False}


async def test_whoever_demands_a_second_factor_needs_one(ada: Caller, project: Json) -> None:
    assert await is_refused(ada, security(project), "PUT", json=ON)
    assert (await ada.get(security(project))).json() == {"demands_second_factor": False}


async def test_a_project_that_demands_one_is_closed_to_members_without_until_they_enrol(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, clock: Clock, project: Json, environment: Json
) -> None:
    await join(flagstaff, project, eve, "owner")
    await enrol(ada, clock)
    assert (await ada.put(security(project), json=ON)).json() == ON

    flags = f"{environment_path(environment)}/flags"
    for path in (project_path(project), flags, security(project), f"{project_path(project)}/members"):
        assert await is_refused(eve, path), path
    assert await is_refused(eve, flags, "POST", json={"name": "x", "key": "x"})
    assert await is_refused(eve, security(project), "PUT", json={"demands_second_factor": False})
    (listed,) = (await eve.get("/api/projects")).json()
    assert (listed["name"], listed["sdk_key"]) == ("Shop", None)
    assert (await eve.get(TWO_FACTOR)).status_code == 200

    await enrol(eve, clock)
    assert (await eve.get(flags)).status_code == 200
    assert (await eve.get("/api/projects")).json()[0]["sdk_key"] == project["sdk_key"]


async def test_it_stays_closed_to_strangers_as_if_it_did_not_exist(
    ada: Caller, eve: Caller, clock: Clock, project: Json
) -> None:
    await enrol(ada, clock)
    await ada.put(security(project), json=ON)
    assert (await eve.get(project_path(project))).status_code == 404


async def test_other_projects_stay_open(ada: Caller, eve: Caller, clock: Clock, project: Json) -> None:
    await enrol(ada, clock)
    await ada.put(security(project), json=ON)
    assert (await eve.get(project_path(await eve.create_project()))).status_code == 200


async def test_the_demand_is_recorded_and_ends(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, clock: Clock, project: Json, list_changes: ListChanges
) -> None:
    await join(flagstaff, project, eve, "viewer")
    await enrol(ada, clock)
    await ada.put(security(project), json=ON)
    change = (await list_changes())[-1]
    assert change["action"] == "project.updated"
    assert (change["before"]["demands_second_factor"], change["after"]["demands_second_factor"]) == (False, True)

    assert (await ada.put(security(project), json={"demands_second_factor": False})).status_code == 200
    assert (await eve.get(project_path(project))).status_code == 200


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_DEMAND_SECOND_FACTOR": "on"}])
async def test_an_instance_that_demands_one_lets_accounts_without_only_enrol(
    ada: Caller, clock: Clock, client: Caller
) -> None:
    assert await is_refused(ada, "/api/projects")
    assert await is_refused(ada, "/api/projects", "POST", json={"name": "Shop"}, headers={"idempotency-key": "k"})
    assert (await client.get("/api/projects")).status_code == 401
    for path in ("/api/me", "/api/me/changes", TWO_FACTOR):
        assert (await ada.get(path)).status_code == 200

    await enrol(ada, clock)
    created(await ada.post("/api/projects", json={"name": "Shop"}))


async def test_an_administrator_without_a_second_factor_cannot_demand_one(ada: Caller) -> None:
    before = (await ada.get(SETTINGS)).json()
    assert await is_refused(ada, SETTINGS, "PUT", json={**ON, "registration": "closed"})
    assert (await ada.get(SETTINGS)).json() == before


@pytest.mark.both_databases
async def test_an_administrator_demands_one_of_every_account_while_the_instance_runs(
    ada: Caller, eve: Caller, clock: Clock
) -> None:
    await enrol(ada, clock)
    assert (await ada.put(SETTINGS, json=ON)).json()["demands_second_factor_is_default"] is False
    assert await is_refused(eve, "/api/projects")
    assert (await eve.get("/api/me")).status_code == 200
    assert (await ada.get("/api/projects")).status_code == 200
    change = (await ada.get("/api/admin/changes")).json()["items"][0]
    assert (change["before"]["demands_second_factor"], change["after"]["demands_second_factor"]) == (False, True)
    assert (await ada.put(SETTINGS, json={"demands_second_factor": None})).status_code == 200
    assert (await eve.get("/api/projects")).status_code == 200


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_DEMAND_SECOND_FACTOR": "on"}])
async def test_an_administrator_ends_the_demand_of_the_environment(ada: Caller, eve: Caller, clock: Clock) -> None:
    await enrol(ada, clock)
    assert await is_refused(eve, "/api/projects")
    assert (await ada.put(SETTINGS, json={"demands_second_factor": False})).status_code == 200
    assert (await eve.get("/api/projects")).status_code == 200
