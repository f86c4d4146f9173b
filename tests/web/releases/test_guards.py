"""Guards: they turn off a harmful flag, pause a release, or only notify; and the data that they judge."""

import asyncio
import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from threading import Event
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.concurrency.worker import in_worker
from flagstaff.database import tables
from flagstaff.evaluation.bucketing import bucket
from flagstaff.releases.wording import NOT_JUDGED
from flagstaff.values.lists import parts_of
from flagstaff.values.moments import format_moment
from tests.support.api import Caller, Json, created, flag_path
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
from tests.support.watching import mend_guard, spoil_guard
from tests.web.conftest import ListChanges

HALF: Json = {"after_seconds": 0, "changes": {"enabled": True, "rollout_percentage": 50}}
LATER: Json = {"after_seconds": 3600, "changes": {"rollout_percentage": 100}}
TURN_OFF: Json = {"metric": "errors", "action": "turn_off"}


def people(first: int, last: int) -> Sequence[str]:
    """Return users by number."""
    return [f"u-{number}" for number in range(first, last)]


async def begin(caller: Caller, flag: Json, *guards: Json, percentage: int = 50, **values: Any) -> Json:
    """Create a release at 50 %, or at another percentage, and wait until its first step is applied."""
    first = {**HALF, "changes": {"enabled": True, "rollout_percentage": percentage}}
    release = await create_release(caller, flag, first, LATER, guards=list(guards), **values)
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


async def test_a_guard_does_not_wait_for_the_long_work_of_others(
    ada: Caller, project: Json, flag: Json, metric: Json
) -> None:
    assert metric
    await expose(ada, project, ["somebody"])  # loads the project
    release = await begin(ada, flag, TURN_OFF)
    go_on = Event()
    work = asyncio.ensure_future(in_worker(go_on.wait))
    try:
        treated, control = await expose(ada, project, people(0, 60))
        await send_events(ada, project["sdk_key"], *errors([*treated, control[0]]))
        await until_state(ada, release, "stopped")
    finally:
        go_on.set()
        await work
    assert not (await ada.get(flag_path(flag))).json()["enabled"]


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
    assert alarm["words"].startswith("Checkout errors: 100 % with the flag and ")
    assert f"Of 60 users, {len(treated) + 1} had it." in alarm["words"]
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
    assert (await until_state(ada, release, "stopped"))["reason"].startswith("Purchases: 0 % with ")


@pytest.mark.both_databases
async def test_an_event_counts_once_for_a_user_and_at_most_a_minute_before_the_exposure(
    flagstaff: Flagstaff, ada: Caller, project: Json, flag: Json, metric: Json
) -> None:
    assert metric
    release = await begin(ada, flag, TURN_OFF)
    sdk_key = project["sdk_key"]
    at = format_moment(datetime.now(UTC) - timedelta(seconds=70))
    early = [{**each, "at": at} for each in errors(["early"])]
    await send_events(ada, sdk_key, *early, *errors(["stranger"]))
    await until_stored(flagstaff)
    await evaluate_users(ada, sdk_key, ["early", "ada"], "new-checkout")
    await send_events(ada, sdk_key, *errors(["ada"] * 3))
    results = await until_results(ada, release, lambda found: counted(found, "errors") == 1)
    assert (results["users"], sum(arm["users"] for arm in results["metrics"][0]["arms"])) == (2, 2)
    await send_events(ada, sdk_key, *early)  # now it is known that its time is wrong
    await until_results(ada, release, lambda found: found["untimely_events"] > results["untimely_events"])
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
    assert [line.split(",")[0] for line in lines] == ["=evil()", "u-1"]
    assert [line.split(",")[5] for line in lines] == ["0", "1"]
    assert [line.split(",")[6] for line in lines] == ["0", "0"]
    for_spreadsheets = await ada.get(f"{release_path(release)}/users.csv?form=spreadsheet")
    assert [line.split(",")[0] for line in for_spreadsheets.text.splitlines()[1:]] == ["'=evil()", "u-1"]
    assert (await ada.get(f"{release_path(release)}/users.csv?form=excel")).status_code == 400


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
async def test_an_identifier_that_is_too_long_for_an_index_is_counted_as_unknown_and_stops_no_release(
    ada: Caller, project: Json, flag: Json, metric: Json
) -> None:
    assert metric
    release = await begin(ada, flag, TURN_OFF)
    generator = random.Random(3)  # what is random cannot be compressed
    long = "".join(chr(generator.randrange(0x4E00, 0x9FFF)) for _ in range(1024))
    await evaluate_users(ada, project["sdk_key"], [long, "grace"], "new-checkout")
    await send_events(ada, project["sdk_key"], *errors([long, "grace"]))
    results = await until_results(ada, release, lambda found: counted(found, "errors") == 1)
    assert (results["users"], results["without_identifier"]) == (1, 1)
    assert results["failing_since"] is None


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
    assert paused["applied"][-1]["arms"] == [{"name": "off", "share": 0.8}, {"name": "on", "share": 0.2}]
    resumed = (await ada.post(f"{release_path(release)}/resume")).json()
    assert resumed["applied"] == paused["applied"]


