"""Erasures of users: what is asked for, what is erased, and what must not be found anywhere afterwards."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa
from structlog.testing import capture_logs

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from flagstaff.history.event_files import EventForm
from flagstaff.history.spool import EvaluationForm, Spool
from flagstaff.metrics.events import EventBatch, EventGroup, EventRow
from flagstaff.people import erasures_store
from flagstaff.people.erasures import Erasure
from flagstaff.people.erasures_service import UNFINISHED_MAX
from flagstaff.people.erasures_store import Held
from flagstaff.values.moments import parse_moment
from tests.support.api import NO_IDS, Caller, Json, field_errors, flag_path, project_path
from tests.support.clock import Clock
from tests.support.history import make_batch, make_layout, nanoseconds, read
from tests.support.members import join
from tests.support.refused_changes import allow_to_rewrite, refuse_to_rewrite
from tests.support.releases import (
    create_metric,
    create_release,
    list_stored,
    send_events,
    until,
    until_results,
    until_served,
    until_step,
    until_stored,
)
from tests.support.tokens import issue
from tests.web.conftest import ListChanges

USER, EMAIL = "grace-hopper-1906", "Grace.Hopper@Navy.example"
SUBJECT = {"user_id": USER, "user_email": EMAIL}


class RunningClock(Clock):
    """The machine's clock, ahead by what a test has moved it: evaluations and events have the machine's time."""

    def __init__(self) -> None:
        super().__init__(datetime.now(UTC))
        self._began = monotonic()

    def __call__(self) -> datetime:
        return self.at + timedelta(seconds=monotonic() - self._began)


@pytest.fixture
def clock() -> Clock:
    return RunningClock()


@pytest.fixture
def path(project: Json) -> str:
    """The path of the project's erasures."""
    return f"{project_path(project)}/erasures"


async def preview(caller: Caller, path: str, subject: Json = SUBJECT) -> Json:
    answer = await caller.post(f"{path}/preview", json=subject)
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


async def erase(caller: Caller, path: str, subject: Json = SUBJECT) -> Json:
    """Erase a user, and wait until it is done."""
    confirmation = (await preview(caller, path, subject))["confirmation"]
    answer = await caller.post(path, json={**subject, "confirmation": confirmation})
    assert answer.status_code == 202, answer.text
    erasure_id = answer.json()["id"]

    async def get() -> Json:
        found: Json = (await caller.get(f"{path}/{erasure_id}")).json()
        return found

    return await until(get, lambda found: found["stage"] == "done")


async def evaluate(caller: Caller, project: Json, *contexts: Json) -> None:
    for context in contexts:
        assert (await caller.evaluate(project["sdk_key"], context=context)).status_code == 200


def values_of(row: Any) -> Iterator[bytes]:
    for value in row:
        if isinstance(value, bytes | memoryview):
            yield bytes(value)
        else:
            yield str(value).encode()


async def find_in_tables(flagstaff: Flagstaff, *texts: str) -> set[str]:
    """The tables that have one of the texts, in any column; event segments are compressed and unpacked elsewhere."""
    found = set()
    for table in tables.metadata.sorted_tables:
        reading = flagstaff.database.read_history() if table.schema else flagstaff.database.read()
        async with reading as connection:
            for row in await connection.execute(sa.select(table)):
                if any(text.encode() in value for value in values_of(row) for text in texts):
                    found.add(table.name)
    return found


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "user_id"),
        ({"user_id": ""}, "user_id"),
        ({"user_id": None}, "user_id"),
        ({"user_id": 1}, "user_id"),
        ({"user_id": "\0"}, "user_id"),
        ({"user_id": "x", "user_name": "y"}, "user_name"),
    ],
)
async def test_a_user_that_is_not_named_is_refused(ada: Caller, path: str, body: Json, field: str) -> None:
    assert list(field_errors(await ada.post(f"{path}/preview", json=body))) == [field]
    assert list(field_errors(await ada.post(path, json={**body, "confirmation": "x"}))) == [field]
    assert (await ada.get(path)).json() == []


