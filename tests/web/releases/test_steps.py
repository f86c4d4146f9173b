"""Steps of releases: applied once at their times, paused by others' changes, resumed and cancelled."""

import asyncio
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
import sqlalchemy as sa

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from flagstaff.releases.runner import SKIPPED, Runner
from flagstaff.values.moments import format_moment
from tests.support.api import Caller, Json, environment_path, flag_path
from tests.support.releases import (
    create_release,
    evaluate_users,
    read_release,
    release_path,
    until_served,
    until_state,
    until_step,
)
from tests.web.conftest import ListChanges

NOW: Json = {"after_seconds": 0, "changes": {"enabled": True}}
HOUR = 3600


def soon(**shift: float) -> str:
    """A moment after now, in the form of the API."""
    return format_moment(datetime.now(UTC) + timedelta(**shift))


async def get_flag(caller: Caller, flag: Json) -> Json:
    """A flag as it is now."""
    found: Json = (await caller.get(flag_path(flag))).json()
    return found


async def test_a_schedule_changes_the_flag_at_its_moment_once(
    ada: Caller, flag: Json, project: Json, list_changes: ListChanges
) -> None:
    at = soon(seconds=0.5)
    release = await create_release(ada, flag, {"at": at, "changes": {"enabled": True, "description": "Since today."}})
    done = await until_state(ada, release, "done")
    (applied,) = done["applied"]
    assert (applied["step"], applied["due_at"], applied["late"], applied["skipped"]) == (0, at, False, False)
    assert applied["at"] >= at
    assert (done["next_step"], done["due_at"]) == (None, None)
    changed = await get_flag(ada, flag)
    assert (changed["enabled"], changed["description"]) == (True, "Since today.")
    await until_served(ada, flag)
    answers = await evaluate_users(ada, project["sdk_key"], ["ada"], flag["key"])
    assert answers["ada"]["enabled"]
    made = [each for each in await list_changes() if each["flag_id"] is not None]
    assert [each["action"] for each in made] == ["flag.created", "release.created", "flag.updated", "release.done"]
    by = {"id": release["id"], "name": None, "guard": None}
    assert [each["release"] for each in made] == [None, None, by, by]
    assert {each["actor_email"] for each in made} == {"ada@example.com"}


async def test_steps_follow_each_other_after_their_seconds(ada: Caller, flag: Json) -> None:
    release = await create_release(
        ada,
        flag,
        NOW,
        {"after_seconds": 0, "changes": {"rollout_percentage": 5}},
        {"after_seconds": 1, "changes": {"rollout_percentage": 100}},
    )
    done = await until_state(ada, release, "done")
    first, second, third = (datetime.fromisoformat(each["at"]) for each in done["applied"])
    assert first < second < third
    assert third - second >= timedelta(seconds=1)
    assert (await get_flag(ada, flag))["rollout_percentage"] == 100


async def test_a_step_changes_rules(ada: Caller, flag: Json) -> None:
    kept, gone = [await ada.create_rule(flag, rule_value=value) for value in ("ada", "grace")]
    rules = [
        {"id": kept["id"], "enabled": False},
        {"id": gone["id"], "delete": True},
        {"rule_type": "email_domain", "rule_value": "example.com", "priority": 7},
    ]
    release = await create_release(ada, flag, {"after_seconds": 0, "changes": {"rules": rules}})
    await until_state(ada, release, "done")
    found = (await ada.get(f"{flag_path(flag)}/rules")).json()
    assert [(each["rule_value"], each["enabled"]) for each in found] == [("example.com", True), ("ada", False)]


async def test_a_step_that_cannot_be_applied_ends_the_release_and_changes_nothing(
    ada: Caller, environment: Json, flag: Json
) -> None:
    other = await ada.create_flag(environment, key="other")
    needs = {"prerequisites": [{"flag_key": "other"}], "description": "Half done?"}
    release = await create_release(ada, flag, {"at": soon(seconds=1), "changes": needs})
    assert (await ada.delete(flag_path(other))).status_code == 204
    failed = await until_state(ada, release, "failed")
    assert failed["reason"].startswith("Step 1 could not be applied. ")
    assert "must be the key of a flag of this environment" in failed["reason"]
    assert (await get_flag(ada, flag))["description"] is None


async def test_a_step_that_would_end_a_rollout_with_0_is_not_applied_after_others_have_begun_it(
    flagstaff: Flagstaff, ada: Caller, flag: Json
) -> None:
    step = {"at": soon(hours=1), "changes": {"enabled": True, "rollout_percentage": 0}}
    release = await create_release(ada, flag, step)
    await ada.put(flag_path(flag), json={"rollout_percentage": 50})
    await move_back(flagstaff, release, timedelta(hours=1))
    failed = await until_state(ada, release, "failed")
    start = "Step 1 could not be applied. rollout_percentage must not go from 50 to 0, which means everyone: "
    assert failed["reason"].startswith(start)
    kept = await get_flag(ada, flag)
    assert (kept["enabled"], kept["rollout_percentage"]) == (False, 50)


