"""POST …/environments/{env_id}/evaluations/changes/causes."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.changes.changes import Actor
from flagstaff.database import tables
from flagstaff.insight.causes import Kind
from flagstaff.insight.causes_service import AskedResult, Bounds, CauseFinder
from tests.support.api import Caller, Json, environment_path, field_errors, flag_path, project_path
from tests.support.clock import Clock
from tests.support.tokens import issue
from tests.web.history.conftest import Elsewhere, WhenRecorded

Ask = Callable[..., Awaitable[Json]]
Evaluate = Callable[..., Awaitable[None]]
Find = Callable[..., Awaitable[list[Kind]]]
OFF_OR_FOR_ADA: Json = {"fallthrough": "off"}


@pytest.fixture
def environ() -> dict[str, str]:
    """No limit on evaluations, and the attributes of each are kept."""
    return {"FLAGSTAFF_EVALUATE_RATE_LIMIT": "off"}


class RealClock(Clock):
    """The real clock: evaluations are recorded at the real time, and changes between two of them are found by time."""

    def __call__(self) -> datetime:
        return datetime.now(UTC)


@pytest.fixture
def clock() -> Clock:
    """The time of changes."""
    return RealClock(datetime.now(UTC))


@pytest.fixture
async def evaluate(client: Caller, project: Json, when_recorded: WhenRecorded) -> Evaluate:
    """Evaluate once for a user, by default `ada`; return when the evaluation is stored."""

    async def call(user_id: str = "ada", email: str | None = None, **attributes: Any) -> None:
        context = {"user_id": user_id, "user_email": email, "custom_attributes": attributes}
        answer = await client.evaluate(project["sdk_key"], context=context)
        assert answer.status_code == 200, answer.text
        await when_recorded()

    return call


@pytest.fixture
def ask(ada: Caller, environment: Json) -> Ask:
    """Return the causes of all changes of a user's results; newest first."""

    async def call(caller: Caller = ada, **user: str) -> Json:
        results = await list_results(ada, environment, **user or {"user_id": "ada"})
        answer = await caller.post(
            f"{environment_path(environment)}/evaluations/changes/causes", json={"results": results}
        )
        assert answer.status_code == 200, answer.text
        causes: Json = answer.json()
        assert [each["flag_key"] for each in causes["items"]] == [each["flag_key"] for each in results]
        assert {each["id"] for each in causes["changes"]} == {
            number for each in causes["items"] for number in each["change_ids"]
        }
        return causes

    return call


async def list_results(caller: Caller, environment: Json, **user: str) -> list[Json]:
    page = (await caller.get(f"{environment_path(environment)}/evaluations/changes", params=user)).json()
    return [
        {
            "flag_key": each["flag_key"],
            "before_evaluation_id": each["before"]["evaluation_id"],
            "after_evaluation_id": each["after"]["evaluation_id"],
        }
        for each in page["items"]
    ]


def only(causes: Json) -> tuple[Json, Json]:
    """Return the only cause, and its change."""
    (item,), (change,) = causes["items"], causes["changes"]
    assert item["change_ids"] == [change["id"]]
    return item, change


def put_segment(caller: Caller, segment: Json, *users: str) -> Awaitable[Any]:
    path = f"/api/projects/{segment['project_id']}/segments/{segment['id']}"
    return caller.put(path, json={"conditions": [naming(*users)]})


def naming(*users: str) -> Json:
    return {"attribute": "user_id", "operator": "in", "values": list(users), "negate": False}


def about(attribute: str, *values: str) -> Json:
    return {"attribute": attribute, "operator": "in", "values": list(values), "negate": False}


async def test_it_needs_a_token(client: Caller, environment: Json) -> None:
    answer = await client.post(f"{environment_path(environment)}/evaluations/changes/causes", json={"results": []})
    assert answer.status_code == 401


async def test_an_environment_that_is_not_there_or_not_yours_is_not_found(elsewhere: Elsewhere) -> None:
    result = {"flag_key": "x", "before_evaluation_id": str(uuid4()), "after_evaluation_id": str(uuid4())}
    for caller, path in elsewhere:
        assert (await caller.post(f"{path}/evaluations/changes/causes", json={"results": [result]})).status_code == 404


