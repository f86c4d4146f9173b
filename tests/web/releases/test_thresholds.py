"""Thresholds of releases on request metrics: limits for sums that applications report, without users."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any
from uuid import UUID

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from flagstaff.history.store.request_metrics import add_measured
from flagstaff.metrics.request_metrics import INFINITE, WHOLE, Measured, RequestKind, Sample
from flagstaff.releases import releases_store
from flagstaff.releases.releases import Release
from flagstaff.releases.threshold_watch import ActBeyond, ThresholdWatch
from flagstaff.releases.watching import Watching
from tests.support.api import Caller, Json, field_errors, flag_path
from tests.support.releases import (
    create_release,
    read_release,
    read_results,
    release_path,
    until,
    until_served,
    until_state,
    until_step,
)
from tests.web.conftest import ListChanges

NOW: Json = {"after_seconds": 0, "changes": {"enabled": True}}
LATER: Json = {"after_seconds": 3600, "changes": {"description": "Everywhere."}}
ERRORS: Json = {"request_metric": "errors", "measure": "per_minute", "above": 5, "minutes": 2, "action": "turn_off"}
SECONDS: Json = {"request_metric": "seconds", "measure": "p95", "above": 0.4, "minutes": 2, "action": "pause"}
CHECKOUT = (("appName", "shop"), ("new-checkout", "enabled"))
_MINUTES = 8


def counted(times: float, *labels: tuple[str, str]) -> Measured:
    """Return the samples of a counter of errors."""
    return Measured("errors", RequestKind.COUNTER, "Errors", labels or CHECKOUT, (Sample(WHOLE, times, 1),))


def observed(bound: str) -> Measured:
    """Return a histogram of a hundred observations below a bound."""
    samples = (Sample(WHOLE, 20.0, 100), Sample(bound, 0.0, 100))
    return Measured("seconds", RequestKind.HISTOGRAM, "Seconds", CHECKOUT, samples)


async def have_reported(flagstaff: Flagstaff, flag: Json, *measured: Measured) -> None:
    """Store reports of applications for each of the last minutes, and for the current minute."""
    now = datetime.now(UTC)
    for minute in range(_MINUTES):
        async with flagstaff.database.write_history() as connection:
            at = now - timedelta(minutes=minute)
            assert await add_measured(connection, UUID(flag["environment_id"]), measured, at, 1_000) == 0


async def grow_old(flagstaff: Flagstaff, release: Json, minutes: int) -> None:
    """Move the times of a release's applied steps back by some minutes."""
    earlier = timedelta(minutes=minutes)
    async with flagstaff.database.transaction() as transaction:
        found = await releases_store.get_release(transaction.connection, UUID(release["flag_id"]), UUID(release["id"]))
        aged = replace(
            found,
            applied=tuple(replace(each, at=each.at - earlier) for each in found.applied),
            updated_at=found.updated_at + timedelta(microseconds=1),
        )
        await releases_store.update_release(transaction.connection, aged)


def threshold_watch(flagstaff: Flagstaff, act: ActBeyond) -> ThresholdWatch:
    """Another process that watches thresholds."""
    return ThresholdWatch(flagstaff.database, act, Watching(flagstaff.database, lambda: datetime.now(UTC), monotonic))


async def begin(caller: Caller, flag: Json, *thresholds: Json) -> Json:
    """Create a release, and wait until its first step is applied."""
    release = await create_release(caller, flag, NOW, LATER, thresholds=list(thresholds))
    begun = await until_step(caller, release, 0)
    await until_served(caller, flag)
    return begun


@pytest.mark.parametrize(
    ("threshold", "field"),
    [
        ({**ERRORS, "request_metric": "crashes"}, "thresholds.0.request_metric"),
        ({**ERRORS, "request_metric": ""}, "thresholds.0.request_metric"),
        ({**ERRORS, "measure": "p95"}, "thresholds.0.measure"),
        ({**ERRORS, "measure": "most"}, "thresholds.0.measure"),
        ({**ERRORS, "below": 1}, "thresholds.0"),
        ({"request_metric": "errors", "measure": "per_minute", "action": "pause"}, "thresholds.0"),
        ({**ERRORS, "above": "5"}, "thresholds.0.above"),
        ({**ERRORS, "above": 1e300}, "thresholds.0.above"),
        ({**ERRORS, "minutes": 0}, "thresholds.0.minutes"),
        ({**ERRORS, "minutes": 61}, "thresholds.0.minutes"),
        ({**ERRORS, "labels": {"new-checkout": 1}}, "thresholds.0.labels.new-checkout"),
        ({**ERRORS, "labels": {f"l{number}": "x" for number in range(21)}}, "thresholds.0.labels"),
        ({**ERRORS, "action": "explode"}, "thresholds.0.action"),
        ({**ERRORS, "more": 1}, "thresholds.0.more"),
    ],
)
async def test_a_threshold_that_cannot_be_is_refused_by_field(
    flagstaff: Flagstaff, ada: Caller, flag: Json, path: str, threshold: Json, field: str
) -> None:
    await have_reported(flagstaff, flag, counted(1))
    answer = await ada.post(path, json={"steps": [NOW], "thresholds": [threshold]})
    assert list(field_errors(answer)) == [field]
    assert (await ada.get(path)).json() == []