@pytest.mark.both_databases
async def test_steps_whose_times_have_all_passed_are_folded_into_the_newest(
    flagstaff: Flagstaff, ada: Caller, flag: Json
) -> None:
    steps = [{"at": soon(hours=hours), "changes": {"rollout_percentage": 10 * hours}} for hours in (1, 2, 3)]
    release = await create_release(ada, flag, *steps)
    await move_back(flagstaff, release, timedelta(hours=2, minutes=30))
    moved = await until_step(ada, release, 1)
    (applied,) = moved["applied"]
    assert (applied["step"], applied["folded"], applied["late"], applied["skipped"]) == (1, [0], True, False)
    assert (await get_flag(ada, flag))["rollout_percentage"] == 20
    assert (moved["state"], moved["next_step"]) == ("running", 2)


async def test_late_steps_are_skipped_if_the_release_says_so(flagstaff: Flagstaff, ada: Caller, flag: Json) -> None:
    step = {"at": soon(hours=1), "changes": {"enabled": True}}
    release = await create_release(ada, flag, step, when_late="skip")
    await move_back(flagstaff, release, timedelta(hours=1, minutes=2))
    done = await until_state(ada, release, "done")
    (applied,) = done["applied"]
    assert (applied["skipped"], applied["late"]) == (True, True)
    assert not (await get_flag(ada, flag))["enabled"]


async def test_a_late_step_that_is_skipped_does_not_enlarge_the_next_one_without_asking(
    flagstaff: Flagstaff, ada: Caller, flag: Json
) -> None:
    ten, hundred = ({"changes": {"rollout_percentage": percentage}} for percentage in (10, 100))
    release = await create_release(
        ada, flag, {"at": soon(hours=1), **ten}, {"after_seconds": 0, **hundred}, when_late="skip"
    )
    await move_back(flagstaff, release, timedelta(hours=1, minutes=2))
    paused = await until_state(ada, release, "paused")
    assert paused["reason"] == SKIPPED.format(1)
    assert (await get_flag(ada, flag))["rollout_percentage"] == 0
    await ada.post(f"{release_path(release)}/resume")
    await until_state(ada, release, "done")
    assert (await get_flag(ada, flag))["rollout_percentage"] == 100


async def move_back(flagstaff: Flagstaff, release: Json, by: timedelta) -> None:
    """Move the times of a release back, as if no instance had run since."""
    columns = tables.releases.c
    async with flagstaff.database.transaction() as transaction:
        connection = transaction.connection
        row = (await connection.execute(sa.select(columns.id, columns.steps, columns.due_at))).one()
        steps = [
            {**step, "at": format_moment(datetime.fromisoformat(step["at"]) - by)} if "at" in step else step
            for step in row.steps
        ]
        moved = {"steps": steps, "due_at": row.due_at - by}
        await connection.execute(tables.releases.update().where(columns.id == row.id).values(moved))
    assert release["id"] == str(row.id)


async def test_a_release_that_cannot_be_read_keeps_no_other_from_its_steps(
    flagstaff: Flagstaff, ada: Caller, environment: Json
) -> None:
    flags = [await ada.create_flag(environment, key=key, enabled=False) for key in ("first", "second")]
    at = soon(hours=1)
    broken, sound = [await create_release(ada, flag, {"at": at, "changes": {"enabled": True}}) for flag in flags]
    columns = tables.releases.c
    due = {"at": soon(hours=-1), "changes": {"enabled": True}}
    async with flagstaff.database.transaction() as transaction:
        for release, steps in ((broken, [{"at": "in an hour"}]), (sound, [due])):
            due_at = datetime.now(UTC) - timedelta(seconds=10 if release is sound else 20)
            update = tables.releases.update().where(columns.id == UUID(release["id"]))
            await transaction.connection.execute(update.values(steps=steps, due_at=due_at))
    await until_state(ada, sound, "done")
    assert not (await get_flag(ada, flags[0]))["enabled"]


async def test_many_instances_apply_a_step_once(
    flagstaff: Flagstaff, ada: Caller, flag: Json, list_changes: ListChanges
) -> None:
    release = await create_release(ada, flag, {"at": soon(seconds=0.3), "changes": {"enabled": True}})
    runner = next(each for each in flagstaff.foundation.periodic_tasks if each.name == "releases").work
    assert isinstance(getattr(runner, "__self__", None), Runner)
    while (await read_release(ada, release))["state"] != "done":
        await asyncio.gather(*(runner() for _ in range(5)))
    assert [each["action"] for each in await list_changes()].count("flag.updated") == 1