@pytest.mark.parametrize(
    ("results", "field"),
    [
        (None, "results"),
        ([], "results"),
        ([{}] * 51, "results"),
        ([{"flag_key": "x"}], "results.0.before_evaluation_id"),
        ([{"flag_key": "X Y", "before_evaluation_id": str(uuid4()), "after_evaluation_id": "1"}], "results.0.flag_key"),
        ([{"flag_key": "x", "before_evaluation_id": "1", "after_evaluation_id": "1"}], "results.0.after_evaluation_id"),
    ],
)
async def test_a_body_that_makes_no_sense_is_refused_by_name(
    ada: Caller, environment: Json, results: object, field: str
) -> None:
    answer = await ada.post(f"{environment_path(environment)}/evaluations/changes/causes", json={"results": results})
    assert field in field_errors(answer)


async def test_results_that_did_not_change_are_refused_by_name(
    ada: Caller, environment: Json, evaluate: Evaluate
) -> None:
    flag = await ada.create_flag(environment)
    await evaluate()
    await ada.post(f"{flag_path(flag)}/toggle")
    await evaluate()
    (result,) = await list_results(ada, environment, user_id="ada")
    before, after = result["before_evaluation_id"], result["after_evaluation_id"]
    for wrong, field in (
        ({"flag_key": "other"}, "flag_key"),
        ({"before_evaluation_id": after}, "flag_key"),
        ({"before_evaluation_id": after, "after_evaluation_id": before}, "after_evaluation_id"),
    ):
        answer = await ada.post(
            f"{environment_path(environment)}/evaluations/changes/causes", json={"results": [{**result, **wrong}]}
        )
        assert list(field_errors(answer)) == [f"results.0.{field}"], wrong


async def test_a_deleted_evaluation_has_no_cause(ada: Caller, environment: Json) -> None:
    result = {"flag_key": "x", "before_evaluation_id": str(uuid4()), "after_evaluation_id": str(uuid4())}
    answer = await ada.post(f"{environment_path(environment)}/evaluations/changes/causes", json={"results": [result]})
    assert answer.json() == {
        "items": [
            {
                **result,
                "kind": "unavailable",
                "change_ids": [],
                "hidden_changes": 0,
                "attributes": [],
                "unknown_attributes": [],
            }
        ],
        "changes": [],
    }


async def test_a_switch_is_the_cause_and_who_pressed_it_is_named(
    ada: Caller, environment: Json, ask: Ask, evaluate: Evaluate
) -> None:
    flag = await ada.create_flag(environment)
    await evaluate()
    await ada.put(flag_path(flag), json={"name": "Another name"})
    await ada.post(f"{flag_path(flag)}/toggle")
    await ada.put(flag_path(flag), json={"description": "It is off"})
    await evaluate()
    item, change = only(await ask())
    assert (item["kind"], item["attributes"], item["unknown_attributes"]) == ("change", [], [])
    assert (change["action"], change["actor"]["email"]) == ("flag.toggled", "ada@example.com")


async def test_the_cause_is_the_last_of_several_changes_that_made_the_difference(
    ada: Caller, environment: Json, ask: Ask, evaluate: Evaluate
) -> None:
    flag = await ada.create_flag(environment)
    await evaluate()
    for _ in range(3):
        await ada.post(f"{flag_path(flag)}/toggle")
    await evaluate()
    _, change = only(await ask())
    newest = (await ada.get(f"{environment_path(environment)}/changes?limit=1")).json()["items"][0]
    assert change == newest


