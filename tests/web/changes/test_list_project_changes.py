"""GET /api/projects/{project_id}/changes."""

from typing import Any, get_args
from uuid import uuid4

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.audit.changes_routes import Action, Kind
from tests.support.api import NO_IDS, Caller, Json, environment_path, field_errors, flag_path, project_path
from tests.support.clock import Clock
from tests.support.sessions import log_in, operated_accounts
from tests.web.changes.test_list_changes import NOT_A_CURSOR
from tests.web.conftest import ListChanges


def path(project: Json) -> str:
    return f"{project_path(project)}/changes"


async def listed(caller: Caller, project: Json, **parameters: Any) -> list[Json]:
    """Return all changes that match, over all pages."""
    items: list[Json] = []
    while True:
        answer = await caller.get(path(project), params=parameters)
        assert answer.status_code == 200, answer.text
        items += answer.json()["items"]
        parameters["cursor"] = answer.json()["next_cursor"]
        if parameters["cursor"] is None:
            return items


async def actions(caller: Caller, project: Json, **parameters: Any) -> list[str]:
    return [item["action"] for item in await listed(caller, project, **parameters)]


async def do_everything(caller: Caller, project: Json) -> Json:
    """Make every kind of change that a project survives; return the environment and the flag that are deleted by it."""
    environment = await caller.create_environment(project)
    order_path = f"{project_path(project)}/environments/order"
    ids = (await caller.get(order_path)).json()["environment_ids"]
    await caller.put(order_path, json={"environment_ids": ids[::-1]})
    flag = await caller.create_flag(environment)
    rule = await caller.create_rule(flag)
    rule_path = f"{flag_path(flag)}/rules/{rule['id']}"
    await caller.put(rule_path, json={"priority": 5})
    await caller.delete(rule_path)
    await caller.put(flag_path(flag), json={"rollout_percentage": 25})
    await caller.post(f"{flag_path(flag)}/toggle")
    await caller.post(f"{flag_path(flag)}/archive")
    await caller.post(f"{flag_path(flag)}/unarchive")
    await caller.delete(flag_path(flag))
    await caller.put(environment_path(environment), json={"name": "Blue"})
    await caller.delete(environment_path(environment))
    await caller.put(project_path(project), json={"name": "Market"})
    await caller.post(f"{project_path(project)}/regenerate-key")
    return flag


EVERYTHING = [
    "project.key_regenerated",
    "project.updated",
    "environment.deleted",
    "environment.updated",
    "flag.deleted",
    "flag.unarchived",
    "flag.archived",
    "flag.toggled",
    "flag.updated",
    "rule.deleted",
    "rule.updated",
    "rule.created",
    "flag.created",
    "environment.reordered",
    "environment.created",
    "environment.created",
    "environment.created",
    "project.created",
]


async def test_reading_requires_a_token(client: Caller, project: Json) -> None:
    assert (await client.get(path(project))).status_code == 401


async def test_a_missing_or_foreign_resource_is_not_found(ada: Caller, eve: Caller, project: Json) -> None:
    for project_id in (uuid4(), *NO_IDS):
        assert (await ada.get(f"/api/projects/{project_id}/changes")).status_code == 404
    for query in ("", "?action=flag.toggled", f"?actor={eve.account['id']}"):
        assert (await eve.get(path(project) + query)).status_code == 404
    await ada.delete(project_path(project))
    assert (await ada.get(path(project))).status_code == 404


async def test_an_invalid_filter_is_refused_by_name(ada: Caller, project: Json) -> None:
    for query, field in (
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("limit=1.5", "limit"),
        ("actor=", "actor"),
        ("actor=ada", "actor"),
        ("actor=%00@x.com", "actor"),
        ("action=flag.toggle", "action"),
        ("action=", "action"),
        ("resource=segments", "resource"),
        ("resource=", "resource"),
        ("flag_key=", "flag_key"),
        ("flag_key=New", "flag_key"),
        ("environment=", "environment"),
        ("environment=Production", "environment"),
        ("environment=%00", "environment"),
        ("since=yesterday", "since"),
        ("since=2026-11-20T10:00:00", "since"),
        ("until=9999-12-31T23:59:59Z", "until"),
        ("flag_id=x", "flag_id"),
        ("flagkey=x", "flagkey"),
    ):
        assert list(field_errors(await ada.get(f"{path(project)}?{query}"))) == [field], query
    for cursor in ("", "x", "-1", "1.0", "%20", "%D9%A1", "%0a1", "9" * 19, "9" * 5_000, "1e3"):
        answer = await ada.get(f"{path(project)}?cursor={cursor}")
        assert field_errors(answer) == {"cursor": NOT_A_CURSOR}, cursor


