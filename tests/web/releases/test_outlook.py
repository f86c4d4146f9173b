"""How long guards take: of a release that is open, and of one that might be created."""

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller, Json, field_errors, flag_path
from tests.support.members import join
from tests.support.releases import (
    create_metric,
    create_release,
    evaluate_users,
    release_path,
    send_events,
    until_results,
    until_served,
    until_step,
    until_stored,
)

HALF: Json = {"after_seconds": 0, "changes": {"enabled": True, "rollout_percentage": 50}}
ALL: Json = {"after_seconds": 86_400, "changes": {"rollout_percentage": 100}}
WATCHED: Json = {"metric": "errors", "action": "turn_off"}
USERS = [f"u-{number}" for number in range(60)]
BODY: Json = {"steps": [HALF, ALL], "guards": [WATCHED]}


async def ask(caller: Caller, flag: Json, **values: object) -> Json:
    """Ask for the outlook of a release that is not created."""
    answer = await caller.post(f"{flag_path(flag)}/outlook", json={**BODY, **values})
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


def _with_errors(results: Json) -> list[int]:
    return [arm["users_with_events"] for arm in results["metrics"][0]["arms"]]


async def test_strangers_and_members_without_the_permission_get_nothing(
    ada: Caller, eve: Caller, flag: Json, metric: Json
) -> None:
    release = await create_release(ada, flag, HALF, ALL, guards=[WATCHED])
    for path in (f"{flag_path(flag)}/outlook", f"{release_path(release)}/outlook"):
        call = eve.post(path, json=BODY) if "/releases/" not in path else eve.get(path)
        assert (await call).status_code == 404
    assert (await ada.get(f"{flag_path(flag)}/releases/{flag['id']}/outlook")).status_code == 404


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"steps": []}, "body"),
        ({"guards": [{"metric": "none", "action": "notify"}]}, "guards.0.metric"),
        ({"steps": [ALL]}, "guards"),
        ({"assumes": {"users_per_day": 0}}, "assumes.users_per_day"),
        ({"assumes": {"metrics": [{"metric": "errors", "rate": 1.1}]}}, "assumes.metrics.0.rate"),
        ({"assumes": {"metrics": [{"metric": "errors", "deviation": -1}]}}, "assumes.metrics.0.deviation"),
        ({"assumes": {"metrics": [{"metric": "errors"}] * 2}}, "body"),
        ({"assumes": {"rates": 1}}, "assumes.rates"),
    ],
)
async def test_what_is_no_release_or_no_assumption_is_refused(
    ada: Caller, flag: Json, metric: Json, values: Json, field: str
) -> None:
    answer = await ada.post(f"{flag_path(flag)}/outlook", json={**BODY, **values})
    assert answer.status_code == 400, answer.text
    assert field in field_errors(answer)


async def test_an_archived_flag_has_no_outlook(ada: Caller, flag: Json, metric: Json) -> None:
    assert (await ada.post(f"{flag_path(flag)}/archive")).status_code == 200
    answer = await ada.post(f"{flag_path(flag)}/outlook", json=BODY)
    assert answer.status_code == 409


async def test_nothing_is_known_before_the_first_evaluation_and_event(ada: Caller, flag: Json, metric: Json) -> None:
    found = await ask(ada, flag)
    assert found["users_per_day"] is None
    (guard,) = found["guards"]
    assert (guard["basis"], guard["steps"]) == (None, [])
    assert "nothing is known of users without the flag yet" in guard["words"]
    assert (await ada.get(f"{flag_path(flag)}/releases")).json() == []


async def test_what_is_assumed_stands_in_for_what_is_not_known(ada: Caller, flag: Json, metric: Json) -> None:
    found = await ask(ada, flag, assumes={"users_per_day": 1400, "metrics": [{"metric": "errors", "rate": 0.02}]})
    assert found["users_per_day"] == 1400
    (guard,) = found["guards"]
    assert guard["basis"] == {"source": "given", "users": 0, "rate": 0.02, "mean": None, "deviation": None}
    (step,) = guard["steps"]
    assert (step["step"], step["days"], step["arm"], step["share"]) == (0, 1.0, "on", 0.5)
    assert [each["effect"] for each in step["finds"]] == [2.0, 1.5, 3.0]
    assert 2_000 < step["finds"][0]["users"] < 2_800
    assert step["least"] > 2
    assert "at the given traffic" in guard["words"]


