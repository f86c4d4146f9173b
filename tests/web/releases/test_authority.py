"""The authority of releases: without it, a release pauses and says why, and then acts for whoever resumes it."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
import sqlalchemy as sa

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from tests.support import tokens
from tests.support.administration import change
from tests.support.api import Caller, Json, flag_path, project_path
from tests.support.clock import Clock
from tests.support.members import join, member_path
from tests.support.releases import (
    create_release,
    evaluate_users,
    read_release,
    release_path,
    send_events,
    until,
    until_served,
    until_state,
    until_step,
)
from tests.support.two_factor import enrol
from tests.web.conftest import ListChanges

ON: Json = {"after_seconds": 3600, "changes": {"enabled": True}}
HALF: Json = {"after_seconds": 0, "changes": {"enabled": True, "rollout_percentage": 50}}
EVERYBODY: Json = {"after_seconds": 3600, "changes": {"rollout_percentage": 100}}
RESUME = "It acts for whoever resumes it."

pytestmark = pytest.mark.both_databases


@pytest.fixture
async def grace(flagstaff: Flagstaff, ada: Caller, eve: Caller, project: Json) -> Caller:
    """An editor of Ada's project, who makes releases."""
    assert ada
    await join(flagstaff, project, eve, "editor")
    return eve


Issue = Callable[..., Awaitable[Caller]]


@pytest.fixture
def issue(flagstaff: Flagstaff, callers: AsyncExitStack, ada: Caller) -> Issue:
    """Create a personal token of Ada's that may change flags; return a machine with it."""

    async def make(**values: object) -> Caller:
        permissions = ("flags:read", "flags:write", "rules:write")
        return await tokens.issue(flagstaff, callers, "/api/me/tokens", ada, *permissions, **values)

    return make


async def resume(caller: Caller, release: Json) -> Json:
    """Resume a release."""
    answer = await caller.post(f"{release_path(release)}/resume")
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


async def apply_next_step(flagstaff: Flagstaff) -> None:
    """Let the time of the next step of the only release come."""
    columns = tables.releases.c
    async with flagstaff.database.transaction() as transaction:
        connection = transaction.connection
        row = (await connection.execute(sa.select(columns.id, columns.counts_from, columns.due_at))).one()
        moved = {"counts_from": row.counts_from - timedelta(hours=1), "due_at": row.due_at - timedelta(hours=1)}
        await connection.execute(tables.releases.update().where(columns.id == row.id).values(moved))


Lose = Callable[[Caller, Caller, Json, Clock], Awaitable[None]]


async def leave(ada: Caller, grace: Caller, project: Json, _clock: Clock) -> None:
    assert (await ada.delete(member_path(project, grace))).status_code == 204


async def become_viewer(ada: Caller, grace: Caller, project: Json, _clock: Clock) -> None:
    assert (await ada.put(member_path(project, grace), json={"role": "viewer"})).status_code == 200


async def become_viewer_there(ada: Caller, grace: Caller, project: Json, _clock: Clock) -> None:
    roles = {"role": "editor", "environments": {"production": "viewer"}}
    assert (await ada.put(member_path(project, grace), json=roles)).status_code == 200


async def be_deactivated(ada: Caller, grace: Caller, _project: Json, _clock: Clock) -> None:
    assert (await change(ada, grace, active=False)).status_code == 200


async def lack_a_factor(ada: Caller, _grace: Caller, project: Json, clock: Clock) -> None:
    await enrol(ada, clock)
    assert (await ada.put(f"{project_path(project)}/security", json={"demands_second_factor": True})).status_code == 200


LOSSES: dict[Lose, str] = {
    leave: "eve@example.com, for whom this release acts, is not a member of the project any more.",
    become_viewer: "eve@example.com, for whom this release acts, may not make its changes any more.",
    become_viewer_there: "eve@example.com, for whom this release acts, may not make its changes any more.",
    be_deactivated: "The account of eve@example.com, for whom this release acts, was deactivated.",
    lack_a_factor: "eve@example.com, for whom this release acts, has no second factor, which the project demands.",
}


