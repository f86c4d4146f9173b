"""POST /unleash/api/client/register, metrics, metrics/bulk and metrics/edge."""

import json
from typing import Any

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.history.applications import Client, FlagCounts, Report
from flagstaff.serving.reports_collector import WAITING_COUNTS_MAX
from flagstaff.serving.unleash.reports import MAX_COUNTS
from tests.support.api import Caller, Json, environment_path
from tests.support.holds import ask, watch_holds
from tests.support.sdk_keys import KeyMaker
from tests.web.unleash.conftest import CLIENT, Ask

REGISTRATION = {
    "appName": "shop",
    "instanceId": "shop-1",
    "connectionId": "c-1",
    "sdkVersion": "unleash-client-node:6.12.1",
    "strategies": ["default"],
    "started": "2026-11-20T10:00:00Z",
    "interval": 15000,
    "platformName": "node",
    "specVersion": "6.1.0",
}
TOGGLES = {"new-checkout": {"yes": 3, "no": 1, "variants": {"red": 2}}, "unknown": {"yes": 0, "no": 5}}
WINDOW = {"start": "2026-11-20T10:00:00Z", "stop": "2026-11-20T10:01:00Z"}
METRICS = {
    "appName": "shop",
    "instanceId": "shop-1",
    "connectionId": "c-1",
    "bucket": {**WINDOW, "toggles": TOGGLES},
}
EDGE_COUNTS = {
    "featureName": "new-checkout",
    "appName": "shop",
    "environment": "production",
    "timestamp": "2026-11-20T10:00:00Z",
    "yes": 3,
    "no": 1,
    "variants": {"red": 2},
}
BATCH = {"applications": [REGISTRATION], "metrics": [EDGE_COUNTS]}
BODIES: dict[str, Json] = {
    "register": REGISTRATION,
    "metrics": METRICS,
    "metrics/bulk": BATCH,
    "metrics/edge": {"identifier": "edge-1", "appName": "edge"},
}
LONGEST_UNITS = 8  # milliseconds of an idle machine
each_path = pytest.mark.parametrize("path", BODIES)


@pytest.fixture
def noted(flagstaff: Flagstaff, monkeypatch: pytest.MonkeyPatch) -> list[Report]:
    """Return the recorded reports."""
    found: list[Report] = []
    monkeypatch.setattr(flagstaff.applications.collector, "record_report", found.append)
    return found


@each_path
async def test_a_wrong_key_is_refused(client: Caller, keys: KeyMaker, environment: Json, path: str) -> None:
    browser = await keys.create(environment, kind="browser")
    for key, status in (("", 401), ("nonsense", 401), (browser, 403)):
        response = await client.post(f"{CLIENT}/{path}", headers={"authorization": key}, json=BODIES[path])
        assert response.status_code == status


@each_path
@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'"x"', b"\xff", b"[" * 10_000])
async def test_a_body_that_is_no_object_is_refused(report: Ask, path: str, body: bytes) -> None:
    response = await report(path, body)
    assert response.status_code == 400
    assert response.json()["name"] == "BadDataError"


@pytest.mark.parametrize(
    ("path", "change"),
    [
        ("register", {"appName": None}),
        ("metrics", {"appName": 1}),
        ("metrics", {"bucket": []}),
        ("metrics", {"bucket": {}}),
        ("metrics", {"bucket": {"toggles": {"x": {"yes": -1}}}}),
        ("metrics", {"bucket": {"toggles": {"x": {"yes": "1"}}}}),
        ("metrics", {"bucket": {"toggles": {"x": {"variants": {"a": 1.5}}}}}),
        ("metrics/bulk", {"metrics": None}),
        ("metrics/bulk", {"metrics": [{**EDGE_COUNTS, "yes": -1}]}),
        ("metrics/bulk", {"applications": [{}]}),
    ],
)
async def test_a_body_of_another_form_is_refused(report: Ask, path: str, change: Json, noted: list[Report]) -> None:
    assert (await report(path, {**BODIES[path], **change})).status_code == 400
    assert noted == []


async def test_a_body_over_the_limit_is_refused(report: Ask) -> None:
    for path in ("metrics", "metrics/bulk"):
        assert (await report(path, {**BODIES[path], "padding": "x" * 2**20})).status_code == 413
    assert (await report("register", {**REGISTRATION, "padding": "x" * 300_000})).status_code == 413


