"""/api/admin/deleted-projects: deleted projects whose audit trail is kept, and its deletion at once."""

import asyncio
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from tests.support.api import NO_IDS, Caller, Json, field_errors, project_path
from tests.support.clock import Clock
from tests.support.releases import until
from tests.support.sessions import PASSWORD

pytestmark = pytest.mark.both_databases

TOKEN = {"name": "Nightly", "permissions": ["project:read"], "current_password": PASSWORD}
LIST = "/api/admin/deleted-projects"


def order_path(project: Json) -> str:
    return f"{LIST}/{project['id']}/trail-deletion"


async def delete_shop(owner: Caller, name: str = "Shop") -> Json:
    shop = await owner.create_project(name=name)
    await owner.create_flag(await owner.get_environment(shop))
    assert (await owner.delete(project_path(shop))).status_code == 204
    return shop


async def count_changes(flagstaff: Flagstaff, project: Json) -> int:
    query = sa.select(sa.func.count()).where(tables.changes.c.project_id == UUID(project["id"]))
    async with flagstaff.database.read() as connection:
        return int((await connection.execute(query)).scalar_one())


async def list_deleted(root: Caller) -> list[Json]:
    found: list[Json] = (await root.get(LIST)).json()
    return found


async def list_orders(root: Caller) -> list[Json]:
    items = (await root.get("/api/admin/changes")).json()["items"]
    return [each for each in items if each["action"] == "instance.trail_deleted"]


async def test_only_administrators_see_and_delete_trails_of_deleted_projects(
    flagstaff: Flagstaff, root: Caller, ada: Caller
) -> None:
    shop = await delete_shop(ada)
    kept = await count_changes(flagstaff, shop)
    assert (await ada.get(LIST)).status_code == 403
    assert (await ada.post(order_path(shop), json={"name": "Shop"})).status_code == 403
    token = (await root.post("/api/me/tokens", json=TOKEN)).json()["token"]
    headers = {"authorization": f"Bearer {token}"}
    assert (await root.get(LIST, headers=headers)).status_code == 403
    refused = await root.post(order_path(shop), json={"name": "Shop"}, headers=headers)
    assert refused.status_code == 403
    assert (await count_changes(flagstaff, shop), await list_orders(root)) == (kept, [])


async def test_the_trail_of_a_project_that_exists_or_never_did_is_not_deleted(
    flagstaff: Flagstaff, root: Caller, ada: Caller
) -> None:
    shop = await ada.create_project(name="Shop")
    for each in (shop["id"], str(uuid4()), *NO_IDS):
        answer = await root.post(f"{LIST}/{each}/trail-deletion", json={"name": "Shop"})
        assert answer.status_code == 404
    assert (await list_deleted(root), await list_orders(root)) == ([], [])
    assert await count_changes(flagstaff, shop) > 0


async def test_the_name_of_the_project_confirms_it(flagstaff: Flagstaff, root: Caller, ada: Caller) -> None:
    shop = await delete_shop(ada)
    kept = await count_changes(flagstaff, shop)
    named: tuple[tuple[Json, str], ...] = (({}, "name"), ({"name": "shop"}, "name"), ({"name": "Shop", "x": 1}, "x"))
    for body, field in named:
        assert list(field_errors(await root.post(order_path(shop), json=body))) == [field]
    (listed,) = await list_deleted(root)
    assert listed["trail_deletion_ordered_at"] is None
    assert (await count_changes(flagstaff, shop), await list_orders(root)) == (kept, [])


async def test_it_is_deleted_at_once_and_another_order_changes_nothing(
    flagstaff: Flagstaff, root: Caller, ada: Caller
) -> None:
    other, shop = await delete_shop(ada, "Other"), await delete_shop(ada)
    alive = await ada.create_project(name="Alive")
    kept = [await count_changes(flagstaff, each) for each in (other, alive)]
    answers = await asyncio.gather(*(root.post(order_path(shop), json={"name": "Shop"}) for _ in range(3)))
    assert {each.status_code for each in answers} <= {202, 404}  # it may be gone before the last one
    ordered = [each.json() for each in answers if each.status_code == 202]
    assert all(each == ordered[0] for each in ordered)
    assert (ordered[0]["id"], ordered[0]["name"]) == (shop["id"], "Shop")
    assert ordered[0]["trail_deletion_ordered_at"] == "2026-11-20T10:00:00.000000Z"
    listed = await until(lambda: list_deleted(root), lambda found: len(found) == 1)
    assert listed == [
        {
            "id": other["id"],
            "name": "Other",
            "deleted_at": "2026-11-20T10:00:00.000000Z",
            "trail_deletion_ordered_at": None,
        }
    ]
    assert await count_changes(flagstaff, shop) == 0
    assert [await count_changes(flagstaff, each) for each in (other, alive)] == kept
    assert (await root.post(order_path(shop), json={"name": "Shop"})).status_code == 404
    (order,) = await list_orders(root)
    assert (order["actor"]["email"], order["resource_id"]) == (root.account["email"], shop["id"])
    assert order["after"] == {"id": shop["id"], "deleted_at": "2026-11-20T10:00:00.000000Z"}


async def test_they_are_listed_in_parts_the_last_deleted_first(root: Caller, ada: Caller, clock: Clock) -> None:
    for name in ("First", "Second", "Third"):
        await delete_shop(ada, name)
        clock.advance(seconds=1)
    first = await root.get(f"{LIST}?limit=2")
    assert [each["name"] for each in first.json()] == ["Third", "Second"]
    rest = await root.get(f"{LIST}{first.headers['link'].partition('>')[0][1:]}")
    assert [each["name"] for each in rest.json()] == ["First"]
    assert list(field_errors(await root.get(f"{LIST}?cursor=x"))) == ["cursor"]