@pytest.mark.parametrize("lose", LOSSES)
async def test_a_release_pauses_when_its_author_loses_the_right_and_goes_on_for_whoever_resumes_it(
    flagstaff: Flagstaff,
    ada: Caller,
    grace: Caller,
    project: Json,
    flag: Json,
    list_changes: ListChanges,
    clock: Clock,
    lose: Lose,
) -> None:
    release = await create_release(grace, flag, ON)
    await lose(ada, grace, project, clock)
    paused = await until_state(ada, release, "paused")
    assert paused["reason"] == f"{LOSSES[lose]} {RESUME}"
    assert paused["author"] == {"id": grace.account["id"], "email": "eve@example.com", "token": None}
    refused = await grace.post(f"{release_path(release)}/resume")
    assert refused.status_code in {401, 403, 404}
    assert (await read_release(ada, release)) == paused
    resumed = await resume(ada, release)
    assert (resumed["state"], resumed["reason"]) == ("scheduled", None)
    assert resumed["author"]["email"] == "ada@example.com"
    await apply_next_step(flagstaff)
    await until_state(ada, release, "done")
    assert (await ada.get(flag_path(flag))).json()["enabled"]
    made = [each for each in await list_changes() if each["release"] is not None]
    assert [(each["action"], each["actor_email"]) for each in made] == [
        ("release.paused", "eve@example.com"),
        ("flag.updated", "ada@example.com"),
        ("release.done", "ada@example.com"),
    ]
    assert [each["after"].get("lost_authority") for each in made] == [True, None, False]


async def test_a_step_that_is_due_when_its_author_loses_the_right_is_not_applied(
    flagstaff: Flagstaff, ada: Caller, grace: Caller, flag: Json
) -> None:
    release = await create_release(grace, flag, ON)
    columns = tables.releases.c
    async with flagstaff.database.transaction() as transaction:
        past = {"counts_from": datetime(2020, 1, 1, tzinfo=UTC), "due_at": datetime(2020, 1, 1, tzinfo=UTC)}
        await transaction.connection.execute(tables.releases.update().values(past))
        roles = tables.members.c
        of_grace = roles.account_id == UUID(grace.account["id"])
        await transaction.connection.execute(tables.members.update().where(of_grace).values(role="viewer"))
    paused = await until_state(ada, release, "paused")
    assert (paused["applied"], (await read_flag(ada, flag))["enabled"]) == ([], False)
    async with flagstaff.database.read() as connection:
        assert (await connection.execute(sa.select(columns.lost_authority))).scalar_one()


async def test_a_release_goes_on_when_its_author_loses_rights_elsewhere(
    flagstaff: Flagstaff, ada: Caller, grace: Caller, project: Json, flag: Json
) -> None:
    release = await create_release(grace, flag, ON)
    await join(flagstaff, project, grace, "viewer", {"production": "editor"})
    await apply_next_step(flagstaff)
    done = await until_state(ada, release, "done")
    assert done["author"]["email"] == "eve@example.com"


async def test_a_release_of_a_revoked_token_pauses_and_its_steps_name_the_token_that_they_were_made_with(
    flagstaff: Flagstaff, ada: Caller, issue: Issue, flag: Json, list_changes: ListChanges
) -> None:
    machine = await issue()
    release = await create_release(machine, flag, HALF, EVERYBODY)
    begun = await until_step(ada, release, 0)
    token = {"id": machine.account["id"], "name": "Deployments"}
    assert begun["author"] == {"id": ada.account["id"], "email": "ada@example.com", "token": token}
    (step,) = [each for each in await list_changes() if each["action"] == "flag.updated"]
    assert (str(step["token_id"]), step["token_name"]) == (token["id"], token["name"])
    assert (await ada.delete(f"/api/me/tokens/{token['id']}")).status_code == 204
    paused = await until_state(ada, release, "paused")
    lost = "The access token Deployments of ada@example.com, with which this release acts, was revoked."
    assert paused["reason"] == f"{lost} {RESUME}"
    resumed = await resume(ada, release)
    assert resumed["author"] == {"id": ada.account["id"], "email": "ada@example.com", "token": None}
    await apply_next_step(flagstaff)
    await until_step(ada, release, 1)
    assert (await ada.get(flag_path(flag))).json()["rollout_percentage"] == 100