async def until_share(caller: Caller, release: Json, share: float) -> Json:
    """Wait until the share of the users with the flag that is watched is this one, and return the release."""
    return await until(
        partial(read_release, caller, release), lambda found: found["applied"][-1]["arms"][1]["share"] == share
    )


@pytest.mark.both_databases
async def test_guards_go_on_watching_through_edits_by_hand_and_pauses(
    ada: Caller, project: Json, flag: Json, metric: Json
) -> None:
    assert metric
    release = await begin(ada, flag, TURN_OFF, percentage=20)
    await expose(ada, project, people(0, 20))
    for percentage in (30, 50):
        await ada.put(flag_path(flag), json={"rollout_percentage": percentage})
        paused = await until_share(ada, release, percentage / 100)
        assert paused["state"] == "paused"
    treated, _ = await expose(ada, project, people(100, 160))
    await send_events(ada, project["sdk_key"], *errors(treated))
    await until_state(ada, release, "stopped")
    assert not (await ada.get(flag_path(flag))).json()["enabled"]


def has_applied(found: Json, many: int) -> bool:
    return len(found["applied"]) == many


async def test_another_bucketing_key_is_another_way_to_divide_users(ada: Caller, flag: Json, metric: Json) -> None:
    assert metric
    release = await begin(ada, flag, {**TURN_OFF, "action": "notify"})
    for place, key in enumerate(("winter", "spring"), 2):
        await ada.put(flag_path(flag), json={"bucketing_key": key})
        paused = await until(partial(read_release, ada, release), partial(has_applied, many=place))
        assert paused["state"] == "paused"
        assert paused["applied"][-1]["arms"] == release["applied"][0]["arms"]
    resumed = (await ada.post(f"{release_path(release)}/resume")).json()
    assert resumed["applied"] == paused["applied"]


async def test_without_events_or_users_there_are_results_that_say_so(ada: Caller, flag: Json, metric: Json) -> None:
    assert metric
    release = await create_release(ada, flag, {**HALF, "after_seconds": 3600}, guards=[TURN_OFF])
    results = await read_results(ada, release)
    assert (results["users"], results["steps"], results["chart"]) == (0, [], [])
    assert results["metrics"][0]["words"] == "Checkout errors: there are no users of both groups to compare yet."
    assert not results["split"]["is_wrong"]


async def rule_at(ada: Caller, flag: Json, percentage: int) -> Json:
    conditions = [{"attribute": "plan", "operator": "in", "values": ["beta"]}]
    body = {"rule_type": "attributes", "conditions": conditions, "rollout_percentage": percentage}
    return created(await ada.post(f"{flag_path(flag)}/rules", json=body))