async def test_only_owners_erase_users(ada: Caller, eve: Caller, project: Json, path: str) -> None:
    wheres = [path, *(f"/api/projects/{each}/erasures" for each in (uuid4(), *NO_IDS))]
    for caller, where in zip([eve, *[ada] * len(wheres)], wheres, strict=False):
        assert (await caller.post(f"{where}/preview", json=SUBJECT)).status_code == 404
        assert (await caller.post(where, json={**SUBJECT, "confirmation": "x"})).status_code == 404
        assert (await caller.get(where)).status_code == 404
    assert (await ada.get(f"{path}/{uuid4()}")).status_code == 404


async def test_an_admin_who_is_no_owner_may_not(flagstaff: Flagstaff, eve: Caller, project: Json, path: str) -> None:
    await join(flagstaff, project, eve, "admin")
    assert (await eve.post(f"{path}/preview", json=SUBJECT)).status_code == 403
    assert (await eve.post(path, json={**SUBJECT, "confirmation": "x"})).status_code == 403


async def test_a_confirmation_is_of_one_user_and_project_and_expires(
    ada: Caller, project: Json, path: str, clock: Clock
) -> None:
    confirmation = (await preview(ada, path))["confirmation"]
    other = await ada.create_project(name="Other")
    for where, body in (
        (path, {**SUBJECT, "confirmation": confirmation + "x"}),
        (path, {"user_id": USER, "confirmation": confirmation}),
        (f"{project_path(other)}/erasures", {**SUBJECT, "confirmation": confirmation}),
    ):
        assert list(field_errors(await ada.post(where, json=body))) == ["confirmation"]
    clock.advance(minutes=11)
    late = await ada.post(path, json={**SUBJECT, "confirmation": confirmation})
    assert list(field_errors(late)) == ["confirmation"]
    assert (await ada.get(path)).json() == []


async def test_a_confirmation_is_good_for_one_erasure(ada: Caller, path: str, list_changes: ListChanges) -> None:
    first, second = (await preview(ada, path))["confirmation"], (await preview(ada, path))["confirmation"]
    body = {**SUBJECT, "confirmation": first}
    answers = await asyncio.gather(*(ada.post(path, json=body) for _ in range(3)))
    assert sorted(each.status_code for each in answers) == [202, 409, 409]
    assert "used already" in next(each for each in answers if each.status_code == 409).json()["detail"]
    assert [each["action"] for each in await list_changes()].count("erasure.requested") == 1
    assert (await ada.post(path, json={**SUBJECT, "confirmation": second})).status_code == 202
    assert len((await ada.get(path)).json()) == 2


@pytest.mark.both_databases
async def test_a_confirmation_whose_erasure_was_not_stored_is_used_again(
    flagstaff: Flagstaff, ada: Caller, path: str, list_changes: ListChanges
) -> None:
    """The history fails after the request is in the audit trail, as when the server is killed in between."""
    body = {**SUBJECT, "confirmation": (await preview(ada, path))["confirmation"]}
    schema = "history." if flagstaff.database.is_postgresql else ""
    async with flagstaff.database.write_history() as connection:
        await connection.execute(sa.text(f"ALTER TABLE {schema}erased_users RENAME TO away"))
    assert (await ada.post(path, json=body)).status_code == 503
    async with flagstaff.database.write_history() as connection:
        await connection.execute(sa.text(f"ALTER TABLE {schema}away RENAME TO erased_users"))
    assert (await ada.get(path)).json() == []
    answers = await asyncio.gather(*(ada.post(path, json=body) for _ in range(3)))
    assert sorted(each.status_code for each in answers) == [202, 409, 409]
    assert len((await ada.get(path)).json()) == 1
    assert [each["action"] for each in await list_changes()].count("erasure.requested") == 1


def condition(operator: str, *values: str, attribute: str = "user_id") -> Json:
    return {"attribute": attribute, "operator": operator, "values": list(values)}


