"""GET /api/projects/{project_id}/environments/{env_id}/changes."""

from uuid import uuid4

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from tests.support.api import NO_IDS, Caller, Json, created, environment_path, field_errors, flag_path, project_path
from tests.support.clock import Clock
from tests.support.members import join
from tests.support.queries import reads
from tests.support.sessions import PASSWORD

NOT_A_CURSOR = "is not a cursor of this list; leave it out to start with the newest"


def path(environment: Json) -> str:
    return f"{environment_path(environment)}/changes"


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
        ("since=tuesday", "since"),
        ("until=2026-13-01", "until"),
        ("actor=nobody", "actor"),
        ("action=flag.toggle", "action"),
        ("resource=flags", "resource"),
        ("flag_key=Not a key", "flag_key"),
        ("environment=production", "environment"),
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
        "after": {
            name: environment[name]
            for name in ("id", "project_id", "name", "key", "created_at", "critical", "history_retention_days")
        },
        "restores": None,
        "batch": None,
        "comments": 0,
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


async def test_segments_are_listed_in_each_environment_and_with_the_flags_whose_rules_name_them(
    ada: Caller, project: Json, environment: Json
) -> None:
    staging = await ada.get_environment(project, "staging")
    flag, other = await ada.create_flag(environment), await ada.create_flag(environment, key="other")
    beta = await ada.create_segment(project, key="beta", name="Beta")
    staff = await ada.create_segment(project, key="staff", name="Staff")
    await ada.create_rule(flag, rule_type="segment", rule_value="beta")
    for segment in (beta, staff):
        await ada.put(f"{project_path(project)}/segments/{segment['id']}", json={"name": "Renamed"})
    await ada.delete(f"{project_path(project)}/segments/{staff['id']}")

    async def listed(where: Json, **query: str) -> list[tuple[str, str]]:
        items = (await ada.get(path(where), params=query)).json()["items"]
        return [(item["action"], item["resource_id"]) for item in items if item["action"].startswith("segment.")]

    of_beta = [("segment.updated", beta["id"]), ("segment.created", beta["id"])]
    of_staff = [("segment.deleted", staff["id"]), ("segment.updated", staff["id"]), ("segment.created", staff["id"])]
    everything = [of_staff[0], of_staff[1], of_beta[0], of_staff[2], of_beta[1]]
    assert await listed(environment) == await listed(staging) == everything
    assert await listed(environment, limit="3") == everything[:3]
    assert await listed(environment, flag_id=flag["id"]) == of_beta
    assert await listed(environment, flag_id=other["id"]) == []


@pytest.mark.both_databases
async def test_a_time_chooses_changes_of_flags_and_of_segments(
    ada: Caller, project: Json, environment: Json, clock: Clock
) -> None:
    flag = await ada.create_flag(environment)
    early = clock()
    clock.advance(hours=1)
    await ada.create_segment(project)
    await ada.post(f"{flag_path(flag)}/toggle")
    middle = clock()
    clock.advance(hours=1)
    await ada.delete(flag_path(flag))

    async def listed(**query: str) -> list[str]:
        answer = await ada.get(path(environment), params=query)
        assert answer.status_code == 200, answer.text
        return [item["action"] for item in answer.json()["items"]]

    assert await listed(since=middle.isoformat()) == ["flag.deleted", "flag.toggled", "segment.created"]
    assert await listed(since=middle.isoformat(), until=clock().isoformat()) == ["flag.toggled", "segment.created"]
    assert await listed(until=middle.isoformat(), flag_id=flag["id"]) == ["flag.created"]
    assert await listed(since=clock.advance(hours=1).isoformat()) == []
    assert await listed(until=early.isoformat()) == []


async def test_members_are_listed_in_each_environment_but_not_with_flags(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, project: Json, environment: Json
) -> None:
    staging = await ada.get_environment(project, "staging")
    flag = await ada.create_flag(environment)
    member = await join(flagstaff, project, eve, "viewer")
    await ada.put(member, json={"role": "editor"})

    async def listed(where: Json, **query: str) -> list[str]:
        items = (await ada.get(path(where), params=query)).json()["items"]
        return [item["action"] for item in items if item["action"].startswith("member.")]

    assert await listed(environment) == await listed(staging) == ["member.updated"]
    assert await listed(environment, flag_id=flag["id"]) == []
    assert await listed(environment, flag_key=flag["key"]) == []


@pytest.mark.both_databases
async def test_an_author_an_action_a_kind_and_a_flag_choose_changes(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, project: Json, environment: Json
) -> None:
    await join(flagstaff, project, eve, "editor")
    flag = await ada.create_flag(environment)
    await eve.create_segment(project)
    await eve.post(f"{flag_path(flag)}/toggle")
    await ada.create_rule(flag)

    async def listed(**query: str) -> list[str]:
        answer = await ada.get(path(environment), params=query)
        assert answer.status_code == 200, answer.text
        return [item["action"] for item in answer.json()["items"]]

    assert await listed(actor="eve@example.com") == ["flag.toggled", "segment.created"]
    assert await listed(actor="nobody@example.com") == []
    assert await listed(action="segment.created") == ["segment.created"]
    assert await listed(resource="rule") == ["rule.created"]
    assert await listed(flag_key=flag["key"]) == ["rule.created", "flag.toggled", "flag.created"]
    assert await listed(actor=eve.account["id"], resource="flag", flag_key=flag["key"]) == ["flag.toggled"]