@pytest.mark.both_databases
async def test_a_segment_that_lost_the_user_is_the_cause(
    ada: Caller, project: Json, environment: Json, ask: Ask, evaluate: Evaluate
) -> None:
    segment = await ada.create_segment(project, conditions=[naming("ada", "bob")])
    flag = await ada.create_flag(environment, **OFF_OR_FOR_ADA)
    await ada.create_rule(flag, rule_type="segment", rule_value="beta")
    await evaluate()
    await put_segment(ada, segment, "ada")  # bob leaves first
    await put_segment(ada, segment, "eve")
    await put_segment(ada, segment, "eve", "bob")
    await evaluate()
    item, change = only(await ask())
    assert item["kind"] == "change"
    assert (change["action"], change["after"]["conditions"][0]["values"]) == ("segment.updated", ["eve"])


async def test_a_rule_that_is_new_or_gone_or_disabled_is_the_cause(
    ada: Caller, environment: Json, ask: Ask, evaluate: Evaluate
) -> None:
    flag = await ada.create_flag(environment, **OFF_OR_FOR_ADA)
    await evaluate()
    rule = await ada.create_rule(flag)
    await evaluate()
    path = f"{flag_path(flag)}/rules/{rule['id']}"
    await ada.put(path, json={"enabled": False})
    await evaluate()
    await ada.put(path, json={"enabled": True})
    await evaluate()
    await ada.delete(path)
    await evaluate()
    causes = await ask()
    assert [each["kind"] for each in causes["items"]] == ["change"] * 4
    assert [each["action"] for each in causes["changes"]] == [
        "rule.deleted",
        "rule.updated",
        "rule.updated",
        "rule.created",
    ]


async def test_a_flag_that_is_needed_is_the_cause_though_it_is_not_needed_any_more(
    ada: Caller, environment: Json, ask: Ask, evaluate: Evaluate
) -> None:
    needed = await ada.create_flag(environment, key="needed")
    await ada.create_flag(environment, key="middle", prerequisites=[{"flag_key": "needed", "enabled": True}])
    flag = await ada.create_flag(environment, prerequisites=[{"flag_key": "middle", "enabled": True}])
    await evaluate()
    await ada.post(f"{flag_path(needed)}/toggle")
    await evaluate()
    await ada.put(flag_path(flag), json={"prerequisites": []})
    await evaluate()
    causes = await ask()
    changes = {each["id"]: each for each in causes["changes"]}
    found = [
        (each["flag_key"], changes[each["change_ids"][0]]["action"], changes[each["change_ids"][0]]["flag_key"])
        for each in causes["items"]
    ]
    assert sorted(found) == [
        ("middle", "flag.toggled", "needed"),
        ("needed", "flag.toggled", "needed"),
        ("new-checkout", "flag.toggled", "needed"),
        ("new-checkout", "flag.updated", "new-checkout"),
    ]


async def test_the_weight_of_a_variant_is_the_cause(
    ada: Caller, environment: Json, ask: Ask, evaluate: Evaluate
) -> None:
    variants = [{"key": key, "weight": weight, "value": key} for key, weight in (("red", 1000), ("blue", 0))]
    flag = await ada.create_flag(environment, variants=variants)
    await evaluate()
    variants[0]["weight"], variants[1]["weight"] = 0, 1000
    assert (await ada.put(flag_path(flag), json={"variants": variants})).status_code == 200
    await evaluate()
    item, change = only(await ask())
    assert (item["kind"], change["action"]) == ("change", "flag.updated")


async def test_an_attribute_of_the_user_is_the_cause_and_not_a_change_that_made_no_difference(
    ada: Caller, environment: Json, ask: Ask, evaluate: Evaluate
) -> None:
    flag = await ada.create_flag(environment, **OFF_OR_FOR_ADA)
    conditions = [about("plan", "pro"), about("country", "NO", "SE")]
    await ada.create_rule(flag, rule_type="attributes", rule_value=None, conditions=conditions)
    await evaluate(plan="free", country="NO", seen=1)
    await ada.create_rule(flag, rule_value="bob")
    await evaluate(plan="pro", country="SE", seen=2)
    (item,) = (await ask())["items"]
    assert (item["kind"], item["change_ids"]) == ("user", [])
    assert item["attributes"] == [{"name": "plan", "before": "free", "after": "pro"}]


