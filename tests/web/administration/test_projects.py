"""/api/admin/projects and /api/admin/memberships: what administrators see of projects, and how they join them."""

from uuid import uuid4

import pytest

from tests.support.api import Caller, field_errors, flag_path, project_path

pytestmark = pytest.mark.both_databases


async def test_an_administrator_sees_no_flags_until_it_joins_which_is_recorded(root: Caller, eve: Caller) -> None:
    shop = await eve.create_project(name="Secret shop")
    flag = await eve.create_flag(await eve.get_environment(shop))
    listed = (await root.get("/api/admin/projects?limit=1")).json()
    assert listed == [
        {
            "id": shop["id"],
            "name": "Secret shop",
            "owner_id": eve.account["id"],
            "owner_email": "eve@example.com",
            "role": None,
            "created_at": "2026-11-20T10:00:00.000000Z",
        }
    ]
    for path in (project_path(shop), flag_path(flag), f"{project_path(shop)}/members"):
        assert (await root.get(path)).status_code == 404
    for body, status in (
        ({"project_id": str(uuid4()), "role": "viewer"}, 404),
        ({"project_id": "x", "role": "viewer"}, 404),
        ({"project_id": shop["id"], "role": "god"}, 400),
        ({"project_id": shop["id"]}, 400),
    ):
        assert (await root.post("/api/admin/memberships", json=body)).status_code == status
    body = {"project_id": shop["id"], "role": "viewer"}
    assert (await root.post("/api/admin/memberships", json=body)).status_code == 204
    assert (await root.post("/api/admin/memberships", json=body)).status_code == 409
    assert [each["role"] for each in (await root.get("/api/admin/projects")).json()] == ["viewer"]
    assert (await root.get(flag_path(flag))).status_code == 200
    assert (await root.post(f"{flag_path(flag)}/toggle")).status_code == 403
    item = (await eve.get(f"{project_path(shop)}/changes?action=member.joined")).json()["items"][0]
    assert (item["actor"]["email"], item["after"]["role"]) == ("root@example.com", "viewer")


async def test_projects_are_searched_by_name_and_listed_in_parts(root: Caller, eve: Caller) -> None:
    for name in ("Web shop", "Shopping list", "100% sure", "a_b"):
        await eve.create_project(name=name)
    for search, found in (("SHOP", 2), ("web s", 1), ("%", 1), ("_", 1), ("\\", 0), ("", 4)):
        assert len((await root.get("/api/admin/projects", params={"name": search})).json()) == found, search
    first = await root.get("/api/admin/projects", params={"name": "shop", "limit": "1"})
    assert [each["name"] for each in first.json()] == ["Shopping list"]
    rest = await root.get(f"/api/admin/projects{first.headers['link'].partition('>')[0][1:]}")
    assert [each["name"] for each in rest.json()] == ["Web shop"]
    for query, field in (("limit=0", "limit"), ("name=%00", "name"), ("email=x", "email")):
        assert list(field_errors(await root.get(f"/api/admin/projects?{query}"))) == [field]