@pytest.mark.both_databases
async def test_every_change_is_listed_newest_first_also_of_what_is_deleted(ada: Caller, project: Json) -> None:
    await do_everything(ada, project)
    await ada.create_flag()

    assert await actions(ada, project) == EVERYTHING
    assert await actions(ada, project, limit=2) == EVERYTHING
    of_segments = {f"segment.{verb}" for verb in ("created", "updated", "deleted")}
    of_people = {f"member.{verb}" for verb in ("added", "updated", "removed", "joined")}
    of_people |= {f"invitation.{verb}" for verb in ("created", "sent", "accepted", "deleted")}
    of_people |= {f"token.{verb}" for verb in ("created", "deleted")} | {"erasure.requested"}
    of_views = {f"{kind}.{verb}" for kind in ("view", "pinned_chart") for verb in ("created", "updated", "deleted")}
    of_views |= {"comment.deleted"}
    of_keys = {f"sdk_key.{verb}" for verb in ("created", "updated", "revoked")}
    of_keys |= {f"webhook.{verb}" for verb in ("created", "updated", "secret_rotated", "disabled", "deleted")}
    of_releases = {f"metric.{verb}" for verb in ("created", "updated", "deleted")}
    of_releases |= {
        f"release.{verb}"
        for verb in ("created", "step_applied", "step_skipped", "paused", "resumed", "warned", "stopped")
    }
    of_releases |= {f"release.{verb}" for verb in ("unwatched", "watched", "cancelled", "failed", "done")}
    assert {*EVERYTHING, *of_segments, *of_people, *of_views, *of_keys, *of_releases} == set(get_args(Action))


def test_the_kinds_of_resources_are_those_of_the_actions() -> None:
    assert {action.partition(".")[0] for action in get_args(Action)} == set(get_args(Kind))


async def test_a_change_has_its_actor_action_and_place_and_never_an_sdk_key(ada: Caller, project: Json) -> None:
    flag = await do_everything(ada, project)

    items = await listed(ada, project)

    assert {item["actor"]["id"] for item in items} == {ada.account["id"]}
    of_flag = [item for item in items if item["action"].startswith(("flag.", "rule."))]
    assert {(item["environment_id"], item["flag_id"], item["flag_key"]) for item in of_flag} == {
        (flag["environment_id"], flag["id"], flag["key"])
    }
    regenerated, renamed = items[:2]
    assert regenerated["environment_id"] is regenerated["flag_id"] is regenerated["flag_key"] is None
    assert (regenerated["resource_id"], regenerated["before"]["name"]) == (project["id"], "Market")
    assert (renamed["before"]["name"], renamed["after"]["name"]) == ("Shop", "Market")
    assert "sdk_" not in repr(items)


@pytest.mark.both_databases
async def test_each_filter_finds_its_changes_and_no_others(ada: Caller, eve: Caller, project: Json) -> None:
    flag = await do_everything(ada, project)
    again = await ada.create_flag(await ada.get_environment(project))  # another flag with the key of the deleted one
    await ada.create_flag(await ada.get_environment(project), key="other")
    of_first = EVERYTHING[4:13]

    assert await actions(ada, project, flag_key=flag["key"]) == ["flag.created", *of_first]
    assert await actions(ada, project, flag_key=again["key"], environment="production") == ["flag.created"]
    assert await actions(ada, project, flag_key="unknown") == []
    assert await actions(ada, project, action="flag.created") == ["flag.created"] * 3
    assert await actions(ada, project, action="environment.deleted", flag_key=flag["key"]) == []
    assert await actions(ada, project, resource="rule") == ["rule.deleted", "rule.updated", "rule.created"]
    assert await actions(ada, project, resource="project", action="project.updated") == ["project.updated"]
    assert await actions(ada, project, resource="segment") == []
    assert await actions(ada, project, resource="segment", action="project.updated") == []
    inside = ["environment.deleted", "environment.updated", *of_first, "environment.created"]
    for environment in (flag["environment_id"], flag["environment_id"].upper(), "canary"):
        assert await actions(ada, project, environment=environment) == inside
    for environment in ("unknown", str(uuid4())):
        assert await actions(ada, project, environment=environment) == []
    for actor in (ada.account["id"], "Ada@Example.com"):
        assert await actions(ada, project, actor=actor, action="project.updated") == ["project.updated"]
    for actor in (eve.account["id"], "eve@example.com", "nobody@example.com", str(uuid4())):
        assert await actions(ada, project, actor=actor) == []