@pytest.mark.both_databases
async def test_a_rule_with_a_percentage_does_not_make_a_harmless_flag_look_harmful(
    flagstaff: Flagstaff, ada: Caller, project: Json, flag: Json, metric: Json
) -> None:
    """Of users whom the rule could decide, only those with high buckets reach the rollout, so few of them have it."""
    assert metric
    await rule_at(ada, flag, 30)
    release = await begin(ada, flag, TURN_OFF)
    beta = people(0, 250)
    for user in beta:
        context = {"user_id": user, "custom_attributes": {"plan": "beta"}}
        assert (await ada.evaluate(project["sdk_key"], context=context)).status_code == 200
    await evaluate_users(ada, project["sdk_key"], people(250, 300), "new-checkout")
    await send_events(ada, project["sdk_key"], *errors(beta))  # they always have it, with the flag or without
    await until_stored(flagstaff)
    results = await until_results(ada, release, lambda found: found["users"] == 300)
    (step,) = results["steps"]
    assert [arm["share"] for arm in step["arms"]] == [pytest.approx(50 / 70), pytest.approx(20 / 70)]
    assert results["left_out_by_rules"] > 0
    assert results["left_out_by_buckets"] > 0
    assert results["metrics"][0]["evidence"] < 20
    assert results["split"]["evidence"] < 100
    assert (await read_release(ada, release))["state"] == "running"
    await rule_at(ada, flag, 80)  # from now on, fewer can be compared
    await evaluate_users(ada, project["sdk_key"], people(300, 340), "new-checkout")
    results = await until_results(ada, release, lambda found: found["users"] == 340)
    assert [[round(arm["share"], 4) for arm in each["arms"]] for each in results["steps"]] == [
        [round(50 / 70, 4), round(20 / 70, 4)],
        [0.6, 0.4],
    ]


@pytest.mark.both_databases
async def test_a_prerequisite_with_the_same_bucketing_key_does_not_make_the_split_wrong(
    flagstaff: Flagstaff, ada: Caller, project: Json, flag: Json, metric: Json
) -> None:
    assert metric
    shared = {"bucketing_key": "shared", "enabled": True}
    base = created(
        await ada.post(
            f"{flag_path(flag).rpartition('/')[0]}",
            json={"name": "Base", "key": "base", "rollout_percentage": 50, **shared},
        )
    )
    answer = await ada.put(flag_path(flag), json={**shared, "prerequisites": [{"flag_key": base["key"]}]})
    assert answer.status_code == 200, answer.text
    release = await begin(ada, flag, TURN_OFF, percentage=20)
    await evaluate_users(ada, project["sdk_key"], people(0, 300), "new-checkout")
    await until_stored(flagstaff)
    results = await until_results(ada, release, lambda found: found["users"] > 130)
    assert [arm["share"] for arm in results["steps"][0]["arms"]] == [0.6, 0.4]
    assert results["split"]["evidence"] < 1


@pytest.mark.both_databases
async def test_a_step_that_hurts_users_who_were_seen_before_is_found(
    flagstaff: Flagstaff, ada: Caller, project: Json, flag: Json
) -> None:
    await create_metric(ada, project, key="latency", name="Latency", kind="value", better="down", unit="ms")
    guard = {"metric": "latency", "action": "turn_off"}
    thirty = {"after_seconds": 0, "changes": {"enabled": True, "rollout_percentage": 30}}
    half = {"after_seconds": 0, "changes": {"rollout_percentage": 50}, "least_users": 700}
    release = await create_release(ada, flag, thirty, half, guards=[guard])
    await until_step(ada, release, 0)
    await until_served(ada, flag)
    users = people(0, 700)
    first = await evaluate_users(ada, project["sdk_key"], users, "new-checkout")
    for start in range(0, 700, 100):
        some = users[start : start + 100]
        values = (
            {"metric": "latency", "user_id": user, "value": 100 + number % 30} for number, user in enumerate(some)
        )
        await send_events(ada, project["sdk_key"], *values)
    await until_step(ada, release, 1)
    await until_served(ada, flag)
    second = await evaluate_users(ada, project["sdk_key"], users, "new-checkout")
    assert sum(each["enabled"] for each in second.values()) > sum(each["enabled"] for each in first.values())
    for start in range(0, 700, 100):
        some = users[start : start + 100]
        values = (
            {"metric": "latency", "user_id": user, "value": (1000 if second[user]["enabled"] else 100) + number % 30}
            for number, user in enumerate(some)
        )
        await send_events(ada, project["sdk_key"], *values)
    stopped = await until_state(ada, release, "stopped")
    assert stopped["reason"].startswith("Latency: the mean is ")


