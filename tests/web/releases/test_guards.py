"""Guards: they turn off a harmful flag, pause a release, or only notify; and the data that they judge."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.values.lists import parts_of
from flagstaff.values.moments import format_moment
from tests.support.api import Caller, Json, flag_path
from tests.support.releases import (
    create_metric,
    create_release,
    evaluate_users,
    read_release,
    read_results,
    release_path,
    send_events,
    until,
    until_results,
    until_served,
    until_state,
    until_step,
    until_stored,
)
from tests.web.conftest import ListChanges

HALF: Json = {"after_seconds": 0, "changes": {"enabled": True, "rollout_percentage": 50}}
LATER: Json = {"after_seconds": 3600, "changes": {"rollout_percentage": 100}}
TURN_OFF: Json = {"metric": "errors", "action": "turn_off"}


def people(first: int, last: int) -> Sequence[str]:
    """Return users by number."""
    return [f"u-{number}" for number in range(first, last)]


async def begin(caller: Caller, flag: Json, *guards: Json, **values: Any) -> Json:
    """Create a release at 50 %, and wait until its first step is applied."""
    release = await create_release(caller, flag, HALF, LATER, guards=list(guards), **values)
    begun = await until_step(caller, release, 0)
    await until_served(caller, flag)
    return begun


async def expose(caller: Caller, project: Json, users: Sequence[str]) -> tuple[list[str], list[str]]:
    """Evaluate the flag for some users; return those with it, and those without."""
    found = await evaluate_users(caller, project["sdk_key"], users, "new-checkout")
    return [user for user in users if found[user]["enabled"]], [user for user in users if not found[user]["enabled"]]


def errors(users: Sequence[str]) -> list[Json]:
    """Return an error of each of some users."""
    return [{"metric": "errors", "user_id": user} for user in users]


@pytest.mark.both_databases
async def test_a_flag_that_hurts_is_turned_off_and_everybody_is_told_why(
    ada: Caller, project: Json, flag: Json, metric: Json, list_changes: ListChanges
) -> None:
    assert metric
    release = await begin(ada, flag, TURN_OFF, name="Checkout")
    treated, control = await expose(ada, project, people(0, 60))
    await send_events(ada, project["sdk_key"], *errors([*treated, control[0]]))
    stopped = await until_state(ada, release, "stopped")
    assert not (await ada.get(flag_path(flag))).json()["enabled"]
    await until_served(ada, flag)
    answers = await evaluate_users(ada, project["sdk_key"], ["u-1"], "new-checkout")
    assert answers["u-1"] == {"enabled": False, "reason": "Flag is globally disabled"}
    (alarm,) = stopped["alarms"]
    assert (alarm["metric"], alarm["action"], alarm["threshold"]) == ("errors", "turn_off", pytest.approx(20))
    assert alarm["evidence"] >= 20
    assert stopped["reason"] == alarm["words"]
    assert alarm["words"].startswith("Checkout errors: ")
    assert f"of {len(treated):,} users with the flag" in alarm["words"]
    assert "and the threshold is 20." in alarm["words"]
    changes = [each for each in await list_changes() if (each["release"] or {}).get("guard")]
    assert [each["action"] for each in changes] == ["flag.toggled", "release.stopped"]
    assert changes[0]["release"] == {"id": release["id"], "name": "Checkout", "guard": "errors"}
    assert {each["actor_email"] for each in changes} == {"ada@example.com"}


@pytest.mark.both_databases
async def test_a_flag_that_does_not_matter_is_left_alone(ada: Caller, project: Json, flag: Json, metric: Json) -> None:
    assert metric
    release = await begin(ada, flag, TURN_OFF)
    treated, control = await expose(ada, project, people(0, 60))
    await send_events(ada, project["sdk_key"], *errors([*treated[:20], *control[:20]]))
    results = await until_results(ada, release, lambda found: counted(found, "errors") == 40)
    assert (await read_release(ada, release))["state"] == "running"
    (result,) = results["metrics"]
    assert result["evidence"] < 20
    assert not result["warning"]
    assert result["words"].endswith("There is no evidence that the flag makes it worse.")


def counted(results: Json, metric: str) -> int:
    """Return how many events of a metric have counted."""
    (found,) = (each for each in results["metrics"] if each["metric"] == metric)
    return sum(arm["events"] for arm in found["arms"])


@pytest.mark.both_databases
async def test_a_guard_pauses_its_release_and_leaves_the_flag_on(
    ada: Caller, project: Json, flag: Json, metric: Json
) -> None:
    assert metric
    release = await begin(ada, flag, {"metric": "errors", "action": "pause"})
    treated, _ = await expose(ada, project, people(0, 60))
    await send_events(ada, project["sdk_key"], *errors(treated))
    paused = await until_state(ada, release, "paused")
    assert paused["reason"] == paused["alarms"][0]["words"]
    assert (await ada.get(flag_path(flag))).json()["enabled"]
    resumed = (await ada.post(f"{release_path(release)}/resume")).json()
    assert resumed["state"] == "running"


@pytest.mark.both_databases
async def test_a_guard_that_only_tells_changes_nothing_and_tells_once(
    ada: Caller, project: Json, flag: Json, metric: Json, list_changes: ListChanges
) -> None:
    assert metric
    release = await begin(ada, flag, {"metric": "errors", "action": "notify"})
    treated, _ = await expose(ada, project, people(0, 80))
    await send_events(ada, project["sdk_key"], *errors(treated[:15]))
    await until_results(ada, release, lambda found: counted(found, "errors") == 15)
    await send_events(ada, project["sdk_key"], *errors(treated[15:]))
    await until_results(ada, release, lambda found: counted(found, "errors") == len(treated))
    found = await until(lambda: read_release(ada, release), lambda found: bool(found["alarms"]))
    assert (found["state"], len(found["alarms"])) == ("running", 1)
    assert [each["action"] for each in await list_changes()].count("release.warned") == 1


@pytest.mark.both_databases
async def test_what_is_tolerated_does_not_turn_the_flag_off(ada: Caller, project: Json, flag: Json) -> None:
    await create_metric(ada, project)
    release = await begin(ada, flag, {**TURN_OFF, "tolerates": 10})
    treated, control = await expose(ada, project, people(0, 60))
    await send_events(ada, project["sdk_key"], *errors([*treated, *control[:8]]))
    results = await until_results(ada, release, lambda found: counted(found, "errors") == len(treated) + 8)
    assert results["metrics"][0]["evidence"] < 20


@pytest.mark.both_databases
async def test_fewer_of_what_is_wanted_is_harm(ada: Caller, project: Json, flag: Json) -> None:
    await create_metric(ada, project, key="purchases", better="up", name="Purchases")
    release = await begin(ada, flag, {"metric": "purchases", "action": "turn_off"})
    _, control = await expose(ada, project, people(0, 80))
    await send_events(ada, project["sdk_key"], *({"metric": "purchases", "user_id": user} for user in control))
    assert (await until_state(ada, release, "stopped"))["reason"].startswith("Purchases: 0 of ")


@pytest.mark.both_databases
async def test_an_event_counts_once_for_a_user_and_only_after_the_exposure(
    flagstaff: Flagstaff, ada: Caller, project: Json, flag: Json, metric: Json
) -> None:
    assert metric
    release = await begin(ada, flag, TURN_OFF)
    sdk_key = project["sdk_key"]
    await send_events(ada, sdk_key, *errors(["early", "stranger"]))
    await until_stored(flagstaff)
    await evaluate_users(ada, sdk_key, ["early", "ada"], "new-checkout")
    await send_events(ada, sdk_key, *errors(["ada"] * 3))
    results = await until_results(ada, release, lambda found: counted(found, "errors") == 1)
    assert (results["users"], sum(arm["users"] for arm in results["metrics"][0]["arms"])) == (2, 2)
    await send_events(ada, sdk_key, *errors(["early"]))
    await until_results(ada, release, lambda found: counted(found, "errors") == 2)


@pytest.mark.both_databases
async def test_an_event_that_is_stored_before_its_exposure_counts_when_that_arrives(
    flagstaff: Flagstaff, ada: Caller, project: Json, flag: Json, metric: Json
) -> None:
    assert metric
    release = await begin(ada, flag, TURN_OFF)
    at = format_moment(datetime.now(UTC) + timedelta(seconds=30))  # the order of the times is not that of the arrivals
    await send_events(ada, project["sdk_key"], {"metric": "errors", "user_id": "ada", "at": at})
    await until_stored(flagstaff)
    await evaluate_users(ada, project["sdk_key"], ["grace"], "new-checkout")
    await until_results(ada, release, lambda found: found["users"] == 1)
    await evaluate_users(ada, project["sdk_key"], ["ada"], "new-checkout")
    await until_results(ada, release, lambda found: counted(found, "errors") == 1)


@pytest.mark.both_databases
async def test_users_who_match_a_rule_are_left_out_and_counted(
    ada: Caller, project: Json, flag: Json, metric: Json
) -> None:
    assert metric
    await ada.create_rule(flag, rule_value="u-1")
    release = await begin(ada, flag, TURN_OFF)
    await expose(ada, project, people(0, 10))
    await send_events(ada, project["sdk_key"], *errors(["u-1", "u-2"]))
    results = await until_results(ada, release, lambda found: counted(found, "errors") == 1 and found["users"] == 10)
    assert results["left_out_by_rules"] == 1
    assert sum(arm["users"] for arm in results["metrics"][0]["arms"]) == 9


@pytest.mark.both_databases
async def test_values_are_compared_by_their_mean(ada: Caller, project: Json, flag: Json) -> None:
    await create_metric(ada, project, key="latency", name="Latency", kind="value", unit="ms")
    release = await begin(ada, flag, {"metric": "latency", "action": "turn_off"})
    treated, control = await expose(ada, project, people(0, 620))
    slow = [{"metric": "latency", "user_id": user, "value": 190 + place % 20} for place, user in enumerate(treated)]
    fast = [{"metric": "latency", "user_id": user, "value": 90 + place % 20} for place, user in enumerate(control)]
    await send_events(ada, project["sdk_key"], *slow, *fast)
    stopped = await until_state(ada, release, "stopped")
    assert "ms with the flag and" in stopped["reason"]
    (result,) = (await read_results(ada, release))["metrics"]
    off, on = result["arms"]
    assert (round(off["mean"]), round(on["mean"])) == (pytest.approx(100, abs=2), pytest.approx(200, abs=2))
    assert on["difference"]["low"] < 100 < on["difference"]["high"]


@pytest.mark.both_databases
async def test_a_metric_that_is_far_better_keeps_no_other_guard_from_acting(
    ada: Caller, project: Json, flag: Json, metric: Json
) -> None:
    """With 2,400 users, half of the latency is 41 standard deviations away, where its evidence was no number."""
    await create_metric(ada, project, key="latency", name="Latency", kind="value", unit="ms")
    latency, failing = {"metric": "latency", "action": "turn_off"}, {"metric": "errors", "action": "turn_off"}
    release = await begin(ada, flag, latency, failing)
    treated, control = await expose(ada, project, people(0, 2_400))
    fast = [{"metric": "latency", "user_id": user, "value": 20 + place % 61} for place, user in enumerate(treated)]
    slow = [{"metric": "latency", "user_id": user, "value": 70 + place % 61} for place, user in enumerate(control)]
    for some in parts_of([*fast, *slow], 1_000):
        await send_events(ada, project["sdk_key"], *some)
    await until(lambda: read_results(ada, release), lambda each: counted(each, "latency") == 2_400)
    for some in parts_of(errors(treated), 1_000):
        await send_events(ada, project["sdk_key"], *some)
    stopped = await until_state(ada, release, "stopped")
    assert stopped["alarms"][0]["metric"] == "errors"
    results = await read_results(ada, release)
    assert results["metrics"][0]["evidence"] < 1


@pytest.mark.both_databases
async def test_counts_are_compared_by_user_also_of_those_without_an_event(
    ada: Caller, project: Json, flag: Json
) -> None:
    await create_metric(ada, project, key="retries", name="Retries", kind="count")
    release = await begin(ada, flag, {"metric": "retries", "action": "notify"})
    treated, control = await expose(ada, project, people(0, 40))
    await send_events(
        ada,
        project["sdk_key"],
        {"metric": "retries", "user_id": treated[0], "value": 3},
        {"metric": "retries", "user_id": treated[0]},
        {"metric": "retries", "user_id": control[0]},
    )
    results = await until_results(ada, release, lambda found: counted(found, "retries") == 3)
    off, on = results["metrics"][0]["arms"]
    assert (on["mean"], off["mean"]) == (pytest.approx(4 / len(treated)), pytest.approx(1 / len(control)))


@pytest.mark.both_databases
async def test_variants_are_arms_and_the_first_one_is_the_control(
    ada: Caller, project: Json, environment: Json, metric: Json
) -> None:
    assert metric
    variants = [{"key": key, "weight": 500, "value": key} for key in ("blue", "green")]
    flag = await ada.create_flag(environment, enabled=False, variants=variants)
    release = await create_release(
        ada, flag, {"after_seconds": 0, "changes": {"enabled": True}}, guards=[TURN_OFF], name="Which colour"
    )
    running = await until_step(ada, release, 0)
    assert running["state"] == "running"
    assert running["applied"][0]["arms"] == [{"name": "blue", "share": 0.5}, {"name": "green", "share": 0.5}]
    await until_served(ada, flag)
    found = await evaluate_users(ada, project["sdk_key"], people(0, 60), "new-checkout")
    green = [user for user, answer in found.items() if answer["variant"] == "green"]
    await send_events(ada, project["sdk_key"], *errors(green))
    await until_state(ada, release, "stopped")
    blue, other = (await read_results(ada, release))["metrics"][0]["arms"]
    assert (blue["name"], blue["events"], other["events"]) == ("blue", 0, len(green))


@pytest.mark.both_databases
async def test_a_step_waits_for_users_and_for_the_evidence_to_fall(
    ada: Caller, project: Json, flag: Json, metric: Json
) -> None:
    assert metric
    step = {"after_seconds": 0, "changes": {"rollout_percentage": 60}, "least_users": 20}
    release = await create_release(ada, flag, HALF, step, LATER, guards=[{**TURN_OFF, "action": "notify"}])
    await until_step(ada, release, 0)
    await expose(ada, project, people(0, 19))
    results = await until_results(ada, release, lambda found: found["users"] == 19)
    assert results["next_step_waits_for"] == "users"
    assert len((await read_release(ada, release))["applied"]) == 1
    await expose(ada, project, people(19, 20))
    moved = await until_step(ada, release, 1)
    assert moved["applied"][1]["arms"][1]["share"] == 0.6


@pytest.mark.both_databases
async def test_the_users_of_a_release_are_exported_with_what_they_did(
    ada: Caller, eve: Caller, project: Json, flag: Json, metric: Json
) -> None:
    assert metric
    release = await begin(ada, flag, TURN_OFF)
    await evaluate_users(ada, project["sdk_key"], ["=evil()", "u-1"], "new-checkout")
    await send_events(ada, project["sdk_key"], *errors(["u-1"]))
    await until_results(ada, release, lambda found: counted(found, "errors") == 1 and found["users"] == 2)
    assert (await eve.get(f"{release_path(release)}/users.csv")).status_code == 404
    answer = await ada.get(f"{release_path(release)}/users.csv")
    head, *lines = answer.text.splitlines()
    assert head == "user,first_step,step,arm,exposed_at,errors_events,errors_total"
    assert [line.split(",")[0] for line in lines] == ["'=evil()", "u-1"]
    assert [line.split(",")[5] for line in lines] == ["0", "1"]


async def test_an_identifier_that_no_text_can_hold_is_counted_as_unknown_and_stops_no_release(
    ada: Caller, project: Json, environment: Json, flag: Json, metric: Json
) -> None:
    assert metric
    sticky = await ada.create_flag(environment, key="sticky", enabled=False, stickiness="company")
    release = await begin(ada, sticky, TURN_OFF)
    other = await begin(ada, flag, TURN_OFF)
    for company in ("acme", "x\0y", "x" * 1025):
        context = {"user_id": "ada", "custom_attributes": {"company": company}}
        assert (await ada.evaluate(project["sdk_key"], context=context)).status_code == 200
    results = await until_results(ada, release, lambda found: found["without_identifier"] >= 1)
    assert results["users"] == 1
    await until_results(ada, other, lambda found: found["users"] == 1)
    await evaluate_users(ada, project["sdk_key"], ["grace"], "new-checkout")
    await until_results(ada, other, lambda found: found["users"] == 2)


@pytest.mark.both_databases
async def test_a_release_of_a_flag_that_is_evaluated_already_misses_nobody(
    flagstaff: Flagstaff, ada: Caller, project: Json, environment: Json, metric: Json
) -> None:
    assert metric
    flag = await ada.create_flag(environment, rollout_percentage=50)
    await evaluate_users(ada, project["sdk_key"], people(0, 10), flag["key"])
    await until_stored(flagstaff)
    step = {"after_seconds": 0, "changes": {"rollout_percentage": 50}}
    release = await create_release(ada, flag, step, LATER, guards=[TURN_OFF])
    await until_step(ada, release, 0)
    await until_served(ada, flag)
    await evaluate_users(ada, project["sdk_key"], people(100, 130), flag["key"])
    await until_results(ada, release, lambda found: found["users"] == 30)


async def test_a_change_of_how_users_are_divided_pauses_a_release_that_watches(
    ada: Caller, environment: Json, metric: Json
) -> None:
    assert metric
    flag = await ada.create_flag(environment, enabled=False, rollout_percentage=50)
    only_on = {"after_seconds": 0, "changes": {"enabled": True}}
    release = await create_release(ada, flag, only_on, guards=[{**TURN_OFF, "action": "notify"}])
    await until_step(ada, release, 0)
    await ada.put(flag_path(flag), json={"rollout_percentage": 20})
    paused = await until_state(ada, release, "paused")
    assert paused["reason"] == "ada@example.com changed rollout_percentage, which this release changes too."
    resumed = (await ada.post(f"{release_path(release)}/resume")).json()
    assert resumed["applied"][-1]["arms"] == [{"name": "off", "share": 0.8}, {"name": "on", "share": 0.2}]


async def test_without_events_or_users_there_are_results_that_say_so(ada: Caller, flag: Json, metric: Json) -> None:
    assert metric
    release = await create_release(ada, flag, {**HALF, "after_seconds": 3600}, guards=[TURN_OFF])
    results = await read_results(ada, release)
    assert (results["users"], results["steps"], results["chart"]) == (0, [], [])
    assert results["metrics"][0]["words"] == "Checkout errors: there are no users of both groups to compare yet."
    assert not results["split"]["is_wrong"]