@pytest.mark.both_databases
async def test_times_bound_the_list_from_and_until(ada: Caller, project: Json, clock: Clock) -> None:
    flag = await ada.create_flag(await ada.get_environment(project))
    for _ in range(3):
        clock.advance(hours=1)
        await ada.post(f"{flag_path(flag)}/toggle")

    toggled = await listed(ada, project, action="flag.toggled")
    assert await listed(ada, project, since="2026-11-20T11:00:00Z") == toggled
    assert await listed(ada, project, since="2026-11-20T11:00:00.000001Z") == toggled[:2]
    assert await listed(ada, project, since="2026-11-20T11:00:00Z", until="2026-11-20T13:00:00Z") == toggled[1:]
    assert await listed(ada, project, since="2026-11-20T13:00:01Z") == []
    assert await listed(ada, project, until="2026-11-20T10:00:00Z") == []
    assert len(await listed(ada, project, until="2026-11-21T00:00:00+02:00")) == 7
    assert await listed(ada, project, since="2026-11-20T12:00:00Z", flag_key=flag["key"], limit=1) == toggled[:2]


async def test_times_never_go_back_though_a_clock_does(ada: Caller, project: Json, clock: Clock) -> None:
    flag = await ada.create_flag(await ada.get_environment(project))
    clock.advance(minutes=-10)
    await ada.create_rule(flag)
    await ada.delete(flag_path(flag))

    times = [item["at"] for item in await listed(ada, project)]

    assert times == sorted(times, reverse=True)
    assert len(await listed(ada, project, since="2026-11-20T10:00:00Z")) == 6


@pytest.mark.both_databases
async def test_cursors_lead_through_all_pages_despite_concurrent_writes(ada: Caller, project: Json) -> None:
    flag = await do_everything(ada, project)
    whole = await listed(ada, project, flag_key=flag["key"])
    other = await ada.create_flag(await ada.get_environment(project))

    paged, parameters = [], {"flag_key": flag["key"], "limit": 3, "environment": "canary"}
    while True:
        page = (await ada.get(path(project), params=parameters)).json()
        paged += page["items"]
        await ada.post(f"{flag_path(other)}/toggle")
        if page["next_cursor"] is None:
            break
        parameters["cursor"] = page["next_cursor"]

    assert paged == whole


@pytest.mark.both_databases
async def test_an_account_lists_only_its_registration_and_password_changes(
    flagstaff: Flagstaff, client: Caller, ada: Caller, eve: Caller, project: Json, list_changes: ListChanges
) -> None:
    assert (await client.get("/api/me/changes")).status_code == 401
    assert field_errors(await ada.get("/api/me/changes?cursor=x")) == {"cursor": NOT_A_CURSOR}
    assert list(field_errors(await ada.get("/api/me/changes?limit=0&flag_key=x"))) == ["limit", "flag_key"]
    await operated_accounts(flagstaff).set_password(email="ada@example.com", password="another horse battery staple")
    token = await log_in(flagstaff, email="ada@example.com", password="another horse battery staple")
    ada.headers["authorization"] = f"Bearer {token}"

    items = (await ada.get("/api/me/changes")).json()["items"]
    assert [(item["action"], item["actor"]["email"]) for item in items] == [
        ("account.password_reset", None),
        ("account.registered", "ada@example.com"),
    ]
    assert {item["resource_id"] for item in items} == {ada.account["id"]}
    assert "password_hash" not in repr(items)
    (page,) = [(await ada.get("/api/me/changes?limit=1")).json()]
    assert page["items"] == items[:1]
    assert (await ada.get(f"/api/me/changes?cursor={page['next_cursor']}")).json() == {
        "items": items[1:],
        "next_cursor": None,
    }
    assert [item["action"] for item in (await eve.get("/api/me/changes")).json()["items"]] == ["account.registered"]