async def test_the_latest_events_and_the_users_of_today_are_what_is_known_before_a_start(
    ada: Caller, project: Json, flag: Json, metric: Json, flagstaff: Flagstaff
) -> None:
    strangers = [{"metric": "errors", "user_id": f"stranger-{number}"} for number in range(30)]
    await send_events(ada, project["sdk_key"], *strangers)
    await until_stored(flagstaff)
    (unknown,) = (await ask(ada, flag))["guards"]
    assert (unknown["basis"], "was not evaluated" in unknown["words"]) == (None, True)
    await evaluate_users(ada, project["sdk_key"], USERS, "new-checkout")
    events = [{"metric": "errors", "user_id": user} for user in USERS[:6]]
    await send_events(ada, project["sdk_key"], *events, {"metric": "errors", "user_id": "u-0"})
    await until_stored(flagstaff)
    found = await ask(ada, flag)
    assert found["users_per_day"] >= len(USERS)
    (guard,) = found["guards"]
    assert (guard["basis"]["source"], guard["basis"]["users"]) == ("events", 6)
    assert guard["basis"]["rate"] == pytest.approx(6 / len(USERS))
    assert guard["steps"][0]["finds"][0]["days"] is not None


@pytest.mark.both_databases
async def test_an_open_release_looks_ahead_from_the_step_in_force_on_by_its_own_users(
    ada: Caller, project: Json, flag: Json, metric: Json
) -> None:
    release = await create_release(ada, flag, HALF, {**ALL, "changes": {"rollout_percentage": 60}}, guards=[WATCHED])
    await until_step(ada, release, 0)
    await until_served(ada, flag)
    answers = await evaluate_users(ada, project["sdk_key"], USERS, "new-checkout")
    without = [user for user in USERS if not answers[user]["enabled"]]
    await send_events(ada, project["sdk_key"], *({"metric": "errors", "user_id": user} for user in without[:5]))
    await until_results(
        ada, release, lambda each: [arm["users_with_events"] for arm in each["metrics"][0]["arms"]] == [5, 0]
    )
    found = (await ada.get(f"{release_path(release)}/outlook")).json()
    (guard,) = found["guards"]
    assert guard["basis"]["source"] == "release"
    assert guard["basis"]["rate"] == pytest.approx(5 / len(without))
    assert [each["step"] for each in guard["steps"]] == [0, 1]
    assert guard["words"].startswith("Checkout errors: at 50 % of the users and a rate of")
    assert (await ada.post(f"{release_path(release)}/cancel")).status_code == 200
    ended = (await ada.get(f"{release_path(release)}/outlook")).json()["guards"][0]
    assert ended["steps"] == []


async def test_variants_are_looked_at_by_the_smallest_one(ada: Caller, flag: Json, project: Json) -> None:
    await create_metric(ada, project, key="latency", name="Latency", kind="value", unit="ms")
    variants = [{"key": key, "weight": weight, "value": key} for key, weight in (("a", 60), ("b", 30), ("c", 10))]
    found = await ask(
        ada,
        flag,
        steps=[{"after_seconds": 0, "changes": {"enabled": True, "rollout_percentage": 100, "variants": variants}}],
        guards=[{"metric": "latency", "action": "notify"}],
        assumes={"users_per_day": 1e4, "metrics": [{"metric": "latency", "mean": 100, "deviation": 30}]},
    )
    (guard,) = found["guards"]
    (step,) = guard["steps"]
    assert (step["arm"], step["share"], step["days"]) == ("c", pytest.approx(0.1), 28.0)
    assert step["words"].startswith("At 10 % of the users with c and a mean of 100 ms, an increase by 10 ms (10 %)")


async def test_a_member_who_may_only_read_can_look_ahead(
    ada: Caller, eve: Caller, project: Json, flag: Json, metric: Json, flagstaff: Flagstaff
) -> None:
    await join(flagstaff, project, eve, "viewer")
    assert (await ask(eve, flag))["guards"]
    assert (await eve.post(f"{flag_path(flag)}/releases", json=BODY)).status_code == 403