async def test_a_user_who_is_found_by_email_may_have_another_id(
    ada: Caller, environment: Json, ask: Ask, evaluate: Evaluate
) -> None:
    flag = await ada.create_flag(environment, **OFF_OR_FOR_ADA)
    await ada.create_rule(flag)
    await evaluate("eve", email="ada@example.com")
    await evaluate("ada", email="ada@example.com")
    (item,) = (await ask(user_email="ada@example.com"))["items"]
    assert (item["kind"], item["attributes"]) == ("user", [{"name": "user_id", "before": "eve", "after": "ada"}])


async def test_the_time_is_the_cause_if_only_that_has_passed(
    ada: Caller, environment: Json, ask: Ask, evaluate: Evaluate
) -> None:
    flag = await ada.create_flag(environment, **OFF_OR_FOR_ADA)
    await evaluate()
    first = (await ada.get(f"{environment_path(environment)}/evaluations?user_id=ada")).json()["items"][0]
    condition = {"attribute": "current_time", "operator": "after", "values": [first["evaluated_at"]], "negate": False}
    await ada.create_rule(flag, rule_type="attributes", rule_value=None, conditions=[condition])
    await evaluate()
    (item,) = (await ask())["items"]
    assert item["kind"] == "change_and_user"
    assert [each["name"] for each in item["attributes"]] == ["current_time"]


async def test_a_change_and_the_user_can_be_the_cause_together(
    ada: Caller, environment: Json, ask: Ask, evaluate: Evaluate
) -> None:
    flag = await ada.create_flag(environment, **OFF_OR_FOR_ADA)
    await ada.create_rule(flag, rule_type="attributes", rule_value=None, conditions=[about("plan", "trial")])
    await evaluate(plan="free")
    await ada.create_rule(flag, rule_type="attributes", rule_value=None, conditions=[about("plan", "pro")])
    await evaluate(plan="pro")
    item, change = only(await ask())
    assert (item["kind"], change["action"]) == ("change_and_user", "rule.created")
    assert item["attributes"] == [{"name": "plan", "before": "free", "after": "pro"}]


async def test_a_flag_that_has_been_deleted_since_still_has_its_causes(
    ada: Caller, environment: Json, ask: Ask, evaluate: Evaluate
) -> None:
    flag = await ada.create_flag(environment, **OFF_OR_FOR_ADA)
    await ada.create_rule(flag)
    await evaluate()
    await ada.post(f"{flag_path(flag)}/toggle")
    await evaluate()
    await ada.delete(flag_path(flag))
    item, change = only(await ask())
    assert (item["kind"], change["action"]) == ("change", "flag.toggled")


@pytest.mark.parametrize("permission", ["audit:read", "evaluations:read"])
async def test_it_needs_to_read_both_the_history_and_the_audit_trail(
    ada: Caller, project: Json, environment: Json, flagstaff: Flagstaff, callers: AsyncExitStack, permission: str
) -> None:
    token = await issue(flagstaff, callers, f"{project_path(project)}/tokens", ada, permission)
    result = {"flag_key": "x", "before_evaluation_id": str(uuid4()), "after_evaluation_id": str(uuid4())}
    answer = await token.post(f"{environment_path(environment)}/evaluations/changes/causes", json={"results": [result]})
    (lacking,) = {"audit:read", "evaluations:read"} - {permission}
    assert (answer.status_code, answer.json()["permission"]) == (403, lacking)


async def test_of_one_environment_the_changes_of_segments_are_counted_and_not_shown(
    ada: Caller,
    project: Json,
    environment: Json,
    ask: Ask,
    evaluate: Evaluate,
    flagstaff: Flagstaff,
    callers: AsyncExitStack,
) -> None:
    segment = await ada.create_segment(project, conditions=[naming("ada")])
    flag = await ada.create_flag(environment, **OFF_OR_FOR_ADA)
    await ada.create_rule(flag, rule_type="segment", rule_value="beta")
    await evaluate()
    await put_segment(ada, segment, "eve")
    await evaluate()
    path, permissions = f"{project_path(project)}/tokens", ("evaluations:read", "audit:read")
    token = await issue(flagstaff, callers, path, ada, *permissions, environments=[environment["id"]])
    causes = await ask(token)
    assert causes["changes"] == []
    assert [(each["kind"], each["hidden_changes"]) for each in causes["items"]] == [("change", 1)]