def with_flag(first: int, last: int) -> list[str]:
    """Return those of some users who have the flag at 50 %: whoever has a key can choose them."""
    return [user for user in people(first, last) if bucket("new-checkout", user) < 50]


@pytest.mark.both_databases
@pytest.mark.parametrize(("action", "state"), [("pause", "paused"), ("notify", "running"), ("turn_off", "stopped")])
async def test_users_who_are_not_split_as_planned_do_not_silence_a_guard(
    ada: Caller, project: Json, flag: Json, metric: Json, action: str, state: str
) -> None:
    assert metric
    release = await begin(ada, flag, TURN_OFF, split_action=action)
    assert release["split_action"] == action
    await evaluate_users(ada, project["sdk_key"], with_flag(1000, 1250), "new-checkout")
    found = await until(
        lambda: read_release(ada, release), lambda found: any(each["metric"] is None for each in found["alarms"])
    )
    assert (found["state"], found["alarms"][0]["action"]) == (state, action)
    assert (await ada.get(flag_path(flag))).json()["enabled"] is (action != "turn_off")
    if action == "turn_off":
        return
    treated, control = await expose(ada, project, people(0, 150))
    await send_events(ada, project["sdk_key"], *errors([*treated, control[0]]))
    stopped = await until_state(ada, release, "stopped")
    assert stopped["reason"].startswith("Checkout errors: ")
    assert not (await ada.get(flag_path(flag))).json()["enabled"]


@pytest.mark.both_databases
async def test_with_a_wrong_split_a_guard_does_not_take_the_users_of_one_group_for_harm(
    flagstaff: Flagstaff, ada: Caller, project: Json, flag: Json, metric: Json
) -> None:
    """All users have errors, and most of them have the flag, because somebody has chosen them."""
    assert metric
    release = await begin(ada, flag, TURN_OFF, split_action="notify")
    users = [*with_flag(1000, 1400), *people(0, 40)]
    await evaluate_users(ada, project["sdk_key"], users, "new-checkout")
    await send_events(ada, project["sdk_key"], *errors(users))
    await until_stored(flagstaff)
    results = await until_results(ada, release, lambda found: counted(found, "errors") == len(users))
    assert results["split"]["is_wrong"]
    assert results["metrics"][0]["evidence"] < 20
    assert [each["standing"] for each in results["metrics"][0]["verdicts"]] == ["undecidable"]
    assert (await read_release(ada, release))["state"] == "running"


@pytest.mark.both_databases
async def test_an_open_release_that_an_earlier_version_has_counted_is_counted_again(
    flagstaff: Flagstaff, ada: Caller, project: Json, flag: Json, metric: Json
) -> None:
    assert metric
    release = await begin(ada, flag, {**TURN_OFF, "action": "notify"})
    users = people(0, 60)
    await evaluate_users(ada, project["sdk_key"], users, "new-checkout")
    await send_events(ada, project["sdk_key"], *errors(users))
    await until_stored(flagstaff)
    before = await until_results(ada, release, lambda found: counted(found, "errors") == 60)
    async with flagstaff.database.write_history() as connection:
        for table in (tables.counted_releases, tables.step_exposures, tables.step_events):
            await connection.execute(table.delete())
    await evaluate_users(ada, project["sdk_key"], ["u-0"], "new-checkout")
    again = await until_results(ada, release, lambda found: counted(found, "errors") == 60)
    assert again["metrics"][0]["evidence"] == before["metrics"][0]["evidence"]
    assert again["steps"] == before["steps"]