async def test_a_release_has_a_bounded_number_of_thresholds(
    flagstaff: Flagstaff, ada: Caller, flag: Json, path: str
) -> None:
    await have_reported(flagstaff, flag, counted(1))
    answer = await ada.post(path, json={"steps": [NOW], "thresholds": [ERRORS] * 11})
    assert list(field_errors(answer)) == ["thresholds"]


async def test_what_is_reported_elsewhere_is_told_to_nobody(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, flag: Json, path: str
) -> None:
    await have_reported(flagstaff, flag, counted(1))
    for name in ("errors", "crashes"):
        body = {"steps": [NOW], "thresholds": [{**ERRORS, "request_metric": name}]}
        assert (await eve.post(path, json=body)).status_code == 404


async def test_a_flag_is_turned_off_when_a_threshold_is_passed_and_everybody_is_told_why(
    flagstaff: Flagstaff, ada: Caller, project: Json, flag: Json, list_changes: ListChanges
) -> None:
    await have_reported(flagstaff, flag, counted(7), counted(2, ("appName", "shop"), ("new-checkout", "disabled")))
    labels = {"new-checkout": "enabled"}
    release = await begin(ada, flag, {**ERRORS, "labels": labels})
    assert release["thresholds"] == [{**ERRORS, "labels": labels, "above": 5.0, "below": None}]
    await grow_old(flagstaff, release, 5)
    stopped = await until_state(ada, release, "stopped")
    assert not (await ada.get(flag_path(flag))).json()["enabled"]
    await until_served(ada, flag)
    answer = (await ada.evaluate(project["sdk_key"], context={"user_id": "u-1"})).json()
    assert answer["flags"]["new-checkout"] == {"enabled": False, "reason": "Flag is globally disabled"}
    (alarm,) = stopped["alarms"]
    assert {name: alarm[name] for name in ("metric", "request_metric", "place", "action", "evidence", "threshold")} == {
        "metric": None,
        "request_metric": "errors",
        "place": 0,
        "action": "turn_off",
        "evidence": 7.0,
        "threshold": 5.0,
    }
    words = (
        "errors (new-checkout: enabled): the number per minute was 7 over the last 2 minutes, above the threshold of 5."
    )
    assert alarm["words"] == stopped["reason"] == words
    actions = [each["action"] for each in await list_changes()]
    assert actions.count("release.stopped") == 1


@pytest.mark.both_databases
async def test_a_release_is_paused_by_a_quantile_and_goes_on_when_it_is_resumed(
    flagstaff: Flagstaff, ada: Caller, flag: Json
) -> None:
    await have_reported(flagstaff, flag, observed("0.5"))
    release = await begin(ada, flag, SECONDS)
    await grow_old(flagstaff, release, 5)
    paused = await until_state(ada, release, "paused")
    assert "the 95th percentile was 0.475 over the last 2 minutes" in paused["reason"]
    assert (await ada.get(flag_path(flag))).json()["enabled"]


@pytest.mark.both_databases
async def test_several_thresholds_of_one_request_metric_act_each_once(
    flagstaff: Flagstaff, ada: Caller, flag: Json
) -> None:
    await have_reported(flagstaff, flag, observed("0.5"))
    notify = {**SECONDS, "action": "notify"}
    few = {**notify, "measure": "per_minute", "above": 90}
    release = await begin(ada, flag, notify, few)
    await grow_old(flagstaff, release, 5)
    found = await until(lambda: read_release(ada, release), lambda each: len(each["alarms"]) >= 2)
    acting: list[tuple[int, float]] = []

    async def act(_release: Release, place: int, value: float) -> None:
        acting.append((place, value))

    await threshold_watch(flagstaff, act).watch()
    assert acting == []
    assert sorted(alarm["place"] for alarm in found["alarms"]) == [0, 1]
    assert found["state"] == "running"