async def test_a_release_whose_flag_is_off_is_not_resumed_before_that_is_on_again(ada: Caller, flag: Json) -> None:
    half, everyone = ({"changes": {"rollout_percentage": percentage}} for percentage in (50, 100))
    first = {"after_seconds": 0, "changes": {"enabled": True, **half["changes"]}}
    release = await create_release(ada, flag, first, {"after_seconds": HOUR, **everyone})
    await until_step(ada, release, 0)
    await ada.post(f"{flag_path(flag)}/toggle")
    paused = await until_state(ada, release, "paused")
    refused = await ada.post(f"{release_path(release)}/resume")
    assert refused.status_code == 409
    assert "Turn it on first" in refused.json()["detail"]
    assert await read_release(ada, release) == paused
    await ada.post(f"{flag_path(flag)}/toggle")
    assert (await ada.post(f"{release_path(release)}/resume")).json()["state"] == "running"


async def test_turning_the_flag_off_by_hand_pauses_its_release(ada: Caller, flag: Json) -> None:
    release = await create_release(
        ada,
        flag,
        {"after_seconds": 0, "changes": {"enabled": True, "rollout_percentage": 50}},
        {**NOW, "after_seconds": HOUR},
    )
    await until_step(ada, release, 0)
    assert (await ada.post(f"{flag_path(flag)}/toggle")).status_code == 200
    paused = await until_state(ada, release, "paused")
    assert paused["reason"] == "ada@example.com turned the flag off."
    assert not (await get_flag(ada, flag))["enabled"]


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"rollout_percentage": 7}, "ada@example.com changed rollout_percentage, which this release changes too."),
        ({"enabled": False}, "ada@example.com turned the flag off."),
    ],
)
async def test_a_change_of_one_of_its_fields_pauses_a_release_and_is_named(
    ada: Caller, flag: Json, values: Json, reason: str
) -> None:
    step = {"after_seconds": 0, "changes": {"enabled": True, "rollout_percentage": 50}}
    release = await create_release(ada, flag, step, {"after_seconds": HOUR, "changes": {"rollout_percentage": 100}})
    await until_step(ada, release, 0)
    await ada.put(flag_path(flag), json={"description": "Nothing of the release's."})
    await ada.put(flag_path(flag), json=values)
    assert (await until_state(ada, release, "paused"))["reason"] == reason


async def test_before_its_first_step_only_a_kill_pauses_a_release(ada: Caller, environment: Json) -> None:
    flag = await ada.create_flag(environment, enabled=True)
    step = {"after_seconds": HOUR, "changes": {"enabled": True, "rollout_percentage": 50}}
    release = await create_release(ada, flag, step)
    await ada.put(flag_path(flag), json={"rollout_percentage": 3})
    await ada.post(f"{flag_path(flag)}/toggle")
    paused = await until_state(ada, release, "paused")
    assert paused["reason"] == "ada@example.com turned the flag off."


async def test_archiving_the_flag_pauses_its_release_and_it_cannot_go_on(ada: Caller, flag: Json) -> None:
    release = await create_release(ada, flag, {**NOW, "after_seconds": HOUR})
    await ada.post(f"{flag_path(flag)}/archive")
    assert (await until_state(ada, release, "paused"))["reason"] == "ada@example.com archived the flag."
    assert (await ada.post(f"{release_path(release)}/resume")).status_code == 409


async def test_a_paused_release_goes_on_where_it_was(flagstaff: Flagstaff, ada: Caller, flag: Json) -> None:
    release = await create_release(ada, flag, {**NOW, "after_seconds": HOUR})
    paused = (await ada.post(f"{release_path(release)}/pause")).json()
    assert (paused["state"], paused["reason"], paused["due_at"]) == ("paused", "Paused by ada@example.com.", None)
    assert (await ada.post(f"{release_path(release)}/pause")).json() == paused
    resumed = (await ada.post(f"{release_path(release)}/resume")).json()
    assert (resumed["state"], resumed["reason"]) == ("scheduled", None)
    assert resumed["due_at"] > release["due_at"]
    assert (await ada.post(f"{release_path(release)}/resume")).json() == resumed


async def test_a_release_that_has_ended_can_only_be_read(ada: Caller, flag: Json) -> None:
    release = await create_release(ada, flag, {**NOW, "after_seconds": HOUR})
    cancelled = (await ada.post(f"{release_path(release)}/cancel")).json()
    assert (cancelled["state"], cancelled["reason"]) == ("cancelled", "Cancelled by ada@example.com.")
    for verb in ("pause", "resume", "cancel"):
        answer = await ada.post(f"{release_path(release)}/{verb}")
        assert (answer.status_code, answer.json()["detail"]) == (409, "The release has ended: it is cancelled.")
    assert await read_release(ada, release) == cancelled


async def test_the_releases_of_a_flag_go_with_it(ada: Caller, environment: Json, flag: Json) -> None:
    await create_release(ada, flag, {**NOW, "after_seconds": HOUR})
    assert (await ada.delete(flag_path(flag))).status_code == 204
    assert (await ada.get(f"{environment_path(environment)}/releases")).json() == []
