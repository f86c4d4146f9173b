"""GET …/favourites, PUT and DELETE …/favourites/{flag_key}."""

from uuid import UUID

import sqlalchemy as sa

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from flagstaff.views.favourites import FAVOURITES_MAX
from tests.support.api import Caller, Json, project_path
from tests.support.members import join


def path(project: Json, key: str = "") -> str:
    return f"{project_path(project)}/favourites" + (f"/{key}" if key else "")


async def listed(caller: Caller, project: Json) -> list[str]:
    found: list[str] = (await caller.get(path(project))).json()
    return found


async def test_others_have_no_favourites_in_the_project(
    client: Caller, ada: Caller, eve: Caller, project: Json, environment: Json
) -> None:
    flag = await ada.create_flag(environment)
    for caller, status in ((client, 401), (eve, 404)):
        assert (await caller.get(path(project))).status_code == status
        assert (await caller.put(path(project, flag["key"]))).status_code == status
        assert (await caller.delete(path(project, flag["key"]))).status_code == status


async def test_only_keys_of_flags_become_favourites(ada: Caller, project: Json) -> None:
    other = await ada.create_project()
    await ada.create_flag(await ada.get_environment(other), key="elsewhere")
    for key in ("missing", "elsewhere", "No Key", "k" * 1000, "%00"):
        assert (await ada.put(path(project, key))).status_code == 404, key
    assert (await ada.delete(path(project, "missing"))).status_code == 204
    assert (await ada.delete(path(project, "%00"))).status_code == 404
    assert await listed(ada, project) == []


async def test_there_are_so_many_favourites_at_most(
    flagstaff: Flagstaff, ada: Caller, project: Json, environment: Json
) -> None:
    flag, other = [await ada.create_flag(environment, key=key) for key in ("one", "two")]
    await ada.put(path(project, "one"))
    async with flagstaff.database.transaction() as transaction:
        row = (await transaction.connection.execute(sa.select(tables.favourites))).mappings().one()
        rows = [{**row, "flag_key": f"k{number}"} for number in range(FAVOURITES_MAX - 1)]
        await transaction.connection.execute(tables.favourites.insert(), rows)
    assert row["account_id"] == UUID(ada.account["id"])
    assert (await ada.put(path(project, other["key"]))).status_code == 409
    assert (await ada.put(path(project, flag["key"]))).status_code == 204


async def test_a_viewer_has_favourites_of_their_own_in_every_environment(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, project: Json
) -> None:
    await ada.create_flag(await ada.get_environment(project, "staging"), key="beta")
    await ada.create_flag(await ada.get_environment(project), key="alpha")
    await join(flagstaff, project, eve, "viewer")
    before = (await ada.get(f"{project_path(project)}/changes")).json()
    for key in ("beta", "alpha", "beta"):
        answer = await eve.put(path(project, key))
        assert (answer.status_code, answer.content) == (204, b"")
    assert (await listed(eve, project), await listed(ada, project)) == (["alpha", "beta"], [])
    for _ in range(2):
        assert (await eve.delete(path(project, "beta"))).status_code == 204
    assert await listed(eve, project) == ["alpha"]
    assert (await ada.get(f"{project_path(project)}/changes")).json() == before
