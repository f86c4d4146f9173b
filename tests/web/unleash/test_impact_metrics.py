"""Impact metrics in POST /unleash/api/client/metrics, and GET …/environments/{env_id}/request-metrics."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.metrics.request_metrics import LABELS_MAX, SERIES_MAX
from tests.support.api import Caller, Json, environment_path, field_errors
from tests.support.clock import Clock
from tests.web.unleash.conftest import Ask

AT = "2026-11-20T10:00:00Z"
SPAN = f"since={AT}&until=2026-11-20T10:00:30Z"
LABELS = {"appName": "shop", "environment": "production"}
BUCKETS = [{"le": 0.1, "count": 50}, {"le": 0.5, "count": 85}, {"le": 1.0, "count": 95}, {"le": "+Inf", "count": 100}]


@pytest.fixture
def clock() -> Clock:
    """The clock that sets when reports arrive."""
    return Clock()


def report_of(*metrics: Json, start: str = AT) -> Json:
    """Return a report of metrics since a time."""
    bucket = {"start": start, "stop": "2026-11-20T10:01:00Z", "toggles": {}}
    return {"appName": "shop", "instanceId": "shop-1", "bucket": bucket, "impactMetrics": list(metrics)}


def counter(value: Any, name: str = "orders", **labels: str) -> Json:
    """Return the samples of a counter."""
    samples = [{"labels": {**LABELS, **labels}, "value": value}]
    return {"name": name, "help": "Orders", "type": "counter", "samples": samples}


def histogram(**sample: Any) -> Json:
    """Return the samples of a histogram."""
    labels = {**LABELS, "new-checkout": "enabled"}
    samples = [{"labels": labels, "count": 100, "sum": 25.5, "buckets": BUCKETS, **sample}]
    return {"name": "seconds", "help": "Response time", "type": "histogram", "samples": samples}


async def listed(ada: Caller, environment: Json) -> list[Json]:
    """The request metrics of an environment."""
    found: list[Json] = (await ada.get(f"{environment_path(environment)}/request-metrics")).json()
    return found


async def chart(ada: Caller, environment: Json, query: str) -> Json:
    """A chart of a request metric."""
    response = await ada.get(f"{environment_path(environment)}/request-metrics/chart?{query}")
    assert response.status_code == 200, response.text
    found: Json = response.json()
    return found


async def dropped(ada: Caller, environment: Json) -> int:
    """Return how many counts and samples of reports were dropped in the last day."""
    return int((await ada.get(f"{environment_path(environment)}/reports")).json()["dropped"])


async def test_they_are_shown_to_members_only(client: Caller, eve: Caller, ada: Caller, environment: Json) -> None:
    for path in ("request-metrics", "request-metrics/chart?name=orders"):
        assert (await client.get(f"{environment_path(environment)}/{path}")).status_code == 401
        assert (await eve.get(f"{environment_path(environment)}/{path}")).status_code == 404
        missing = {**environment, "id": str(uuid4())}
        assert (await ada.get(f"{environment_path(missing)}/{path}")).status_code == 404


async def test_a_chart_of_what_nobody_reports_is_not_found(ada: Caller, environment: Json) -> None:
    response = await ada.get(f"{environment_path(environment)}/request-metrics/chart?name=orders")
    assert response.status_code == 404


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("", "name"),
        ("name=orders&measure=p95", "measure"),
        ("name=orders&measure=most", "measure"),
        ("name=orders&label=new-checkout", "label.0"),
        ("name=orders&since=yesterday", "since"),
        ("name=orders&since=2026-11-20T10:00:00Z&until=2026-11-20T10:00:00Z", "since"),
        ("name=orders&since=2026-11-01T10:00:00Z", "since"),
        ("name=orders&flag=x", "flag"),
    ],
)
async def test_an_invalid_chart_is_refused(
    flagstaff: Flagstaff, ada: Caller, report: Ask, environment: Json, query: str, field: str
) -> None:
    await report("metrics", report_of(counter(1)))
    await flagstaff.applications.collector.write()
    response = await ada.get(f"{environment_path(environment)}/request-metrics/chart?{query}")
    assert field in field_errors(response)


@pytest.mark.both_databases
@pytest.mark.parametrize(
    "metric",
    [
        7,
        {"name": "orders"},
        {**counter(1), "type": "summary"},
        {**counter(1), "samples": None},
        counter(-1),
        counter("1"),
        counter(None),
        counter(1, **{f"label-{number}": "x" for number in range(LABELS_MAX)}),
        counter(1, **{f"label-{number}": "x" * 100 for number in range(15)}),
        histogram(buckets=[{"le": 1.7e308, "count": 1}]),
        histogram(buckets=[{"le": "many", "count": 1}]),
        histogram(buckets=[{"le": number, "count": 1} for number in range(31)]),
        histogram(count=-1),
    ],
)
async def test_what_cannot_be_kept_is_counted_and_the_rest_of_its_report_is_kept(
    flagstaff: Flagstaff, ada: Caller, report: Ask, environment: Json, metric: Any
) -> None:
    assert (await report("metrics", report_of(metric, counter(2, name="kept")))).status_code == 202
    await flagstaff.applications.collector.write()
    assert [each["name"] for each in await listed(ada, environment)] == ["kept"]
    assert await dropped(ada, environment) == 1


async def test_a_metric_of_many_series_is_kept_however_long_it_is(
    flagstaff: Flagstaff, ada: Caller, report: Ask, environment: Json
) -> None:
    samples = [{"labels": {"route": f"{number}".ljust(200, "x")}, "value": 1} for number in range(450)]
    metric = {**counter(1), "samples": samples}
    assert (await report("metrics", report_of(metric))).status_code == 202
    await flagstaff.applications.collector.write()
    assert [each["name"] for each in await listed(ada, environment)] == ["orders"]
    assert await dropped(ada, environment) == 0


@pytest.mark.both_databases
@pytest.mark.parametrize("given", [None, 7, "orders", {"name": "orders"}])
async def test_what_is_no_list_does_not_stop_the_counts_of_flags(
    flagstaff: Flagstaff, ada: Caller, report: Ask, environment: Json, given: Any
) -> None:
    body = report_of()
    body["bucket"]["toggles"] = {"new-checkout": {"yes": 3}}
    assert (await report("metrics", {**body, "impactMetrics": given})).status_code == 202
    await flagstaff.applications.collector.write()
    (flag,) = (await ada.get(f"{environment_path(environment)}/reports")).json()["flags"]
    assert flag["yes"] == 3
    assert await listed(ada, environment) == []


@pytest.mark.both_databases
async def test_a_counter_is_shown_by_the_minute_and_by_variant(
    flagstaff: Flagstaff, ada: Caller, report: Ask, environment: Json, clock: Clock
) -> None:
    await report("metrics", report_of(counter(3, checkout="enabled"), counter(1, checkout="disabled")))
    await flagstaff.applications.collector.write()
    clock.advance(minutes=2)
    await report("metrics", report_of(counter(7, checkout="enabled"), start="2026-11-20T10:01:00Z"))
    await flagstaff.applications.collector.write()
    (metric,) = await listed(ada, environment)
    assert metric == {
        "name": "orders",
        "kind": "counter",
        "help": "Orders",
        "measures": ["per_minute"],
        "labels": {"appName": ["shop"], "checkout": ["disabled", "enabled"]},
        "seen_at": "2026-11-20T10:00:00.000000Z",
    }
    span = "since=2026-11-20T10:00:00Z&until=2026-11-20T10:02:30Z"
    found = await chart(ada, environment, f"name=orders&by=checkout&{span}")
    assert found["lines"] == [
        {"value": "disabled", "points": [1.0, None, None]},
        {"value": "enabled", "points": [3.0, None, 7.0]},
    ]
    assert (found["minutes"], found["until"]) == (1, "2026-11-20T10:03:00.000000Z")
    whole = await chart(ada, environment, f"name=orders&{span}")
    assert whole["lines"] == [{"value": None, "points": [4.0, None, 7.0]}]
    enabled = await chart(ada, environment, f"name=orders&label=checkout:enabled&{span}")
    assert enabled["lines"] == [{"value": None, "points": [3.0, None, 7.0]}]


@pytest.mark.both_databases
async def test_a_histogram_has_a_mean_and_quantiles(
    flagstaff: Flagstaff, ada: Caller, report: Ask, environment: Json
) -> None:
    await report("metrics", report_of(histogram()))
    await report("metrics", report_of(histogram(), start="2026-11-20T10:00:30Z"))  # of another instance, for example
    await flagstaff.applications.collector.write()
    found = {}
    for measure in ("mean", "p50", "p90", "p99", "per_minute"):
        shown = await chart(ada, environment, f"name=seconds&measure={measure}&{SPAN}")
        ((found[measure],),) = [each["points"] for each in shown["lines"]]
    assert found == pytest.approx({"mean": 0.255, "p50": 0.1, "p90": 0.75, "p99": 1.0, "per_minute": 200.0})


@pytest.mark.both_databases
async def test_a_quantile_lies_above_the_empty_buckets_below_it(
    flagstaff: Flagstaff, ada: Caller, report: Ask, environment: Json
) -> None:
    buckets = [{"le": 0.1, "count": 0}, {"le": 0.5, "count": 0}, {"le": 1.0, "count": 2}, {"le": "+Inf", "count": 2}]
    await report("metrics", report_of(histogram(count=2, sum=1.5, buckets=buckets)))
    await flagstaff.applications.collector.write()
    shown = await chart(ada, environment, f"name=seconds&measure=p50&{SPAN}")
    assert shown["lines"][0]["points"] == [0.75]


@pytest.mark.both_databases
async def test_a_window_that_is_sent_twice_counts_once(
    flagstaff: Flagstaff, ada: Caller, report: Ask, environment: Json
) -> None:
    for _ in range(2):
        await report("metrics", report_of(counter(3)))
    await flagstaff.applications.collector.write()
    assert (await chart(ada, environment, f"name=orders&{SPAN}"))["lines"][0]["points"] == [3.0]


@pytest.mark.both_databases
async def test_reports_without_a_window_count_each(
    flagstaff: Flagstaff, ada: Caller, report: Ask, environment: Json
) -> None:
    for _ in range(2):
        await report("metrics", {**report_of(counter(3)), "bucket": None})
    await flagstaff.applications.collector.write()
    assert (await chart(ada, environment, f"name=orders&{SPAN}"))["lines"][0]["points"] == [6.0]


@pytest.mark.both_databases
async def test_an_edge_reports_for_its_environment_only(
    flagstaff: Flagstaff, ada: Caller, report: Ask, environment: Json
) -> None:
    given = [
        {**counter(3), "appName": "shop", "environment": "production"},
        {**counter(5), "appName": "shop", "environment": "staging"},
        counter(7, environment="staging"),
        counter(2),
    ]
    response = await report("metrics/bulk", {"applications": [], "metrics": [], "impactMetrics": given})
    assert response.status_code == 202
    await flagstaff.applications.collector.write()
    assert (await chart(ada, environment, f"name=orders&{SPAN}"))["lines"][0]["points"] == [5.0]


@pytest.mark.both_databases
async def test_an_environment_keeps_a_bounded_number_of_series(
    flagstaff: Flagstaff, ada: Caller, report: Ask, environment: Json
) -> None:
    for first in range(0, SERIES_MAX + 100, 100):
        metrics = [counter(1, name=f"orders-{number}") for number in range(first, first + 100)]
        await report("metrics", report_of(*metrics, start=f"{first}"))
    await flagstaff.applications.collector.write()
    assert len(await listed(ada, environment)) == SERIES_MAX
    assert await dropped(ada, environment) == 100


@pytest.mark.both_databases
@pytest.mark.parametrize("environ", [{"FLAGSTAFF_MAX_REPORTED_COUNTS_PER_HOUR": "3"}])
async def test_an_hour_keeps_a_bounded_number_of_samples(
    flagstaff: Flagstaff, ada: Caller, report: Ask, environment: Json, clock: Clock
) -> None:
    for minute in range(5):
        await report("metrics", report_of(counter(1), start=f"{minute}"))
        await flagstaff.applications.collector.write()
        clock.advance(minutes=1)
    points = (await chart(ada, environment, f"name=orders&since={AT}"))["lines"][0]["points"]
    assert points == [1.0, 1.0, 1.0, None, None, None]
    assert await dropped(ada, environment) == 2


@pytest.mark.both_databases
async def test_they_are_kept_for_a_week_and_go_with_their_environment(
    flagstaff: Flagstaff, ada: Caller, report: Ask, environment: Json, clock: Clock
) -> None:
    await report("metrics", report_of(counter(1)))
    await flagstaff.applications.collector.write()
    start = clock()
    clock.advance(hours=1)
    await report("metrics", report_of(counter(1, name="later"), start="later"))
    await flagstaff.applications.collector.write()
    reports = flagstaff.applications.reports
    await reports.purge(start + timedelta(days=7, minutes=30))
    assert [each["name"] for each in await listed(ada, environment)] == ["later"]
    await ada.delete(environment_path(environment))
    await reports.purge()
    async with flagstaff.database.read_history() as connection:
        rows = await connection.exec_driver_sql(
            f"SELECT count(*) FROM {'history.' if flagstaff.database.is_postgresql else ''}request_samples"
        )
        assert rows.scalar_one() == 0
