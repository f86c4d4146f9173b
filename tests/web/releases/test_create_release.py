"""Creating releases: invalid ones, and the answers to valid ones."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from httpx import Response

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.releases.releases_service import ENDED_KEPT
from flagstaff.values.moments import format_moment
from tests.support.api import Caller, Json, created, environment_path, field_errors, flag_path
from tests.support.members import join
from tests.support.releases import create_metric, create_release, release_path
from tests.web.conftest import SignUp

ON: Json = {"after_seconds": 3600, "changes": {"enabled": True}}
HALF: Json = {"after_seconds": 3600, "changes": {"enabled": True, "rollout_percentage": 50}}


def soon(**shift: float) -> str:
    """A moment after now, in the form of the API."""
    return format_moment(datetime.now(UTC) + timedelta(**shift))


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "steps"),
        ({"steps": []}, "body"),
        ({"steps": [ON] * 21}, "steps"),
        ({"steps": [{"after_seconds": 0, "changes": {}}]}, "steps.0.changes"),
        ({"steps": [{"changes": {"enabled": True}}]}, "steps.0"),
        ({"steps": [{**ON, "at": "2030-01-01T00:00:00Z"}]}, "steps.0"),
        ({"steps": [{"after_seconds": -1, "changes": {"enabled": True}}]}, "steps.0.after_seconds"),
        ({"steps": [{"after_seconds": 90 * 86_400 + 1, "changes": {"enabled": True}}]}, "steps.0.after_seconds"),
        ({"steps": [{"at": "2020-01-01T00:00:00Z", "changes": {"enabled": True}}]}, "steps.0.at"),
        ({"steps": [{"at": "2999-01-01T00:00:00Z", "changes": {"enabled": True}}]}, "steps.0.at"),
        ({"steps": [{"at": "tomorrow", "changes": {"enabled": True}}]}, "steps.0.at"),
        ({"steps": [{**ON, "changes": {"enabled": "yes"}}]}, "steps.0.changes.enabled"),
        ({"steps": [{**ON, "changes": {"rollout_percentage": 101}}]}, "steps.0.changes.rollout_percentage"),
        ({"steps": [{**ON, "changes": {"key": "other"}}]}, "steps.0.changes.key"),
        (
            {"steps": [{**ON, "changes": {"prerequisites": [{"flag_key": "none"}]}}]},
            "steps.0.changes.prerequisites.0.flag_key",
        ),
        ({"steps": [{**ON, "changes": {"rules": [{"enabled": True}]}}]}, "steps.0.changes.rules.0"),
        (
            {"steps": [{**ON, "changes": {"rules": [{"id": str(uuid4()), "enabled": True}]}}]},
            "steps.0.changes.rules.0.id",
        ),
        (
            {"steps": [{**ON, "changes": {"rules": [{"rule_type": "user_email", "rule_value": "ada"}]}}]},
            "steps.0.changes.rules.0.rule_value",
        ),
        (
            {"steps": [{**ON, "changes": {"rules": [{"rule_type": "segment", "rule_value": "none"}]}}]},
            "steps.0.changes.rules.0.rule_value",
        ),
        (
            {"steps": [{**ON, "changes": {"rules": [{"rule_type": "attributes"}]}}]},
            "steps.0.changes.rules.0.conditions",
        ),
        ({"steps": [{**HALF, "least_users": 10}]}, "steps.0.least_users"),
        ({"steps": [HALF], "guards": [{"metric": "none", "action": "turn_off"}]}, "guards.0.metric"),
        ({"steps": [ON], "guards": [{"metric": "errors", "action": "turn_off"}]}, "guards"),
        ({"steps": [HALF], "guards": [{"metric": "errors", "action": "explode"}]}, "guards.0.action"),
        (
            {"steps": [HALF], "guards": [{"metric": "errors", "action": "pause", "tolerates": -0.1}]},
            "guards.0.tolerates",
        ),
        ({"steps": [HALF], "guards": [{"metric": "errors", "action": "pause"}] * 2}, "body"),
        ({"steps": [HALF], "guards": [{"metric": "errors", "action": "pause"}] * 11}, "guards"),
        ({"steps": [HALF], "false_alarm_rate": 0}, "false_alarm_rate"),
        ({"steps": [HALF], "false_alarm_rate": 1}, "false_alarm_rate"),
        ({"steps": [HALF], "when_late": "never"}, "when_late"),
        ({"steps": [HALF], "name": " "}, "name"),
    ],
)
async def test_a_release_that_cannot_be_is_refused_by_field(
    ada: Caller, metric: Json, path: str, body: Json, field: str
) -> None:
    assert metric
    assert list(field_errors(await ada.post(path, json=body))) == [field]
    assert (await ada.get(path)).json() == []


@pytest.mark.parametrize("present", [1, 100])
async def test_no_step_ends_a_rollout_with_0_which_means_everyone(
    ada: Caller, flag: Json, path: str, present: int
) -> None:
    place = "changes.rollout_percentage"
    said = (
        f"must not go from {present} to 0, which means everyone: to turn the flag off, set enabled to false instead; "
        "to turn it on for everyone, set 100; to turn it on for users whom a rule matches only, set fallthrough to off"
    )
    to_0: Json = {"after_seconds": 3600, "changes": {"rollout_percentage": 0}}
    to_present: Json = {"after_seconds": 3600, "changes": {"enabled": True, "rollout_percentage": present}}
    assert field_errors(await ada.post(path, json={"steps": [to_present, ON, to_0]})) == {f"steps.2.{place}": said}
    await ada.put(flag_path(flag), json={"rollout_percentage": present})
    assert field_errors(await ada.post(path, json={"steps": [to_0]})) == {f"steps.0.{place}": said}
    scheduled = {"at": soon(days=1), "flags": [{"flag_id": flag["id"], "changes": {"rollout_percentage": 0}}]}
    answer = await ada.post(f"{environment_path({**flag, 'id': flag['environment_id']})}/releases", json=scheduled)
    assert field_errors(answer) == {f"flags.0.steps.0.{place}": said}
    assert (await ada.get(path)).json() == []


async def test_a_step_may_set_0_where_the_flag_has_no_rollout(ada: Caller, flag: Json) -> None:
    steps = [{"after_seconds": 3600, "changes": {"enabled": True, "rollout_percentage": each}} for each in (0, 50)]
    assert (await create_release(ada, flag, *steps))["state"] == "scheduled"


async def test_times_come_one_after_the_other(ada: Caller, path: str) -> None:
    late = {"after_seconds": 7200, "changes": {"enabled": True}}
    answer = await ada.post(path, json={"steps": [late, {"at": soon(hours=1), "changes": {"enabled": True}}]})
    assert list(field_errors(answer)) == ["steps.1.at"]
    steps = [{"at": soon(hours=hours), "changes": {"enabled": True}} for hours in (2, 1)]
    assert field_errors(await ada.post(path, json={"steps": steps})) == {
        "steps.1.at": "must not be before the previous step can begin"
    }


async def test_a_release_elsewhere_is_not_found(ada: Caller, eve: Caller, flag: Json, path: str) -> None:
    release = await create_release(ada, flag, ON)
    other = await ada.create_flag(await ada.get_environment(await ada.create_project()))
    places = [
        (eve, path),
        (ada, f"{flag_path(other)}/releases"),
        (ada, f"{flag_path({**flag, 'id': uuid4()})}/releases"),
    ]
    for caller, where in places:
        assert (await caller.get(f"{where}/{release['id']}")).status_code == 404
        assert (await caller.get(f"{where}/{release['id']}/results")).status_code == 404
        for verb in ("pause", "resume", "cancel"):
            assert (await caller.post(f"{where}/{release['id']}/{verb}")).status_code == 404
    for caller, where in places[:1]:
        assert (await caller.post(where, json={"steps": [ON]})).status_code == 404
        assert (await caller.get(where)).status_code == 404


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("environ", "place"),
    [
        ({"FLAGSTAFF_MAX_WATCHED_RELEASES_PER_ENVIRONMENT": "2"}, "environment"),
        ({"FLAGSTAFF_MAX_WATCHED_RELEASES_PER_PROJECT": "2"}, "project"),
        ({"FLAGSTAFF_MAX_WATCHED_RELEASES": "2"}, "instance"),
    ],
    ids=["environment", "project", "instance"],
)
async def test_so_many_releases_may_be_watched_and_a_schedule_or_a_cancelled_one_takes_no_place(
    ada: Caller, project: Json, environment: Json, metric: Json, environ: dict[str, str], place: str
) -> None:
    assert metric
    staging, other = await ada.get_environment(project, "staging"), await ada.create_project()
    elsewhere = await ada.get_environment(other)
    await create_metric(ada, other)
    where = {"environment": environment, "project": staging, "instance": elsewhere}
    guards = [{"metric": "errors", "action": "turn_off"}]

    async def create(environment: Json, key: str, **values: object) -> Response:
        flag = await ada.create_flag(environment, key=key, enabled=False)
        return await ada.post(f"{flag_path(flag)}/releases", json={"steps": [HALF], **values})

    first = created(await create(environment, "first", guards=guards))
    created(await create(environment, "second", guards=guards))
    created(await create(environment, "schedule"))
    refused = await create(where[place], "third", guards=guards)
    assert refused.status_code == 409
    ((setting, _),) = environ.items()
    assert refused.json()["detail"] == (
        f"The {place} has 2 watched releases, and {setting} allows 2. Cancel watched releases that are no longer used, "
        "or ask the operator to raise the setting."
    )
    narrower = {"environment": staging, "project": elsewhere}.get(place)
    if narrower is not None:
        created(await create(narrower, "beside", guards=guards))
    await ada.post(f"{release_path(first)}/cancel")
    created(await create(where[place], "fourth", guards=guards))


async def test_an_archived_flag_gets_no_release(ada: Caller, flag: Json, path: str) -> None:
    await ada.post(f"{flag_path(flag)}/archive")
    answer = await ada.post(path, json={"steps": [ON]})
    assert (answer.status_code, "is archived" in answer.json()["detail"]) == (409, True)


async def test_a_flag_has_one_release_at_a_time(ada: Caller, flag: Json, path: str) -> None:
    first = await create_release(ada, flag, ON, name="The first")
    answer = await ada.post(path, json={"steps": [ON]})
    assert answer.status_code == 409
    assert answer.json()["detail"] == "The release The first of this flag has not ended. Cancel it first."
    assert answer.json()["release_id"] == first["id"]
    await ada.post(f"{release_path(first)}/cancel")
    second = await create_release(ada, flag, ON)
    assert [each["id"] for each in (await ada.get(path)).json()] == [second["id"], first["id"]]


async def test_a_release_that_changes_rules_needs_the_permission_for_rules(
    flagstaff: Flagstaff, ada: Caller, flag: Json, project: Json, sign_up: SignUp, path: str
) -> None:
    grace = await sign_up("grace")
    await join(flagstaff, project, grace, "viewer")
    rules = [{"rule_type": "user_id", "rule_value": "ada"}]
    body = {"steps": [{**ON, "changes": {"rules": rules}}]}
    assert (await grace.post(path, json=body)).json()["permission"] == "flags:write"
    assert (await ada.post(path, json=body)).status_code == 201


@pytest.mark.parametrize(
    ("kind", "values", "field"),
    [
        ("value", {"tolerates": 1}, "tolerates"),
        ("count", {"tolerates": 1.5}, "tolerates"),
        ("value", {"tolerates": 0.1, "tolerates_amount": 5}, "tolerates_amount"),
        ("value", {"tolerates_amount": -5}, "tolerates_amount"),
        ("binary", {"tolerates_amount": 0.1}, "tolerates_amount"),
    ],
)
async def test_a_tolerance_with_which_a_guard_could_never_act_is_refused(
    ada: Caller, project: Json, path: str, kind: str, values: Json, field: str
) -> None:
    await create_metric(ada, project, key="measured", kind=kind)
    guard = {"metric": "measured", "action": "turn_off"}
    answer = await ada.post(path, json={"steps": [HALF], "guards": [{**guard, **values}]})
    assert list(field_errors(answer)) == [f"guards.0.{field}"]
    allowed = {"tolerates": 2} if kind == "binary" else {"tolerates_amount": 5}
    created(await ada.post(path, json={"steps": [HALF], "guards": [{**guard, **allowed}]}))


async def test_a_release_is_answered_as_it_was_given(ada: Caller, metric: Json, flag: Json, path: str) -> None:
    assert metric
    at = soon(days=1)
    steps: list[Json] = [
        {"at": at, "changes": {"enabled": True, "rollout_percentage": 5}},
        {"after_seconds": 60, "changes": {"rollout_percentage": 50}, "least_users": 100},
    ]
    guards: list[Json] = [{"metric": "errors", "action": "turn_off", "tolerates": 0.1}]
    body: Json = {"name": "Checkout", "steps": steps, "guards": guards, "false_alarm_rate": 0.01, "when_late": "skip"}
    release = created(await ada.post(path, json=body))
    assert release == {
        **body,
        "id": release["id"],
        "project_id": flag["project_id"],
        "environment_id": flag["environment_id"],
        "flag_id": flag["id"],
        "steps": [
            {"after_seconds": None, "least_users": None, **steps[0]},
            {"at": None, **steps[1]},
        ],
        "guards": [{**guards[0], "tolerates_amount": 0.0}],
        "split_action": "pause",
        "counts": "all",
        "thresholds": [],
        "state": "scheduled",
        "reason": None,
        "author": {"id": ada.account["id"], "email": "ada@example.com", "token": None},
        "applied": [],
        "alarms": [],
        "next_step": 0,
        "due_at": at,
        "ended_at": None,
        "unwatched_since": None,
        "created_at": release["created_at"],
        "updated_at": release["updated_at"],
    }
    assert (await ada.get(release_path(release))).json() == release
    open_ones = await ada.get(f"/api/projects/{flag['project_id']}/environments/{flag['environment_id']}/releases")
    assert open_ones.json() == [release]


@pytest.mark.both_databases
async def test_changes_of_several_flags_are_scheduled_together_or_not_at_all(
    ada: Caller, environment: Json, flag: Json
) -> None:
    other = await ada.create_flag(environment, key="other")
    path = f"{environment_path(environment)}/releases"

    def body(*flags: Json) -> Json:
        return {"at": soon(days=1), "flags": [{"flag_id": each["id"], "changes": {"enabled": True}} for each in flags]}

    assert list(field_errors(await ada.post(path, json={**body(), "flags": []}))) == ["body"]
    assert list(field_errors(await ada.post(path, json=body(flag, flag)))) == ["body"]
    assert (await ada.post(path, json=body(flag, {"id": str(uuid4())}))).status_code == 404
    late = {**body(flag, other), "at": "2020-01-01T00:00:00Z"}
    assert list(field_errors(await ada.post(path, json=late))) == ["flags.0.steps.0.at"]
    assert (await ada.get(path)).json() == []
    answer = await ada.post(path, json=body(flag, other))
    assert answer.status_code == 201
    assert {each["flag_id"] for each in answer.json()} == {flag["id"], other["id"]}
    assert len((await ada.get(path)).json()) == 2


@pytest.mark.both_databases
async def test_of_the_releases_of_a_flag_that_have_ended_so_many_are_kept(ada: Caller, flag: Json, path: str) -> None:
    made = []
    for _ in range(ENDED_KEPT + 1):
        release = await create_release(ada, flag, ON)
        await ada.post(f"{release_path(release)}/cancel")
        made.append(release["id"])
    kept = [each["id"] for each in (await ada.get(path)).json()]
    assert kept == made[:0:-1]
