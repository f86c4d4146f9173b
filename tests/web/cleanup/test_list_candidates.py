"""GET …/environments/{env_id}/cleanup."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.evaluation.history.layout import Layout, LayoutFlag
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.history.applications import FlagCounts
from flagstaff.history.retention import HistoryRetention
from tests.support.api import Caller, Json, created, environment_path, field_errors, flag_path, project_path
from tests.support.builders import make_environment, make_flag, store_all
from tests.support.clock import Clock
from tests.support.history import make_batch, make_record, write
from tests.support.queries import reads
from tests.support.sessions import PASSWORD, log_in
from tests.support.tokens import issue
from tests.web.applications.conftest import make_report

DAY = 86_400
AGE = 40  # days since the flags were created and changed

GrowOld = Callable[..., Awaitable[None]]


@pytest.fixture
def clock() -> Clock:
    """The clock at the creation of the flags, which is the start of the records of `tests.support.history`."""
    return Clock()


@pytest.fixture
def grow_old(flagstaff: Flagstaff, ada: Caller, clock: Clock) -> GrowOld:
    """Let time pass. Ada's session ends meanwhile, so she logs in again."""

    async def pass_days(days: float = AGE) -> None:
        clock.advance(days=days)
        token = await log_in(flagstaff, email="ada@example.com", password=PASSWORD)
        ada.headers["authorization"] = f"Bearer {token}"

    return pass_days


async def find(caller: Caller, environment: Json, **query: Any) -> Json:
    """Return the candidates by key from the only part."""
    answer = await caller.get(f"{environment_path(environment)}/cleanup", params=query)
    assert answer.status_code == 200, answer.text
    body: Json = answer.json()
    return {**body, "candidates": {each["key"]: each for each in body["candidates"]}}


async def record(flagstaff: Flagstaff, environment: Json, outcomes: dict[str, Outcome], *days: float) -> None:
    """Record one evaluation on each of these days, in which each flag had the same outcome for everyone."""
    constant = tuple(LayoutFlag(UUID(int=1), key, 0, outcome) for key, outcome in outcomes.items())
    layout = Layout((), constant)
    await write(
        flagstaff.database,
        *(make_batch(UUID(environment["id"]), layout, make_record(day * DAY, recorded=b"")) for day in days),
    )


async def test_it_needs_a_token_and_a_member(client: Caller, eve: Caller, environment: Json) -> None:
    path = f"{environment_path(environment)}/cleanup"
    assert [(await caller.get(path)).status_code for caller in (client, eve)] == [401, 404]


@pytest.mark.both_databases
async def test_a_token_needs_both_permissions_and_sees_only_its_environments(
    flagstaff: Flagstaff, callers: AsyncExitStack, ada: Caller, project: Json, environment: Json, grow_old: GrowOld
) -> None:
    staging = await ada.get_environment(project, "staging")
    for each in (environment, staging):
        await ada.create_flag(each, key="old")
    await grow_old()
    path, here = f"{project_path(project)}/tokens", {"environments": [environment["id"]]}
    for permission in ("flags:read", "evaluations:read"):
        token = await issue(flagstaff, callers, path, ada, permission, **here)
        assert (await token.get(f"{environment_path(environment)}/cleanup")).status_code == 403
    token = await issue(flagstaff, callers, path, ada, "flags:read", "evaluations:read", **here)
    assert (await token.get(f"{environment_path(staging)}/cleanup")).status_code == 403
    found = await find(token, environment)
    assert (found["candidates"]["old"]["elsewhere"], found["hidden_environments"]) == ([], 1)
    found = await find(ada, environment)
    (elsewhere,) = found["candidates"]["old"]["elsewhere"]
    assert (elsewhere["environment_id"], elsewhere["enabled"]) == (staging["id"], True)
    assert found["hidden_environments"] == 0


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("days=0", "days"),
        ("days=366", "days"),
        ("days=x", "days"),
        ("reason=old", "reason"),
        ("kept=perhaps", "kept"),
        ("limit=101", "limit"),
        ("after=UPPER", "after"),
        ("more=1", "more"),
    ],
)
async def test_a_query_that_makes_no_sense_is_refused_by_name(
    ada: Caller, environment: Json, query: str, field: str
) -> None:
    assert field in field_errors(await ada.get(f"{environment_path(environment)}/cleanup?{query}"))