async def test_a_report_with_too_many_fields_is_refused(report: Ask, noted: list[Report]) -> None:
    toggles = {f"f{number}": {"yes": 1, "no": 1} for number in range(21_000)}
    edge = [{"featureName": "", "appName": "", "environment": "", "yes": 1, "no": 1}] * 12_100
    for path, body in (
        ("metrics", {**METRICS, "bucket": {**WINDOW, "toggles": toggles}}),
        ("metrics/bulk", {**BATCH, "metrics": edge}),
    ):
        answer = await report(path, json.dumps(body, separators=(",", ":")).encode())
        assert (answer.status_code, "60,000 fields" in answer.text) == (400, True)
    assert noted == []


async def test_a_report_that_is_long_about_one_flag_is_refused(report: Ask, noted: list[Report]) -> None:
    counts = {"yes": 1, "variants": {f"variant-{number}": 1 for number in range(6_000)}}
    for path, body in (
        ("metrics", {**METRICS, "bucket": {**WINDOW, "toggles": {"x": counts}}}),
        ("metrics/bulk", {**BATCH, "metrics": [{**EDGE_COUNTS, **counts}]}),
    ):
        answer = await report(path, body)
        assert (answer.status_code, "more than 64 KiB" in answer.text) == (400, True)
    assert noted == []


@pytest.mark.both_databases
async def test_a_report_of_an_environment_of_5_000_flags_is_kept_whole(
    report: Ask, flagstaff: Flagstaff, ada: Caller, environment: Json
) -> None:
    toggles = {f"flag-{number}".ljust(128, "x"): {"yes": 3, "no": 1, "variants": {}} for number in range(5_000)}
    body: Json = {**METRICS, "bucket": {**WINDOW, "toggles": toggles}}
    assert len(json.dumps(body)) > 512 * 1024
    assert (await report("metrics", body)).status_code == 202
    await flagstaff.applications.collector.write()
    found = (await ada.get(f"{environment_path(environment)}/reports")).json()
    assert (len(found["flags"]), found["dropped"]) == (5_000, 0)


@pytest.mark.both_databases
@each_path
async def test_success_is_an_empty_202(report: Ask, path: str) -> None:
    response = await report(path, BODIES[path])
    assert (response.status_code, response.content) == (202, b"")


async def test_a_report_says_who_counted_what(report: Ask, noted: list[Report], environment: Json) -> None:
    await report("metrics", METRICS)
    (only,) = noted
    assert str(only.environment_id) == environment["id"]
    assert only.client == Client("shop", "shop-1", "c-1", "unleash-client-python:6.9.1")
    assert only.counts == {"new-checkout": FlagCounts(3, 1, {"red": 2}), "unknown": FlagCounts(0, 5, {})}


@pytest.mark.both_databases
async def test_a_window_that_is_sent_twice_has_the_same_digest(report: Ask, noted: list[Report]) -> None:
    other = {**METRICS, "bucket": {**METRICS["bucket"], "stop": "2026-11-20T10:02:00Z"}}  # type: ignore[dict-item]
    for body in (METRICS, METRICS, other, {**METRICS, "instanceId": "shop-2"}):
        await report("metrics", body)
    first, again, later, elsewhere = (each.window for each in noted)
    assert first == again
    assert len({first, later, elsewhere}) == 3
    assert len(first) == 16


@pytest.mark.parametrize("path", ["metrics", "metrics/bulk"])
async def test_the_same_window_of_another_environment_has_another_digest(
    client: Caller, ada: Caller, keys: KeyMaker, project: Json, noted: list[Report], path: str
) -> None:
    second = await ada.create_project(name="Second")
    for home in (project, second):
        key = await keys.create(await ada.get_environment(home))
        await client.post(f"{CLIENT}/{path}", headers={"authorization": key}, json=BODIES[path])
    here, there = noted
    assert here.counts == there.counts
    assert here.environment_id != there.environment_id
    assert here.window != there.window


@pytest.mark.parametrize("bucket", [None, {**WINDOW, "toggles": {}}])
async def test_a_report_without_counts_is_accepted(report: Ask, noted: list[Report], bucket: Any) -> None:
    assert (await report("metrics", {**METRICS, "bucket": bucket})).status_code == 202
    assert noted == []