async def test_a_release_of_an_expired_token_pauses(
    flagstaff: Flagstaff, ada: Caller, issue: Issue, flag: Json
) -> None:
    release = await create_release(await issue(), flag, ON)
    async with flagstaff.database.transaction() as transaction:
        past = {"expires_at": datetime.now(UTC) - timedelta(seconds=1)}
        await transaction.connection.execute(tables.access_tokens.update().values(past))
    paused = await until_state(ada, release, "paused")
    lost = "The access token Deployments of ada@example.com, with which this release acts, has expired."
    assert paused["reason"] == f"{lost} {RESUME}"


async def test_whoever_resumes_a_release_that_has_its_authority_leaves_it_its_author(
    ada: Caller, grace: Caller, flag: Json
) -> None:
    release = await create_release(grace, flag, ON)
    assert (await ada.post(f"{release_path(release)}/pause")).status_code == 200
    assert (await resume(ada, release))["author"]["email"] == "eve@example.com"


async def test_whoever_resumes_a_release_that_was_paused_before_its_author_left_lends_it_the_own_right(
    ada: Caller, grace: Caller, project: Json, flag: Json, clock: Clock
) -> None:
    release = await create_release(grace, flag, ON)
    assert (await ada.post(f"{release_path(release)}/pause")).status_code == 200
    await leave(ada, grace, project, clock)
    resumed = await resume(ada, release)
    assert (resumed["state"], resumed["author"]["email"]) == ("scheduled", "ada@example.com")


async def test_a_guard_turns_the_flag_off_although_its_release_has_lost_its_authority(
    ada: Caller, grace: Caller, project: Json, flag: Json, metric: Json, clock: Clock
) -> None:
    guard = {"metric": metric["key"], "action": "turn_off"}
    release = await create_release(grace, flag, HALF, EVERYBODY, guards=[guard])
    await until_step(ada, release, 0)
    await leave(ada, grace, project, clock)
    await until_state(ada, release, "paused")
    await until_served(ada, flag)
    users = [f"u-{number}" for number in range(60)]
    found = await evaluate_users(ada, project["sdk_key"], users, flag["key"])
    treated = [user for user in users if found[user]["enabled"]]
    await send_events(ada, project["sdk_key"], *({"metric": "errors", "user_id": user} for user in treated))
    stopped = await until_state(ada, release, "stopped")
    assert stopped["reason"].startswith("Checkout errors: ")
    await until(lambda: read_flag(ada, flag), lambda found: not found["enabled"])


async def test_a_release_that_has_applied_its_steps_goes_on_watching_when_its_author_leaves(
    ada: Caller, grace: Caller, project: Json, environment: Json, flag: Json, metric: Json, clock: Clock
) -> None:
    guard = {"metric": metric["key"], "action": "turn_off"}
    watching = await create_release(grace, flag, HALF, guards=[guard])
    before = await until_step(ada, watching, 0)
    waiting = await create_release(grace, await ada.create_flag(environment, key="other"), HALF, EVERYBODY)
    await until_step(ada, waiting, 0)
    await leave(ada, grace, project, clock)
    await until_state(ada, waiting, "paused")
    found = await read_release(ada, watching)
    assert (found["state"], found["applied"]) == ("running", before["applied"])


async def read_flag(caller: Caller, flag: Json) -> Json:
    """A flag as it is now."""
    found: Json = (await caller.get(flag_path(flag))).json()
    return found


async def test_a_release_of_a_token_for_the_project_pauses_when_its_creator_leaves(
    flagstaff: Flagstaff,
    callers: AsyncExitStack,
    ada: Caller,
    grace: Caller,
    project: Json,
    flag: Json,
    clock: Clock,
) -> None:
    await join(flagstaff, project, grace, "admin")
    path = f"{project_path(project)}/tokens"
    machine = await tokens.issue(flagstaff, callers, path, grace, "flags:read", "flags:write")
    release = await create_release(machine, flag, ON)
    await leave(ada, grace, project, clock)
    assert (await until_state(ada, release, "paused"))["reason"].endswith(RESUME)