@pytest.mark.both_databases
async def test_counted_again_nobody_is_compared_from_before_what_cut_the_buckets_was_removed(
    flagstaff: Flagstaff, ada: Caller, project: Json, flag: Json, metric: Json
) -> None:
    assert metric
    rule = await rule_at(ada, flag, 30)
    release = await begin(ada, flag, TURN_OFF)
    users = people(0, 60)
    for user in users:
        context = {"user_id": user, "custom_attributes": {"plan": "beta"}}
        assert (await ada.evaluate(project["sdk_key"], context=context)).status_code == 200
    await until_stored(flagstaff)
    before = await until_results(ada, release, lambda found: found["users"] == 60)
    assert before["left_out_by_buckets"] == 0
    assert (await ada.delete(f"{flag_path(flag)}/rules/{rule['id']}")).status_code == 204
    async with flagstaff.database.transaction() as transaction:  # steps begin by its clock
        deleted = tables.changes.update().where(tables.changes.c.action == "rule.deleted")
        await transaction.connection.execute(deleted.values(at=datetime.now(UTC)))
    async with flagstaff.database.write_history() as connection:
        for table in (tables.counted_releases, tables.step_exposures, tables.step_events):
            await connection.execute(table.delete())
    await evaluate_users(ada, project["sdk_key"], ["u-60"], "new-checkout")
    again = await until_results(ada, release, lambda found: found["users"] == 61)
    assert again["left_out_by_buckets"] + again["left_out_by_rules"] == 61
    assert again["left_out_by_rules"] == before["left_out_by_rules"]


@pytest.mark.both_databases
async def test_a_guard_that_cannot_be_judged_keeps_no_other_from_acting_and_the_results_say_so(
    flagstaff: Flagstaff, ada: Caller, project: Json, flag: Json, metric: Json
) -> None:
    assert metric
    await create_metric(ada, project, key="refunds", name="Refunds")
    release = await begin(ada, flag, TURN_OFF, {"metric": "refunds", "action": "notify"})
    treated, _ = await expose(ada, project, people(0, 60))
    await until_results(ada, release, lambda found: found["users"] == 60)
    await spoil_guard(flagstaff.database, UUID(release["id"]))
    await evaluate_users(ada, project["sdk_key"], ["another"], "new-checkout")
    failing = await until_results(ada, release, lambda found: found["failing_since"] is not None)
    assert failing["next_step_waits_for"] == "counting"
    unknown, known = failing["metrics"]
    assert unknown["words"] == NOT_JUDGED != known["words"]

    await send_events(ada, project["sdk_key"], *[{**each, "metric": "refunds"} for each in errors(treated)])
    alarmed = await until(partial(read_release, ada, release), lambda found: bool(found["alarms"]))
    assert [each["metric"] for each in alarmed["alarms"]] == ["refunds"]
    assert (await ada.get(flag_path(flag))).json()["enabled"]

    await mend_guard(flagstaff.database, UUID(release["id"]))
    await send_events(ada, project["sdk_key"], *errors(treated))
    await until_state(ada, release, "stopped")
    await until_results(ada, release, lambda found: found["failing_since"] is None)


@pytest.mark.both_databases
async def test_the_next_step_of_a_release_that_cannot_be_counted_waits_and_the_results_say_since_when(
    flagstaff: Flagstaff, ada: Caller, project: Json, flag: Json, metric: Json
) -> None:
    assert metric
    release = await begin(ada, flag, TURN_OFF)
    treated, _ = await expose(ada, project, people(0, 4))
    await send_events(ada, project["sdk_key"], *errors(treated))
    await until_results(ada, release, lambda found: counted(found, "errors") == len(treated))
    await until_stored(flagstaff)
    segments = tables.event_segments
    async with flagstaff.database.write_history() as connection:
        stored = (await connection.execute(sa.select(segments))).mappings().first()
        assert stored is not None
        later = {name: value for name, value in stored.items() if name != "id"} | {"version": 99}
        await connection.execute(segments.insert(), later)  # as a later release, which was taken back, has left it
    await evaluate_users(ada, project["sdk_key"], ["another"], "new-checkout")
    failing = await until_results(ada, release, lambda found: found["failing_since"] is not None)
    assert (failing["users"], failing["next_step_waits_for"]) == (4, "counting")
