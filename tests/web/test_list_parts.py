"""Lists in parts: `limit`, and the `Link` to the next part."""

import base64
import io
import json
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.flags.flags import PRIORITY_MAX, PRIORITY_MIN
from tests.support.api import Caller, Json, environment_path, field_errors, flag_path, project_path
from tests.support.builders import make_environment, make_flag, make_rule, store_all
from tests.support.holds import ask

Path = Callable[[Json], str]

LISTS = {
    "projects": lambda _: "/api/projects?",
    "environments": lambda flag: f"/api/projects/{flag['project_id']}/environments?",
    "flags": lambda flag: f"{flag_path(flag).rpartition('/')[0]}?",
    "flags of a project": lambda flag: f"/api/projects/{flag['project_id']}/flags?",
    "flags that differ": lambda flag: (
        f"/api/projects/{flag['project_id']}/compare?from={flag['environment_id']}&to={flag['canary_id']}&"
    ),
    "rules": lambda flag: f"{flag_path(flag)}/rules?",
    "rules of an environment": lambda flag: f"{flag_path(flag).partition('/flags/')[0]}/rules?",
}
"""Their addresses, to which query parameters can be added."""
each_list = pytest.mark.parametrize("path_of", LISTS.values(), ids=LISTS)


@pytest.fixture
async def flag(ada: Caller, project: Json, environment: Json) -> Json:
    """A flag, which appears in one list for each resource."""
    for number in range(3):
        await ada.create_project()
        canary = await ada.create_environment(project, key=f"canary-{number}")
        other = await ada.create_flag(environment, key=f"flag-{number}")
        await ada.create_rule(other)
    for priority in (0, PRIORITY_MAX, 0, PRIORITY_MIN):
        await ada.create_rule(other, priority=priority)
    return {**other, "canary_id": canary["id"]}


def encoded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode()


@each_list
async def test_a_bad_limit_cursor_or_parameter_is_refused(ada: Caller, flag: Json, path_of: Path) -> None:
    path = path_of(flag)
    for limit in ("0", "-1", "1001", "1.5", "x", ""):
        assert "limit" in field_errors(await ada.get(f"{path}limit={limit}")), limit
    moment, day = "2026-11-20T10:00:00Z", "2026-11-20T10:00:00"
    positions: tuple[Any, ...] = (
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
        ["\0"],
    )
    for position in positions:
        assert "cursor" in field_errors(await ada.get(f"{path}cursor={encoded(position)}")), position
    for cursor in ("", "x", "====", "é", "W" * 4_000, "eyJ4", encoded([[[[]]]] * 50), "%00"):
        assert "cursor" in field_errors(await ada.get(f"{path}limit=2&cursor={cursor}")), cursor
    assert "did you mean limit?" in field_errors(await ada.get(f"{path}limt=1"))["limt"]


@pytest.mark.each_case_on_both_databases
@pytest.mark.both_databases
@each_list
async def test_the_parts_make_up_the_whole_in_its_order(ada: Caller, flag: Json, path_of: Path) -> None:
    whole = (await ada.get(path_of(flag))).json()
    assert len(whole) >= 3
    for limit in (1, 2, 1000):
        listed: list[Json] = []
        answer = await ada.get(f"{path_of(flag)}limit={limit}")
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


@pytest.mark.both_databases
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


@pytest.fixture
async def many_flags(flagstaff: Flagstaff, environment: Json) -> list[str]:
    """Return the keys of more flags, with a rule each, than are read at once, newest first."""
    home = make_environment(UUID(environment["project_id"]), id=UUID(environment["id"]))
    flags = [make_flag(home, key=f"flag-{number}", description="x" * 1_000) for number in range(501)]
    await store_all(flagstaff.database, *flags, *map(make_rule, flags))
    flags.sort(key=lambda flag: (flag.created_at, flag.id), reverse=True)
    return [flag.key for flag in flags]


async def test_a_long_list_is_whole(ada: Caller, environment: Json, many_flags: list[str]) -> None:
    answer = await ada.get(f"{environment_path(environment)}/flags")
    assert [flag["key"] for flag in answer.json()] == many_flags
    rules = (await ada.get(f"{environment_path(environment)}/rules")).json()
    assert [rule["flag_id"] for rule in rules] == sorted(flag["id"] for flag in answer.json())


async def test_a_long_list_that_is_deleted_while_it_is_sent_ends_without_its_end(
    flagstaff: Flagstaff, ada: Caller, environment: Json, many_flags: list[str], log_stream: io.StringIO
) -> None:
    path = f"{environment_path(environment)}/flags"
    whole = len((await ada.get(path)).content)
    sent = 0

    async def delete_after_the_first_part() -> None:
        nonlocal sent
        sent += 1
        if sent == 2:
            assert (await ada.delete(environment_path(environment))).status_code == 204

    assert ada.token
    status, length = await ask(flagstaff.edge.asgi, "GET", path, token=ada.token, linger=delete_after_the_first_part)

    assert status == 200
    assert 0 < length < whole // 2
    (entry,) = (line for line in log_stream.getvalue().splitlines() if "response_cut_short" in line)
    assert path in entry
    assert "request_failed" not in log_stream.getvalue()