async def test_an_attribute_that_was_not_kept_is_taken_to_be_the_same_and_that_is_said(
    ada: Caller, environment: Json, ask: Ask, evaluate: Evaluate
) -> None:
    flag = await ada.create_flag(environment, **OFF_OR_FOR_ADA)
    await evaluate(plan="pro")  # no rule tests the plan yet
    await ada.create_rule(flag, rule_type="attributes", rule_value=None, conditions=[about("plan", "pro")])
    await evaluate(plan="pro")
    await ada.post(f"{flag_path(flag)}/toggle")
    await evaluate(plan="pro")  # nor while the flag is off
    causes = await ask()
    newer, older = causes["items"]
    assert (newer["kind"], newer["attributes"], newer["unknown_attributes"]) == ("change", [], [])
    assert (older["kind"], older["attributes"], older["unknown_attributes"]) == ("change", [], ["plan"])
    assert [each["action"] for each in causes["changes"]] == ["flag.toggled", "rule.created"]


@pytest.mark.both_databases
async def test_without_a_state_that_gives_the_result_it_says_what_changed_in_the_meantime(
    ada: Caller, environment: Json, flagstaff: Flagstaff, ask: Ask, evaluate: Evaluate
) -> None:
    flag = await ada.create_flag(environment)
    await evaluate()
    await ada.post(f"{flag_path(flag)}/toggle")
    await ada.put(flag_path(flag), json={"stickiness": "plan"})
    await ada.put(flag_path(flag), json={"name": "A name decides nothing"})
    await evaluate()
    # As after a manual repair of the database: the trail lacks the change that mattered.
    async with flagstaff.database.transaction() as transaction:
        lost = sa.delete(tables.changes).where(tables.changes.c.action.in_(("flag.created", "flag.toggled")))
        await transaction.connection.execute(lost)
    item, change = only(await ask())
    assert (item["kind"], change["after"]["stickiness"]) == ("possible", "plan")
    async with flagstaff.database.transaction() as transaction:
        await transaction.connection.execute(sa.delete(tables.changes))
    causes = await ask()
    assert ([each["kind"] for each in causes["items"]], causes["changes"]) == (["unrecorded"], [])


@pytest.fixture
async def find(ada: Caller, environment: Json, flagstaff: Flagstaff, evaluate: Evaluate) -> Find:
    """Find the causes of three changes of a user's result, newest first, with lower limits."""
    flag = await ada.create_flag(environment)
    for _ in range(4):
        await evaluate()
        await ada.post(f"{flag_path(flag)}/toggle")

    async def call(**bounds: Any) -> list[Kind]:
        results = await list_results(ada, environment, user_id="ada")
        asked = [
            AskedResult(each["flag_key"], UUID(each["before_evaluation_id"]), UUID(each["after_evaluation_id"]))
            for each in results
        ]
        actor = Actor(UUID(ada.account["id"]), ada.account["email"])
        path = UUID(environment["project_id"]), UUID(environment["id"])
        causes = await CauseFinder(flagstaff.database, Bounds(**bounds)).find(actor, *path, asked)
        return [each.kind for each in causes.found]

    return call


async def test_after_the_time_of_a_request_the_rest_is_not_examined(find: Find) -> None:
    assert await find() == [Kind.CHANGE] * 3
    assert await find(seconds=0) == [Kind.UNAVAILABLE, Kind.NOT_EXAMINED, Kind.NOT_EXAMINED]


@pytest.mark.parametrize("bounds", [{"changes": 1}, {"characters": 0}, {"levels": 0}])
async def test_after_too_many_changes_a_cause_is_not_available(find: Find, bounds: dict[str, int]) -> None:
    assert await find(**bounds) == [Kind.UNAVAILABLE] * 3