@pytest.mark.both_databases
async def test_changes_that_one_operation_makes_name_it_and_single_ones_do_not(
    ada: Caller, project: Json, environment: Json
) -> None:
    staging = await ada.get_environment(project, "staging")
    flags = [await ada.create_flag(environment, key=key) for key in ("first", "second")]
    await ada.create_rule(flags[0])
    bulk = {"flags": [flag["id"] for flag in flags], "action": "disable"}
    assert (await ada.post(f"{environment_path(environment)}/bulk-actions", json=bulk)).status_code == 200
    copy = {"from": environment["id"], "to": staging["id"], "flag_keys": ["first", "second"]}
    assert (await ada.post(f"{project_path(project)}/copy", json=copy)).status_code == 200
    first, second, *others = (await ada.get(path(environment))).json()["items"]
    assert (
        first["batch"]
        == second["batch"]
        == {
            "id": first["batch"]["id"],
            "kind": "bulk_action",
            "changes": 2,
            "flags": 2,
            "origin_id": None,
        }
    )
    assert {item["batch"] for item in others} == {None}

    *copied, created_environment = (await ada.get(path(staging))).json()["items"]
    assert created_environment["batch"] is None
    assert {(item["batch"]["kind"], item["batch"]["changes"], item["batch"]["flags"]) for item in copied} == {
        ("copy", 3, 2)
    }
    assert {item["batch"]["origin_id"] for item in copied} == {environment["id"]}

    restored = {"changes": [first["id"], second["id"]]}
    assert (await ada.post(f"{project_path(project)}/changes/restore", json=restored)).status_code == 200
    newest = (await ada.get(path(environment))).json()["items"][:2]
    assert [(item["batch"]["kind"], item["batch"]["changes"]) for item in newest] == [("restore", 2)] * 2
    assert newest[0]["batch"]["id"] not in (first["batch"]["id"], copied[0]["batch"]["id"])


async def test_a_clone_is_one_operation(ada: Caller, project: Json, environment: Json) -> None:
    for key in ("first", "second"):
        await ada.create_flag(environment, key=key)
    body = {"name": "Canary", "key": "canary", "copy_from": environment["id"]}
    canary = created(await ada.post(f"{project_path(project)}/environments", json=body))
    items = (await ada.get(path(canary))).json()["items"]
    assert [item["batch"] and item["batch"]["kind"] for item in items] == ["clone", "clone", None]


async def test_a_token_for_an_environment_gets_no_changes_of_segments_and_members(
    flagstaff: Flagstaff, client: Caller, ada: Caller, eve: Caller, project: Json, environment: Json
) -> None:
    await ada.create_segment(project)
    await ada.put(await join(flagstaff, project, eve, "viewer"), json={"role": "editor"})
    body: Json = {"name": "Watcher", "permissions": ["audit:read"], "current_password": PASSWORD}
    body["environments"] = [environment["id"]]
    token = created(await ada.post(f"{project_path(project)}/tokens", json=body))["token"]
    answer = await client.get(path(environment), headers={"authorization": f"Bearer {token}"})
    assert [item["action"] for item in answer.json()["items"]] == ["environment.created"]


@pytest.mark.both_databases
async def test_cursors_lead_through_all_pages_despite_concurrent_writes(ada: Caller, environment: Json) -> None:
    flag = await ada.create_flag(environment)
    for place in range(5):
        await ada.post(f"{flag_path(flag)}/toggle")
        if place % 2:
            await ada.create_segment({"id": environment["project_id"]}, key=f"segment-{place}", name=f"Segment {place}")
    whole = (await ada.get(path(environment))).json()["items"]

    paged, cursor, pages = [], None, 0
    while pages == 0 or cursor:
        page = (await ada.get(path(environment), params={"limit": 3, **({"cursor": cursor} if cursor else {})})).json()
        await ada.post(f"{flag_path(flag)}/toggle")
        paged += page["items"]
        cursor, pages = page["next_cursor"], pages + 1

    assert paged == whole
    assert pages == 3


async def test_an_environment_that_there_has_never_been_is_not_looked_for_in_all_changes(
    flagstaff: Flagstaff, ada: Caller, project: Json, environment: Json
) -> None:
    for key, searched in ((environment["key"], True), ("nowhere", False)):
        with reads(flagstaff.database) as statements:
            answer = await ada.get(f"{project_path(project)}/changes", params={"environment": key})
        assert (answer.status_code, bool(answer.json()["items"])) == (200, searched)
        assert any("ORDER BY changes.id DESC" in each for each in statements) is searched


@pytest.mark.both_databases
async def test_changes_that_only_a_later_release_makes_together_are_listed_one_by_one(
    flagstaff: Flagstaff, ada: Caller, environment: Json
) -> None:
    """A later release may serve from the same database at the same time."""
    await ada.create_flag(environment)
    batch = {"id": str(uuid4()), "kind": "later", "changes": 2, "flags": 1, "origin_id": None}
    async with flagstaff.database.transaction() as transaction:
        await transaction.connection.execute(tables.changes.update().values(batch=batch))
    answer = await ada.get(path(environment))
    first = answer.json()["items"][0]
    assert (first["action"], first["batch"]) == ("flag.created", None)
