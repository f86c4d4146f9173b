"""Lists in parts: `limit`, and the `Link` to the next part."""

import base64
import json
from collections.abc import Callable
from uuid import uuid4

import httpx
import pytest

from flagstaff.domain.flags import PRIORITY_MAX, PRIORITY_MIN
from tests.support.api import Caller, Json, environment_path, field_errors, flag_path, project_path

Path = Callable[[Json], str]

LISTS = {
    "projects": lambda _: "/api/projects",
    "environments": lambda flag: f"/api/projects/{flag['project_id']}/environments",
    "flags": lambda flag: flag_path(flag).rpartition("/")[0],
    "rules": lambda flag: f"{flag_path(flag)}/rules",
    "rules of an environment": lambda flag: f"{flag_path(flag).partition('/flags/')[0]}/rules",
}
each_list = pytest.mark.parametrize("path_of", LISTS.values(), ids=LISTS)


@pytest.fixture
async def flag(ada: Caller, project: Json, environment: Json) -> Json:
    """One list of several, since every resource has one."""
    for number in range(3):
        await ada.create_project()
        await ada.create_environment(project, key=f"canary-{number}")
        other = await ada.create_flag(environment, key=f"flag-{number}")
        await ada.create_rule(other)
    for priority in (0, PRIORITY_MAX, 0, PRIORITY_MIN):
        await ada.create_rule(other, priority=priority)
    return other


def encoded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode()


@each_list
async def test_a_bad_limit_cursor_or_parameter_is_refused(ada: Caller, flag: Json, path_of: Path) -> None:
    path = path_of(flag)
    for limit in ("0", "-1", "1001", "1.5", "x", ""):
        assert "limit" in field_errors(await ada.get(f"{path}?limit={limit}")), limit
    moment, day = "2026-11-20T10:00:00Z", "2026-11-20T10:00:00"
    for position in (
        [],
        None,
        {},
        [moment],
        [day, str(uuid4())],
        [moment, "x"],
        [2**70, moment, str(uuid4())],
        [2**63, moment, str(uuid4())],
        [str(uuid4()), -(2**63), moment, str(uuid4())],
        ["0001-01-01T00:00:00", str(uuid4())],
    ):
        assert "cursor" in field_errors(await ada.get(f"{path}?cursor={encoded(position)}")), position
    for cursor in ("", "x", "====", "é", "W" * 4_000, "eyJ4", encoded([[[[]]]] * 50), "%00"):
        assert "cursor" in field_errors(await ada.get(f"{path}?limit=2&cursor={cursor}")), cursor
    assert "did you mean limit?" in field_errors(await ada.get(f"{path}?limt=1"))["limt"]


@each_list
async def test_the_parts_make_up_the_whole_in_its_order(ada: Caller, flag: Json, path_of: Path) -> None:
    whole = (await ada.get(path_of(flag))).json()
    assert len(whole) >= 3
    for limit in (1, 2, 1000):
        listed: list[Json] = []
        answer = await ada.get(f"{path_of(flag)}?limit={limit}")
        listed += answer.json()
        while "next" in answer.links:
            assert len(answer.json()) == limit
            answer = await ada.get(str(answer.url.join(answer.links["next"]["url"])))
            listed += answer.json()
        assert listed == whole


async def test_a_cursor_without_a_limit_gives_all_the_rest(ada: Caller, flag: Json) -> None:
    whole = (await ada.get("/api/projects")).json()
    answer = await ada.get("/api/projects?limit=1")
    cursor = httpx.URL(answer.links["next"]["url"]).params["cursor"]
    assert (await ada.get("/api/projects", params={"cursor": cursor})).json() == whole[1:]


async def test_concurrent_creations_and_deletions_do_not_shift_the_next_part(ada: Caller, environment: Json) -> None:
    flags = [await ada.create_flag(environment, key=f"flag-{number}") for number in range(4)]
    path = f"{environment_path(environment)}/flags"
    answer = await ada.get(f"{path}?limit=2")
    assert answer.json() == [flags[3], flags[2]]
    await ada.create_flag(environment, key="newer")
    await ada.delete(flag_path(flags[2]))

    following = await ada.get(str(answer.url.join(answer.links["next"]["url"])))

    assert following.json() == [flags[1], flags[0]]
    assert not following.links


async def test_a_cursor_leads_to_nobody_elses(ada: Caller, eve: Caller, flag: Json) -> None:
    answer = await ada.get("/api/projects?limit=1")
    assert (await eve.get(str(answer.url.join(answer.links["next"]["url"])))).json() == []
    assert (await eve.get(f"{project_path({'id': flag['project_id']})}/environments?limit=1")).status_code == 404
