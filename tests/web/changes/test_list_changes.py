"""GET /api/projects/{project_id}/environments/{env_id}/changes."""

from uuid import uuid4

import pytest

from tests.support.api import NO_IDS, Caller, Json, environment_path, field_errors, flag_path, project_path

NOT_A_CURSOR = "is not a cursor of this list; leave it out to start with the newest"


def path(environment: Json) -> str:
    return f"{environment_path(environment)}/changes"


@pytest.mark.one_database
async def test_reading_requires_a_token(client: Caller, environment: Json) -> None:
    assert (await client.get(path(environment))).status_code == 401


async def test_a_missing_misplaced_or_foreign_resource_is_not_found(
    ada: Caller, eve: Caller, project: Json, environment: Json
) -> None:
    other = await ada.create_project()

    for env_id in (uuid4(), *NO_IDS):
        assert (await ada.get(f"{project_path(project)}/environments/{env_id}/changes")).status_code == 404
    assert (await ada.get(f"{project_path(other)}/environments/{environment['id']}/changes")).status_code == 404
    assert (await eve.get(path(environment))).status_code == 404


@pytest.mark.one_database
async def test_an_invalid_filter_is_refused_by_name(ada: Caller, environment: Json) -> None:
    for query, field in (
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("limit=-1", "limit"),
        ("limit=1.5", "limit"),
        ("limit=", "limit"),
        ("limit=x", "limit"),
        ("limit=" + "9" * 5_000, "limit"),
        ("flag_id=x", "flag_id"),
        ("flag_id=", "flag_id"),
        ("limt=5", "limt"),
        ("cursor=%00", "cursor"),
    ):
        assert list(field_errors(await ada.get(f"{path(environment)}?{query}"))) == [field], query
    for cursor in ("", "x", "-1", "1.0", "%20", "%D9%A1", "9" * 19, "9" * 5_000, "1e3", "0x1"):
        answer = await ada.get(f"{path(environment)}?cursor={cursor}")
        assert field_errors(answer) == {"cursor": NOT_A_CURSOR}, cursor


async def test_a_new_environment_lists_its_creation(ada: Caller, environment: Json) -> None:
    answer = await ada.get(path(environment))

    assert answer.status_code == 200
    (change,) = answer.json()["items"]
    assert answer.json()["next_cursor"] is None
    assert change == {
        "id": change["id"],
        "at": "2026-11-20T10:00:00.000000Z",
        "actor": {"id": ada.account["id"], "email": "ada@example.com", "token": None, "release": None},
        "action": "environment.created",
        "resource_id": environment["id"],
        "environment_id": environment["id"],
        "flag_id": None,
        "flag_key": None,
        "before": None,
        "after": {name: environment[name] for name in ("id", "project_id", "name", "key", "created_at", "critical")},
        "restores": None,
    }


async def test_every_write_is_listed_newest_first_including_deleted_resources(ada: Caller, environment: Json) -> None:
    flag = await ada.create_flag(environment)
    rule = await ada.create_rule(flag)
    rule_path = f"{flag_path(flag)}/rules/{rule['id']}"
    await ada.put(rule_path, json={"priority": 5})
    await ada.post(f"{flag_path(flag)}/toggle")
    await ada.put(flag_path(flag), json={"rollout_percentage": 25})
    await ada.delete(rule_path)
    await ada.delete(flag_path(flag))
    elsewhere = await ada.create_flag()

    items = (await ada.get(path(environment))).json()["items"]

    assert [item["action"] for item in items] == [
        "flag.deleted",
        "rule.deleted",
        "flag.updated",
        "flag.toggled",
        "rule.updated",
        "rule.created",
        "flag.created",
        "environment.created",
    ]
    assert {item["flag_id"] for item in items[:-1]} == {flag["id"]}
    assert (items[3]["before"]["enabled"], items[3]["after"]["enabled"]) == (True, False)
    assert (items[2]["before"]["rollout_percentage"], items[2]["after"]["rollout_percentage"]) == (0, 25)
    assert items[0]["after"] is None
    assert elsewhere["id"] not in repr(items)


async def test_the_changes_of_one_flag_hold_its_rules_and_no_other_flag(ada: Caller, environment: Json) -> None:
    flag, other = await ada.create_flag(environment), await ada.create_flag(environment, key="other")
    await ada.create_rule(flag)
    await ada.create_rule(other)

    items = (await ada.get(path(environment), params={"flag_id": flag["id"]})).json()["items"]

    assert [item["action"] for item in items] == ["rule.created", "flag.created"]
    assert (await ada.get(path(environment), params={"flag_id": str(uuid4())})).json()["items"] == []


async def test_cursors_lead_through_all_pages_despite_concurrent_writes(ada: Caller, environment: Json) -> None:
    flag = await ada.create_flag(environment)
    for _ in range(5):
        await ada.post(f"{flag_path(flag)}/toggle")
    whole = (await ada.get(path(environment))).json()["items"]

    paged, cursor, pages = [], None, 0
    while pages == 0 or cursor:
        page = (await ada.get(path(environment), params={"limit": 3, **({"cursor": cursor} if cursor else {})})).json()
        await ada.post(f"{flag_path(flag)}/toggle")
        paged += page["items"]
        cursor, pages = page["next_cursor"], pages + 1

    assert paged == whole
    assert pages == 3