async def test_a_value_that_overflows_is_told_as_a_number(flagstaff: Flagstaff, ada: Caller, flag: Json) -> None:
    """As it was stored before reports were bounded. PostgreSQL refuses to add such numbers, so its threshold fails."""
    huge = (Sample(WHOLE, 1.7e308, 100), Sample("0.5", 0.0, 100))
    await have_reported(flagstaff, flag, Measured("seconds", RequestKind.HISTOGRAM, "Seconds", CHECKOUT, huge))
    release = await begin(ada, flag, {**SECONDS, "measure": "mean"})
    await grow_old(flagstaff, release, 5)
    (alarm,) = (await until_state(ada, release, "paused"))["alarms"]
    assert alarm["evidence"] == 1e300


async def test_a_threshold_that_fails_keeps_no_other_from_acting(flagstaff: Flagstaff, ada: Caller, flag: Json) -> None:
    await have_reported(flagstaff, flag, observed("0.5"), counted(20))
    release = await begin(ada, flag, SECONDS, ERRORS)
    acting: list[int] = []

    async def act(_release: Release, place: int, _value: float) -> None:
        acting.append(place)
        raise ValueError("Out of range float values are not JSON compliant")

    await grow_old(flagstaff, release, 5)
    await threshold_watch(flagstaff, act).watch()
    assert acting == [0, 1]


@pytest.mark.both_databases
async def test_the_results_say_that_the_next_step_waits_for_a_threshold_that_cannot_be_read(
    flagstaff: Flagstaff, ada: Caller, flag: Json
) -> None:
    await have_reported(flagstaff, flag, counted(1))
    release = await begin(ada, flag, ERRORS)
    await grow_old(flagstaff, release, 5)
    assert (await read_results(ada, release))["next_step_waits_for"] is None

    async def write_labels(labels: str) -> None:
        async with flagstaff.database.write_history() as connection:
            await connection.execute(tables.request_series.update().values(labels=labels))

    await write_labels("{")
    assert (await read_results(ada, release))["next_step_waits_for"] == "unreadable_threshold"
    await write_labels(json.dumps(dict(CHECKOUT)))
    assert (await read_results(ada, release))["next_step_waits_for"] is None
    await ada.post(f"{release_path(release)}/cancel")
    await write_labels("{")
    assert (await read_results(ada, release))["next_step_waits_for"] is None


@pytest.mark.parametrize(
    ("reported", "threshold"),
    [
        ([counted(5)], ERRORS),
        ([observed(INFINITE), counted(1)], SECONDS),
        ([counted(9, ("new-checkout", "enabled"))], {**ERRORS, "labels": {"new-checkout": "disabled"}}),
    ],
    ids=["at the limit", "unknown", "other labels"],
)
async def test_what_is_within_its_limit_or_unknown_passes_no_threshold(
    flagstaff: Flagstaff, ada: Caller, flag: Json, reported: list[Measured], threshold: Json
) -> None:
    await have_reported(flagstaff, flag, *reported, counted(20, ("control", "x")))
    control: Json = {**ERRORS, "labels": {"control": "x"}, "action": "notify"}
    given = [{**threshold, "labels": threshold.get("labels", {"new-checkout": "enabled"})}, control]
    release = await begin(ada, flag, *given)
    await grow_old(flagstaff, release, 5)
    found = await until(lambda: read_release(ada, release), lambda each: bool(each["alarms"]))
    assert [alarm["place"] for alarm in found["alarms"]] == [1]
    assert found["state"] == "running"


@pytest.mark.both_databases
async def test_a_counter_that_has_stopped_is_below_its_threshold(flagstaff: Flagstaff, ada: Caller, flag: Json) -> None:
    await have_reported(flagstaff, flag, counted(3, ("appName", "other")))
    orders: dict[str, Any] = {"request_metric": "errors", "measure": "per_minute", "below": 1, "minutes": 1}
    release = await begin(ada, flag, {**orders, "labels": {"appName": "shop"}, "action": "pause"})
    await grow_old(flagstaff, release, 5)
    paused = await until_state(ada, release, "paused")
    assert paused["reason"].endswith("was 0 over the last minute, below the threshold of 1.")


@pytest.mark.both_databases
async def test_minutes_before_the_step_began_do_not_count(flagstaff: Flagstaff, ada: Caller, flag: Json) -> None:
    await have_reported(flagstaff, flag, counted(9))
    short = {**ERRORS, "minutes": 1, "action": "notify"}
    release = await begin(ada, flag, {**ERRORS, "minutes": 5}, short)
    await grow_old(flagstaff, release, 3)
    found = await until(lambda: read_release(ada, release), lambda each: bool(each["alarms"]))
    assert [alarm["place"] for alarm in found["alarms"]] == [1]
    assert found["state"] == "running"
