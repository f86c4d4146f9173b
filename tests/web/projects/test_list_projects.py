"""GET /api/projects."""

import pytest

from tests.support.api import Caller
from tests.support.clock import Clock


async def test_listing_requires_a_token(client: Caller) -> None:
    assert (await client.get("/api/projects")).status_code == 401


async def test_projects_of_others_are_not_listed(ada: Caller, eve: Caller) -> None:
    await ada.create_project()

    assert (await eve.get("/api/projects")).json() == []


@pytest.mark.both_databases
async def test_all_projects_are_listed_whole_and_newest_first(ada: Caller, clock: Clock) -> None:
    projects = []
    for number in range(6):
        projects.append(await ada.create_project(name=f"Project {number}"))
        if number % 2:  # of two created in the same microsecond the later also comes first
            clock.advance(seconds=1)

    answer = await ada.get("/api/projects")

    assert answer.status_code == 200
    assert answer.json() == projects[::-1]