async def test_what_a_client_claims_is_bounded(report: Ask, noted: list[Report]) -> None:
    toggles: dict[str, Json] = {f"flag-{number}": {"yes": 1} for number in range(5001)}
    assert (await report("metrics", {**METRICS, "bucket": {**WINDOW, "toggles": toggles}})).status_code == 202
    huge = {"yes": 10**18, "no": 0, "variants": {str(number): 1 for number in range(1000)}}
    body = {**METRICS, "appName": "a\0" * 500, "bucket": {**WINDOW, "toggles": {"k" * 9999: huge}}}
    assert (await report("metrics", body)).status_code == 202
    many, long = noted
    assert len(many.counts) == 5000
    ((key, counts),) = long.counts.items()
    assert len(key) == 128
    assert counts.yes == 10**9
    assert len(counts.variants) == 50
    assert long.client.application == "a" * 100


WIDE = {f"f{number}": {"yes": 1, "variants": {f"{each:x}": 1 for each in range(48)}} for number in range(400)}


async def test_the_counts_of_variants_count_too(report: Ask, noted: list[Report]) -> None:
    assert (await report("metrics", {**METRICS, "bucket": {**WINDOW, "toggles": WIDE}})).status_code == 202
    edge = [{**EDGE_COUNTS, "featureName": key, **counts} for key, counts in WIDE.items()]
    assert (await report("metrics/bulk", {**BATCH, "metrics": edge})).status_code == 202
    for each in noted:
        assert 4_900 < each.size <= MAX_COUNTS
        assert each.size + each.dropped >= 400 * 49
    assert len(noted) == 2


@pytest.mark.both_databases
async def test_a_report_that_cannot_be_kept_is_to_be_sent_again(report: Ask, flagstaff: Flagstaff) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flagstaff.applications.collector, "_waiting_counts", WAITING_COUNTS_MAX)
        response = await report("metrics", METRICS)
    assert response.status_code == 503
    assert response.headers["retry-after"]


async def test_an_edge_reports_for_the_applications_behind_it(report: Ask, noted: list[Report]) -> None:
    metrics = [
        EDGE_COUNTS,
        {**EDGE_COUNTS, "timestamp": "2026-11-20T11:00:00Z", "variants": None},
        {**EDGE_COUNTS, "appName": "search", "featureName": "ranking"},
        {**EDGE_COUNTS, "environment": "staging"},
    ]
    await report("metrics/bulk", {**BATCH, "metrics": metrics})
    assert [(each.client.application, each.counts) for each in noted] == [
        ("shop", {"new-checkout": FlagCounts(6, 2, {"red": 2})}),
        ("search", {"ranking": FlagCounts(3, 1, {"red": 2})}),
    ]
    assert len({each.window for each in noted}) == 2


async def test_unknown_fields_and_names_without_sense_are_accepted(report: Ask) -> None:
    body = json.dumps({**METRICS, "specVersion": "99.0.0", "connectionId": None, "yggdrasilVersion": None}).encode()
    assert (await report("metrics", body)).status_code == 202


@pytest.mark.both_databases
async def test_counts_that_no_client_can_have_counted_still_add_up(
    ada: Caller, environment: Json, flagstaff: Flagstaff, report: Ask
) -> None:
    huge = {"new-checkout": {"yes": 2**53}}
    for number in range(1_100):
        body = {**METRICS, "bucket": {"start": number, "stop": number, "toggles": huge}}
        assert (await report("metrics", body)).status_code == 202
    await flagstaff.applications.collector.write()
    (of_flag,) = (await ada.get(f"{environment_path(environment)}/reports")).json()["flags"]
    assert of_flag["yes"] == 1_100 * 10**9


@pytest.mark.parametrize("path", ["metrics", "metrics/bulk"])
async def test_a_long_report_is_read_in_short_steps(
    flagstaff: Flagstaff, keys: KeyMaker, environment: Json, path: str
) -> None:
    variants = {f"v{each}": 1 for each in range(4)}
    toggles: dict[str, Json] = {f"flag-{number}": {"yes": 3, "no": 1, "variants": variants} for number in range(5_000)}
    body: Json = {**METRICS, "bucket": {**WINDOW, "toggles": toggles}}
    if path == "metrics/bulk":
        names = {"appName": "shop", "environment": "production"}
        body = {**BATCH, "metrics": [{"featureName": key, **names, **counts} for key, counts in toggles.items()]}
    content, key = json.dumps(body, separators=(",", ":")).encode(), await keys.create(environment)
    async with watch_holds() as holds:
        status, _ = await ask(flagstaff.edge.asgi, "POST", f"{CLIENT}/{path}", token=key, content=content)
    assert status == 202
    assert holds.longest_in_units < LONGEST_UNITS
