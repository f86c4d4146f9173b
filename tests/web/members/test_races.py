"""Roles that change while requests are carried out."""

import asyncio
from collections import Counter
from uuid import UUID

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.projects.members.members_store import delete_member
from flagstaff.projects.projects_store import find_project_for_update
from tests.support.api import Caller, Json, flag_path, project_path
from tests.support.members import join, member_path


@pytest.mark.both_databases
async def test_two_owners_who_demote_each_other_at_once_leave_one(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, project: Json
) -> None:
    for _ in range(4):
        await join(flagstaff, project, ada, "owner")
        await join(flagstaff, project, eve, "owner")
        answers = await asyncio.gather(
            ada.put(member_path(project, eve), json={"role": "viewer"}),
            eve.put(member_path(project, ada), json={"role": "viewer"}),
        )
        assert sorted(each.status_code for each in answers) == [200, 403]


@pytest.mark.both_databases
async def test_two_owners_who_leave_at_once_leave_one(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, project: Json
) -> None:
    await join(flagstaff, project, eve, "owner")
    answers = await asyncio.gather(*(each.delete(member_path(project, each)) for each in (ada, eve)))
    assert sorted(each.status_code for each in answers) == [204, 409]


async def test_a_role_that_is_lost_between_a_request_and_its_commit_writes_nothing(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, project: Json
) -> None:
    flag = await ada.create_flag(await ada.get_environment(project))
    await join(flagstaff, project, eve, "editor")
    async with flagstaff.database.transaction() as transaction:
        # A slow change of the role: it locks the project while Eve's toggle arrives.
        await find_project_for_update(transaction.connection, UUID(project["id"]))
        toggle = asyncio.create_task(eve.post(f"{flag_path(flag)}/toggle"))
        done, _ = await asyncio.wait([toggle], timeout=0.2)
        assert not done
        await delete_member(transaction.connection, UUID(project["id"]), UUID(eve.account["id"]))
    assert (await toggle).status_code == 404
    assert (await ada.get(flag_path(flag))).json()["enabled"] is True


@pytest.mark.both_databases
async def test_toggles_during_a_demotion_are_refused_or_before_it(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, project: Json
) -> None:
    flag = await ada.create_flag(await ada.get_environment(project))
    path = await join(flagstaff, project, eve, "editor")
    demotion, *toggles = await asyncio.gather(
        ada.put(path, json={"role": "viewer"}), *(eve.post(f"{flag_path(flag)}/toggle") for _ in range(8))
    )
    assert demotion.status_code == 200
    found = Counter(each.status_code for each in toggles)
    assert found.keys() <= {200, 403}
    changes = (await ada.get(f"{project_path(project)}/changes")).json()["items"]
    actions = [each["action"] for each in changes]
    assert "flag.toggled" not in actions[: actions.index("member.updated")]
    assert actions.count("flag.toggled") == found[200]