@pytest.mark.both_databases
async def test_a_user_is_replaced_in_rules_and_segments_of_the_trail_which_are_then_not_restored(
    ada: Caller,
    project: Json,
    environment: Json,
    path: str,
    flagstaff: Flagstaff,
    list_changes: ListChanges,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("flagstaff.audit.redactions_store.EXAMINED_AT_ONCE", 3)
    monkeypatch.setattr("flagstaff.audit.redacting.WRITTEN_AT_ONCE", 2)
    flag = await ada.create_flag(environment, key="f", name=USER)
    by_id = await ada.create_rule(flag, rule_type="user_id", rule_value=USER)
    by_email = await ada.create_rule(flag, rule_type="user_email", rule_value=EMAIL.upper())
    conditions = [condition("in", "ada", USER, EMAIL), condition("contains", USER.upper(), f"{USER}-2")]
    segment = await ada.create_segment(project, key="some", conditions=conditions)
    rules, segments = f"{flag_path(flag)}/rules", f"{project_path(project)}/segments"
    for where in (f"{rules}/{by_id['id']}", f"{rules}/{by_email['id']}"):
        assert (await ada.delete(where)).status_code == 204
    emptied = {"conditions": [condition("in", "ada")]}
    assert (await ada.put(f"{segments}/{segment['id']}", json=emptied)).status_code == 200
    rest = (await list_changes())[-3:]

    found = await preview(ada, path)
    assert (found["changes"], found["more_changes"]) == (6, False)
    done = await erase(ada, path)
    assert done["changes"] == 6
    assert (await preview(ada, path))["changes"] == 0
    states = str([(each["before"], each["after"]) for each in await list_changes() if each["action"] != "flag.created"])
    for text in (f"'{USER}'", EMAIL, EMAIL.lower(), EMAIL.upper()):
        assert text not in states
    assert f"{USER}-2" in states
    assert f"'{USER.upper()}'" in states, "an id is compared exactly"
    created = next(each for each in await list_changes() if each["action"] == "flag.created")
    assert created["after"]["name"] == USER, "only rules and segments have values of users"
    updated = next(each for each in await list_changes() if each["action"] == "segment.updated")
    assert updated["before"]["conditions"][0]["values"] == ["ada", "[erased]", "[erased]"]
    for change in rest:
        refused = await ada.post(f"{project_path(project)}/changes/{change['id']}/restore", json={})
        assert refused.status_code == 409, refused.text
        assert "A user was erased" in refused.json()["detail"]
    assert (await ada.get(f"{segments}/{segment['id']}")).json()["conditions"][0]["values"] == ["ada"]


@pytest.mark.both_databases
async def test_values_that_only_look_like_the_user_stay_in_the_trail(
    ada: Caller, project: Json, environment: Json, path: str, list_changes: ListChanges
) -> None:
    flag = await ada.create_flag(environment, key="f")
    others = [
        condition("eq", "42", attribute="age"),
        condition("semver_eq", "42.0.0", attribute="version"),
        condition("in", "42", "43", attribute="store_id"),
        condition("not_in", "pro", attribute="plan"),
        condition("starts_with", "42", attribute="user_email"),
        condition("in", "42@x.example", "my-ada@x.example", attribute="contact"),
    ]
    users = [
        condition("in", "42", "43"),
        condition("in", "Ada@x.example", "eve@x.example", attribute="contact"),
        condition("not_in", "ada@x.example", attribute="user_email"),
    ]
    rule = {"rule_type": "attributes", "rule_value": None}
    await ada.create_rule(flag, **rule, conditions=others)
    await ada.create_rule(flag, **rule, conditions=users)
    await ada.create_segment(project, key="shop", conditions=others[2:3])
    subject = {"user_id": "42", "user_email": "ada@x.example"}
    assert (await preview(ada, path, subject))["changes"] == 1
    assert (await erase(ada, path, subject))["changes"] == 1
    await erase(ada, path, {"user_id": "other", "user_email": "pro"})
    changes = await list_changes()
    untouched, replaced = [each["after"]["conditions"] for each in changes if each["action"] == "rule.created"]
    assert [each["values"] for each in untouched] == [each["values"] for each in others]
    assert [each["values"] for each in replaced] == [["[erased]", "43"], ["[erased]", "eve@x.example"], ["[erased]"]]
    (segment,) = [each["after"] for each in changes if each["action"] == "segment.created"]
    assert segment["conditions"][0]["values"] == ["42", "43"]


@pytest.mark.both_databases
async def test_a_preview_names_the_rules_and_segments_that_name_the_user_and_stay(
    ada: Caller, project: Json, environment: Json, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flagstaff.people.targeting_store._AT_ONCE", 1)
    flag = await ada.create_flag(environment, key="f")
    contact = condition("in", "ada", EMAIL, attribute="contact")
    conditions = [condition("in", "x", USER), contact, condition("eq", "42", attribute="age")]
    rules = [
        await ada.create_rule(flag, rule_type="user_id", rule_value=USER),
        await ada.create_rule(flag, rule_type="user_email", rule_value=EMAIL.upper()),
        await ada.create_rule(flag, rule_type="attributes", rule_value=None, conditions=conditions),
    ]
    await ada.create_rule(flag, rule_type="user_id", rule_value=USER.upper())
    await ada.create_rule(flag, rule_type="attributes", rule_value=None, conditions=[condition("in", f"{USER}-2")])
    segment = await ada.create_segment(project, key="some", conditions=[contact])
    await ada.create_segment(project, key="plan", conditions=[condition("in", USER, attribute="plan")])
    other = await ada.create_project(name="Other")
    await ada.create_segment(other, key="some", conditions=[contact])
    named = [["user_id"], ["user_email"], ["contact", "user_id"]]
    found = await preview(ada, path)
    of_flag = {"kind": "rule", "key": "f", "environment_id": environment["id"], "flag_id": flag["id"]}
    assert found["named_by"] == [
        *({**of_flag, "id": rule["id"], "attributes": each} for rule, each in zip(rules, named, strict=True)),
        {
            "kind": "segment",
            "id": segment["id"],
            "key": "some",
            "attributes": ["contact"],
            "environment_id": None,
            "flag_id": None,
        },
    ]
    assert found["more_named_by"] is False
    assert (await preview(ada, path, {"user_id": "plan"}))["named_by"] == []
    monkeypatch.setattr("flagstaff.people.targeting_store.EXAMINED_MAX", 2)
    found = await preview(ada, path)
    assert ([each["kind"] for each in found["named_by"]], found["more_named_by"]) == (["rule", "rule", "segment"], True)


@pytest.mark.both_databases
async def test_a_preview_counts_the_attributes_that_were_kept_with_evaluations(
    flagstaff: Flagstaff, ada: Caller, project: Json, environment: Json, path: str
) -> None:
    flag = await ada.create_flag(environment, key="f")
    conditions = [condition("in", "x", attribute="contact"), condition("in", "pro", attribute="plan")]
    await ada.create_rule(flag, rule_type="attributes", rule_value=None, conditions=conditions)
    both: Json = {"contact": EMAIL, "plan": "pro", "unused": 1}
    users = [(USER, both), (USER, {"plan": "basic"}), ("ada", both), (USER, {})]
    await evaluate(ada, project, *({"user_id": user, "custom_attributes": given} for user, given in users))
    await until_stored(flagstaff)
    found = next(each for each in (await preview(ada, path))["found"] if each["environment_id"] == environment["id"])
    kept = {each["name"]: each["evaluations"] for each in found["attributes"]}
    assert (found["evaluations"], kept) == (3, {"plan": 2, "contact": 1})
    await erase(ada, path)
    assert all(each["attributes"] == [] for each in (await preview(ada, path))["found"])


async def test_a_token_that_reads_no_flags_is_not_told_which_of_them_name_the_user(
    flagstaff: Flagstaff, callers: AsyncExitStack, ada: Caller, project: Json, path: str
) -> None:
    await ada.create_segment(project, key="some", conditions=[condition("in", USER)])
    for permissions, count in ((["users:erase"], 0), (["users:erase", "flags:read", "project:read"], 1)):
        token = await issue(flagstaff, callers, "/api/me/tokens", ada, *permissions)
        found = await preview(token, path)
        assert (len(found["named_by"]), found["more_named_by"]) == (count, count == 0)


@pytest.mark.both_databases
async def test_everything_of_a_user_becomes_that_of_nobody_and_all_counts_stay(
    ada: Caller,
    project: Json,
    environment: Json,
    path: str,
    flagstaff: Flagstaff,
    list_changes: ListChanges,
) -> None:
    await create_metric(ada, project)
    flag = await ada.create_flag(environment, key="new-checkout", enabled=False)
    step = {"after_seconds": 0, "changes": {"enabled": True, "rollout_percentage": 50}}
    later = {"after_seconds": 3600, "changes": {"rollout_percentage": 100}}
    guard = {"metric": "errors", "action": "turn_off"}
    release = await create_release(ada, flag, step, later, guards=[guard])
    await until_step(ada, release, 0)
    await until_served(ada, flag)
    contexts: list[Json] = [
        {"user_id": USER, "user_email": EMAIL, "custom_attributes": {"name": "Grace Hopper"}},
        {"user_email": EMAIL.upper()},
        {"user_id": USER},
        {"user_id": "ada"},
    ]
    await evaluate(ada, project, *contexts)
    events = [{"metric": "errors", "user_id": USER}, {"metric": "errors", "user_email": EMAIL}]
    await send_events(ada, project["sdk_key"], *events, {"metric": "errors", "user_id": "ada"})
    await until_results(ada, release, lambda found: found["users"] >= 3)
    await until_stored(flagstaff)
    base = f"{project_path(project)}/environments/{environment['id']}"
    summary = (await ada.get(f"{base}/evaluations/summary")).json()
    before = (await ada.get(f"{base}/evaluations")).json()["items"]

    found = await preview(ada, path)
    of_environment = next(each for each in found["found"] if each["environment_id"] == environment["id"])
    assert of_environment == {
        "environment_id": environment["id"],
        "evaluations": 3,
        "events": 2,
        "release_users": 2,
        "attributes": [],
        "more": False,
    }
    assert any("backups" in each["what"] for each in found["remains"])
    done = await erase(ada, path)
    assert (done["evaluations"], done["events"], done["release_users"], done["problem"]) == (3, 2, 2, None)
    assert done["finished_at"] is not None

    after = (await ada.get(f"{base}/evaluations")).json()["items"]
    assert [each["id"] for each in after] == [each["id"] for each in before]
    assert [each["flags"] for each in after] == [each["flags"] for each in before]
    assert {each["user_id"] for each in after} == {"ada", None}
    assert {each["user_email"] for each in after} == {None}
    assert (await ada.get(f"{base}/evaluations/summary")).json() == summary
    for wanted in ({"user_id": USER}, {"user_email": EMAIL}):
        assert (await ada.get(f"{base}/evaluations", params=wanted)).json()["items"] == []
    assert [each for each in (await preview(ada, path))["found"] if each["evaluations"] or each["events"]] == []
    assert await find_in_tables(flagstaff, USER, EMAIL, EMAIL.lower(), EMAIL.upper(), "Grace Hopper") == set()
    users = (await ada.get(f"{base}/flags/{flag['id']}/releases/{release['id']}/users.csv")).text
    assert USER not in users
    assert EMAIL.lower() not in users

    change = next(each for each in await list_changes() if each["action"] == "erasure.requested")
    assert change["after"]["digests"] == done["digests"]
    assert sorted(done["digests"]) == ["user_email", "user_id"]
    assert (await ada.get(path)).json() == [done]


@pytest.mark.both_databases
async def test_what_waits_on_a_disk_is_stored_without_a_user_who_was_erased_meanwhile(
    ada: Caller, project: Json, environment: Json, path: str, flagstaff: Flagstaff
) -> None:
    await create_metric(ada, project)
    done = await erase(ada, path)
    requested_at = parse_moment(done["requested_at"])
    folder = flagstaff.foundation.settings.data_dir
    environment_id = UUID(environment["id"])

    def at(seconds: float) -> int:
        return nanoseconds(requested_at + timedelta(seconds=seconds))

    records = [
        (at(-60), USER, None, b"\x05\x64"),
        (at(-59), None, EMAIL.lower(), b"\x05\x64"),
        (at(-58), "ada", None, b"\x05\x64"),
        (at(3600), USER, None, b"\x05\x64"),
    ]
    attributes = [b'{"name":"Grace"}'] * 4
    batch = make_batch(environment_id, make_layout(), *records, attributes=attributes)
    spool = Spool(folder / "late", EvaluationForm())
    await spool.append(batch)
    await flagstaff.history.service.record(*await spool.read(spool.first))  # type: ignore[arg-type]
    kept = await read(flagstaff.database, environment_id)
    assert [(each.user_id, each.user_email) for each in reversed(kept)] == [
        (None, None),
        (None, None),
        ("ada", None),
        (USER, None),
    ]
    assert [each.attributes for each in reversed(kept)] == [None, None, {"name": "Grace"}, {"name": "Grace"}]
    rows = [EventRow("errors", unit, at(-60) // 1000, None, None) for unit in (USER, EMAIL.lower(), "ada")]
    rows.append(EventRow("errors", USER, at(3600) // 1000, None, None))
    events = Spool(folder / "late-events", EventForm())
    await events.append(EventBatch(1, at(-60) // 1000, [EventGroup(environment_id, rows, {})]))
    await flagstaff.history.service.record_events(*await events.read(events.first))  # type: ignore[arg-type]
    assert [each.unit for each in await list_stored(flagstaff.database)] == ["", "", "ada", USER]


async def test_no_byte_of_the_data_directory_has_an_erased_user_nor_what_was_deleted_before(
    ada: Caller, project: Json, environment: Json, path: str, flagstaff: Flagstaff
) -> None:
    folder, environment_id = flagstaff.foundation.settings.data_dir, UUID(environment["id"])
    await create_metric(ada, project)
    await evaluate(ada, project, *({"user_id": USER, "user_email": EMAIL} for _ in range(5)))
    await send_events(ada, project["sdk_key"], {"metric": "errors", "user_id": USER})
    await until_stored(flagstaff)
    now = datetime.now(UTC)
    for number in range(40):  # each batch rewrites the segment before, and frees what that took
        records = [
            (
                nanoseconds(now, seconds=(number - 50) * 60 + place / 100),
                f"{USER}-{place}" if place % 9 else USER,
                EMAIL,
                b"\x05\x64",
            )
            for place in range(1, 90)
        ]
        await flagstaff.history.service.record(make_batch(environment_id, make_layout(), *records))
    async with flagstaff.database.write_history() as connection:  # as the retention does
        some = sa.select(tables.segments.c.id).order_by(tables.segments.c.id).limit(30)
        await connection.execute(tables.segments.delete().where(tables.segments.c.id.in_(some)))
    texts = [USER, EMAIL, EMAIL.lower()]
    assert find_in_files(folder, texts)
    for subject in (SUBJECT, *({"user_id": f"{USER}-{place}"} for place in range(1, 90) if place % 9)):
        confirmation = (await preview(ada, path, subject))["confirmation"]
        assert (await ada.post(path, json={**subject, "confirmation": confirmation})).status_code == 202

    async def list_erasures() -> Json:
        return {"erasures": (await ada.get(path)).json()}

    done = await until(list_erasures, lambda found: all(each["stage"] == "done" for each in found["erasures"]))
    assert sum(each["evaluations"] for each in done["erasures"]) > 500
    assert find_in_files(folder, texts) == set()


def find_in_files(folder: Path, texts: Sequence[str]) -> set[str]:
    """The files that have one of the texts anywhere."""
    files = [each for each in folder.rglob("*") if each.is_file()]
    return {each.name for each in files if any(text.encode() in each.read_bytes() for text in texts)}


async def test_a_project_has_a_hundred_erasures_that_are_not_done(
    ada: Caller, project: Json, path: str, flagstaff: Flagstaff
) -> None:
    made = [
        Erasure(uuid4(), UUID(project["id"]), {}, datetime.now(UTC), datetime.now(UTC)) for _ in range(UNFINISHED_MAX)
    ]
    later = datetime.now(UTC) + timedelta(days=1)
    async with flagstaff.database.write_history() as connection:
        for each in made:
            await erasures_store.create_erasure(connection, each, b"")
            await erasures_store.fail(connection, Held(each, b"", ""), "Waits.", later)
    confirmation = (await preview(ada, path))["confirmation"]
    answer = await ada.post(path, json={**SUBJECT, "confirmation": confirmation})
    assert (answer.status_code, "100 erasures" in answer.json()["detail"]) == (409, True)
    async with flagstaff.database.write_history() as connection:
        await erasures_store.finish(connection, Held(made[0], b"", ""), datetime.now(UTC))
    assert (await ada.post(path, json={**SUBJECT, "confirmation": confirmation})).status_code == 202
    assert len((await ada.get(path)).json()) == UNFINISHED_MAX + 1


async def test_with_another_secret_key_an_erasure_says_what_to_do(
    ada: Caller, project: Json, path: str, flagstaff: Flagstaff
) -> None:
    made = Erasure(uuid4(), UUID(project["id"]), {}, datetime.now(UTC), datetime.now(UTC))
    async with flagstaff.database.write_history() as connection:
        await erasures_store.create_erasure(connection, made, b"sealed by another key")

    async def get() -> Json:
        found: Json = (await ada.get(f"{path}/{made.id}")).json()
        return found

    found = await until(get, lambda found: found["problem"] is not None)
    assert "Request it again" in found["problem"]
    assert found["stage"] == "history"


@pytest.mark.both_databases
async def test_an_erasure_that_the_database_refuses_stops_no_other(
    ada: Caller, project: Json, environment: Json, path: str, flagstaff: Flagstaff, list_changes: ListChanges
) -> None:
    flag = await ada.create_flag(environment, key="f")
    await ada.create_rule(flag, rule_type="user_id", rule_value=USER)
    (number,) = [each["id"] for each in await list_changes() if each["action"] == "rule.created"]
    await refuse_to_rewrite(flagstaff.database, number)
    other = f"{project_path(await ada.create_project(name='Other'))}/erasures"
    requested = []
    for where in (path, other):
        confirmation = (await preview(ada, where))["confirmation"]
        erasure = (await ada.post(where, json={**SUBJECT, "confirmation": confirmation})).json()
        requested.append(f"{where}/{erasure['id']}")

    async def get() -> Json:
        refused, done = [(await ada.get(each)).json() for each in requested]
        return {"refused": refused, "done": done}

    with capture_logs() as logs:  # nothing renders the traceback, which holds the loop for minutes
        found = await until(get, lambda found: found["refused"]["problem"] and found["done"]["stage"] != "history")
    assert found["refused"]["stage"] == "history"
    assert "erasure_failed" in [each["event"] for each in logs]
    await allow_to_rewrite(flagstaff.database)


@pytest.mark.both_databases
async def test_while_batches_continue_the_segments_of_a_user_nothing_is_lost_and_nothing_comes_back(
    ada: Caller, project: Json, environment: Json, path: str, flagstaff: Flagstaff
) -> None:
    environment_id, layout, now = UUID(environment["id"]), make_layout(), datetime.now(UTC)
    confirmation = (await preview(ada, path))["confirmation"]

    has_begun = asyncio.Event()

    async def write_some() -> None:
        for number in range(60):
            at = nanoseconds(now, seconds=-600 + number)
            records = [(at, USER, None, b"\x05\x64"), (at + 1000, "ada", None, b"\x05\x64")]
            await flagstaff.history.service.record(make_batch(environment_id, layout, *records))
            has_begun.set()

    async def erase_meanwhile() -> Json:
        await has_begun.wait()
        answer = await ada.post(path, json={**SUBJECT, "confirmation": confirmation})
        erasure_id = UUID(answer.json()["id"])
        await asyncio.gather(*(flagstaff.people.eraser.run(erasure_id) for _ in range(3)))  # as tasks may do at once
        found: Json = answer.json()
        return found

    _, requested = await asyncio.gather(write_some(), erase_meanwhile())

    async def get() -> Json:
        found: Json = (await ada.get(f"{path}/{requested['id']}")).json()
        return found

    await until(get, lambda found: found["stage"] == "done")
    kept = await read(flagstaff.database, environment_id, limit=100)
    assert Counter(each.user_id for each in kept) == {None: 60, "ada": 60}


def in_days(days: int) -> datetime:
    return datetime.now(UTC) + timedelta(days=days)


async def test_erasures_are_forgotten_when_nothing_so_old_is_kept(
    ada: Caller, path: str, flagstaff: Flagstaff, environment: Json
) -> None:
    await erase(ada, path)
    eraser = flagstaff.people.eraser
    for days, left in ((90, True), (92, False)):
        await replace(eraser, passed=partial(in_days, days)).purge()
        assert bool((await ada.get(path)).json()) == left
        async with flagstaff.database.read_history() as connection:
            assert bool((await connection.execute(sa.select(tables.erased_users))).all()) == left
