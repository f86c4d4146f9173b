"""GET and POST …/views, PUT and DELETE …/views/{view_id}."""

from typing import Any
from uuid import uuid4

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller, Json, created, field_errors, project_path
from tests.support.members import join

SEARCH = {"q": "checkout", "state": "on", "tag": "beta", "owner": "Payments", "favourites": True, "sort": "name"}

INVALID: list[tuple[Json, str]] = [
    ({"name": " "}, "name"),
    ({"name": "n" * 256}, "name"),
    ({"search": None}, "search"),
    ({"search": {"q": ""}}, "search.q"),
    ({"search": {"q": "x" * 256}}, "search.q"),
    ({"search": {"state": "all"}}, "search.state"),
    ({"search": {"audience": "x"}}, "search.audience"),
    ({"search": {"seen": None}}, "search.seen"),
    ({"search": {"tag": "x" * 51}}, "search.tag"),
    ({"search": {"owner": "\u0000"}}, "search.owner"),
    ({"search": {"favourites": False}}, "search.favourites"),
    ({"search": {"sort": "newest"}}, "search.sort"),
    ({"search": {"colour": "red"}}, "search.colour"),
    ({"colour": "red"}, "colour"),
]


def path(project: Json, view: Json | None = None) -> str:
    return f"{project_path(project)}/views" + (f"/{view['id']}" if view else "")


async def save(caller: Caller, project: Json, name: str, **search: Any) -> Json:
    return created(await caller.post(path(project), json={"name": name, "search": search}))


async def listed(caller: Caller, project: Json) -> list[Json]:
    found: list[Json] = (await caller.get(path(project))).json()
    return found


async def test_others_find_no_views(client: Caller, ada: Caller, eve: Caller, project: Json) -> None:
    view = await save(ada, project, "Beta")
    foreign = await eve.create_project()
    for caller, status in ((client, 401), (eve, 404)):
        assert (await caller.get(path(project))).status_code == status
        assert (await caller.post(path(project), json={"name": "x", "search": {}})).status_code == status
        assert (await caller.put(path(project, view), json={"name": "x"})).status_code == status
        assert (await caller.delete(path(project, view))).status_code == status
    for other in (path(foreign, view), path(project, {"id": uuid4()}), path(project, {"id": "beta"})):
        assert (await eve.put(other, json={"name": "x"})).status_code == 404
        assert (await eve.delete(other)).status_code == 404
    assert await listed(ada, project) == [view]


async def test_whoever_may_change_flags_somewhere_saves_views_and_all_members_see_them(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, project: Json
) -> None:
    view = await save(ada, project, "Beta", tag="beta")
    await join(flagstaff, project, eve, "viewer")
    assert await listed(eve, project) == [view]
    answer = await eve.put(path(project, view), json={"name": "x"})
    assert (answer.status_code, answer.json()["permission"]) == (403, "flags:write")
    account = eve.account["id"]
    await ada.put(f"{project_path(project)}/members/{account}", json={"environments": {"staging": "editor"}})
    assert (await eve.delete(path(project, view))).status_code == 204


async def test_each_invalid_field_is_named(ada: Caller, project: Json) -> None:
    for given, field in INVALID:
        answer = await ada.post(path(project), json={"name": "Beta", "search": {}, **given})
        assert list(field_errors(answer)) == [field], given
    assert await listed(ada, project) == []


@pytest.mark.both_databases
async def test_names_are_unique_in_the_project(ada: Caller, project: Json) -> None:
    one, two = await save(ada, project, "One"), await save(ada, project, "Two")
    answers = [
        await ada.post(path(project), json={"name": " One ", "search": {}}),
        await ada.put(path(project, two), json={"name": "One"}),
    ]
    for answer in answers:
        assert (answer.status_code, answer.json()["detail"]) == (
            409,
            "The project already has a view with the name One.",
        )
    assert await listed(ada, project) == [one, two]
    await save(ada, await ada.create_project(), "One")


async def test_a_view_is_saved_renamed_and_deleted_and_the_audit_trail_has_it(ada: Caller, project: Json) -> None:
    view = await save(ada, project, "Checkout", **SEARCH)
    assert (view["name"], view["search"]) == ("Checkout", SEARCH)
    changed = (await ada.put(path(project, view), json={"name": "Baskets"})).json()
    assert changed == {**view, "name": "Baskets"}
    answer = await ada.put(path(project, view), json={**changed, "search": {"state": "off"}})
    assert (answer.json()["search"], await listed(ada, project)) == ({"state": "off"}, [answer.json()])
    same = await ada.put(path(project, view), json=answer.json())
    assert "flagstaff-change" not in same.headers
    assert "flagstaff-revision" not in answer.headers  # no evaluation depends on it
    assert (await ada.delete(path(project, view))).status_code == 204
    assert await listed(ada, project) == []
    changes = (await ada.get(f"{project_path(project)}/changes?resource=view")).json()["items"]
    assert [each["action"] for each in changes] == ["view.deleted", "view.updated", "view.updated", "view.created"]
    assert changes[1]["after"]["search"] == {"state": "off"}
    answer = await ada.post(f"{project_path(project)}/changes/{changes[0]['id']}/restore", json={"dry_run": False})
    assert answer.status_code == 409