@pytest.mark.both_databases
async def test_old_flags_are_candidates_for_what_was_always_so_in_the_history_and_in_reports(
    flagstaff: Flagstaff, ada: Caller, environment: Json, clock: Clock, grow_old: GrowOld
) -> None:
    for key in ("always", "never", "mixed", "reported", "contradicted", "silent", "archived"):
        flag = await ada.create_flag(environment, key=key)
    await ada.post(f"{flag_path(flag)}/archive")
    on, off = Outcome.ON, Outcome.NO_RULE
    both = dict.fromkeys(("always", "mixed", "contradicted"), on)
    await record(flagstaff, environment, {**both, "never": off}, 15, 39)
    await record(flagstaff, environment, {"mixed": off}, 16)
    await record(flagstaff, environment, dict.fromkeys(("always", "reported"), off), 5)  # before the period
    await grow_old()
    report = make_report(environment, reported=FlagCounts(7, 0, {"blue": 7}), contradicted=FlagCounts(1, 1))
    flagstaff.applications.collector.record_report(report)
    await flagstaff.applications.collector.write()
    await ada.create_flag(environment, key="young")
    counts = {"on": 0, "off": 0, "reported": 0, "variant": None}
    expected = {
        "always": (["on_for_everyone", "unchanged"], {**counts, "on": 2}),
        "contradicted": (["unchanged"], {**counts, "on": 3, "off": 1, "reported": 2}),
        "mixed": (["unchanged"], {**counts, "on": 2, "off": 1}),
        "never": (["off_for_everyone", "unchanged"], {**counts, "off": 2}),
        "reported": (["on_for_everyone", "unchanged"], {**counts, "on": 7, "reported": 7, "variant": "blue"}),
        "silent": (["not_evaluated", "unchanged"], counts),
    }
    for is_rolled_up in (False, True):
        if is_rolled_up:
            await HistoryRetention(flagstaff.database, clock, timedelta(days=90)).roll_up()
        found = (await find(ada, environment, days=30))["candidates"]
        assert {key: (each["reasons"], each["evaluations"]) for key, each in found.items()} == expected
    assert [*(await find(ada, environment, reason="off_for_everyone"))["candidates"]] == ["never"]


@pytest.mark.both_databases
async def test_who_cares_for_a_flag_is_no_change_of_it_but_a_rule_is(
    ada: Caller, environment: Json, grow_old: GrowOld
) -> None:
    cared_for, kept, ruled = [await ada.create_flag(environment, key=key) for key in ("cared-for", "kept", "ruled")]
    await ada.create_flag(environment, key="needs-it", prerequisites=[{"flag_key": "cared-for"}])
    rule = await ada.create_rule(ruled)
    await grow_old()
    for change in ({"owner": "ada@example.com"}, {"tags": ["old"]}):
        assert (await ada.put(flag_path(cared_for), json=change)).status_code == 200
    await ada.put(flag_path(kept), json={"keep": True})
    await ada.delete(f"{flag_path(ruled)}/rules/{rule['id']}")
    found = (await find(ada, environment, reason="unchanged"))["candidates"]
    assert [*found] == ["cared-for", "needs-it"]
    seen = found["cared-for"]
    assert (seen["owner"], seen["tags"], seen["needed_by"]) == ("ada@example.com", ["old"], ["needs-it"])
    assert seen["changed_at"] == "2026-11-20T10:00:00.000000Z"
    assert [*(await find(ada, environment, kept="true"))["candidates"]] == ["kept"]


async def test_it_says_when_the_history_is_shorter_than_the_period(
    ada: Caller, environment: Json, grow_old: GrowOld
) -> None:
    await ada.create_flag(environment, key="old")
    await grow_old(days=366 + 0.5 / 24)
    answers = [await find(ada, environment, days=days) for days in (30, 365)]
    assert [each["history_since"] for each in answers] == [None, "2027-08-23T11:00:00.000000Z"]
    assert answers[1]["since"] == "2026-11-21T10:00:00.000000Z"
    assert [*answers[1]["candidates"]] == ["old"]


@pytest.mark.both_databases
async def test_the_parts_have_every_candidate_once(ada: Caller, environment: Json, grow_old: GrowOld) -> None:
    keys = [f"flag-{number}" for number in range(5)]
    for key in keys:
        created(await ada.post(f"{environment_path(environment)}/flags", json={"name": key, "key": key}))
    await grow_old()
    seen: list[str] = []
    after: dict[str, str] = {}
    while True:
        part = await find(ada, environment, limit=2, **after)
        seen += part["candidates"]
        if part["next_after"] is None:
            break
        after = {"after": part["next_after"]}
    assert seen == keys


@pytest.mark.both_databases
async def test_a_small_part_asks_the_database_no_more_often_than_a_large_one(
    flagstaff: Flagstaff, ada: Caller, environment: Json, grow_old: GrowOld
) -> None:
    home = make_environment(UUID(environment["project_id"]), id=UUID(environment["id"]))
    await store_all(flagstaff.database, *(make_flag(home, key=f"flag-{number}") for number in range(150)))
    await grow_old()
    counts = []
    for limit in (1, 100):
        with reads(flagstaff.database) as queries:
            assert (await find(ada, environment, limit=limit, reason="on_for_everyone"))["candidates"] == {}
        counts.append(len(queries))
    assert counts[0] == counts[1] > 0
