"""GET /api/projects/{project_id}/changes.csv."""

import csv
import io
import json
from contextlib import AsyncExitStack
from typing import Any
from uuid import UUID

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller, Json, environment_path, field_errors, flag_path, project_path
from tests.support.builders import make_environment, make_flag, store_all
from tests.support.clock import Clock
from tests.support.tokens import issue
from tests.web.changes.test_list_project_changes import do_everything, listed


async def exported(caller: Caller, project: Json, **parameters: Any) -> list[dict[str, str]]:
    answer = await caller.get(f"{project_path(project)}/changes.csv", params=parameters)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"] == 'attachment; filename="changes.csv"'
    return list(csv.DictReader(io.StringIO(answer.text, newline="")))


async def test_it_needs_a_token(client: Caller, project: Json) -> None:
    assert (await client.get(f"{project_path(project)}/changes.csv")).status_code == 401


async def test_another_accounts_project_is_not_found(eve: Caller, project: Json) -> None:
    assert (await eve.get(f"{project_path(project)}/changes.csv")).status_code == 404


async def test_an_invalid_filter_is_refused_by_name(ada: Caller, project: Json) -> None:
    for query, field in (("action=flag.toggle", "action"), ("since=now", "since"), ("limit=5", "limit")):
        assert list(field_errors(await ada.get(f"{project_path(project)}/changes.csv?{query}"))) == [field]


@pytest.mark.each_case_on_both_databases
@pytest.mark.both_databases
@pytest.mark.parametrize(
    "parameters", [{}, {"flag_key": "new-checkout"}, {"environment": "canary"}, {"resource": "rule"}]
)
async def test_it_has_what_the_list_has_with_the_same_filters(
    ada: Caller, project: Json, parameters: dict[str, str]
) -> None:
    await do_everything(ada, project)
    rows, items = await exported(ada, project, **parameters), await listed(ada, project, **parameters)
    assert [row["id"] for row in rows] == [item["id"] for item in items]
    for row, item in zip(rows, items, strict=True):
        assert (row["at"], row["action"], row["actor"]) == (item["at"], item["action"], item["actor"]["email"])
        assert (row["flag_key"] or None, row["environment_id"] or None) == (item["flag_key"], item["environment_id"])
        for name in ("before", "after"):
            assert (json.loads(row[name]) if row[name] else None) == item[name]
        assert (row["batch_id"] or None) == (item["batch"] and item["batch"]["id"])


async def test_times_bound_it(ada: Caller, project: Json, environment: Json, clock: Clock) -> None:
    flag = await ada.create_flag(environment)
    clock.advance(hours=1)
    await ada.post(f"{flag_path(flag)}/toggle")
    (row,) = await exported(ada, project, since="2026-11-20T11:00:00Z")
    assert (row["action"], row["at"], row["environment"]) == (
        "flag.toggled",
        "2026-11-20T11:00:00.000000Z",
        "production",
    )
    assert await exported(ada, project, since="2026-11-20T11:00:01Z") == []


@pytest.mark.both_databases
async def test_more_changes_than_a_page_has_are_exported_once_each(
    flagstaff: Flagstaff, ada: Caller, project: Json, environment: Json
) -> None:
    home = make_environment(UUID(project["id"]), id=UUID(environment["id"]))
    flags = [make_flag(home, key=f"flag-{number:03}") for number in range(105)]
    await store_all(flagstaff.database, *flags)
    for action in ("disable", "enable"):
        body = {"action": action, "flags": [str(flag.id) for flag in flags]}
        assert (await ada.post(f"{environment_path(environment)}/bulk-actions", json=body)).status_code == 200
    rows = await exported(ada, project, action="flag.toggled")
    assert [row["flag_key"] for row in rows] == [flag.key for flag in reversed(flags)] * 2
    assert [json.loads(row["after"])["enabled"] for row in rows] == [True] * 105 + [False] * 105


@pytest.mark.both_databases
async def test_no_cell_is_a_formula_to_a_spreadsheet_and_each_keeps_its_text(
    flagstaff: Flagstaff, callers: AsyncExitStack, ada: Caller, project: Json
) -> None:
    names = ["=1+1", "+1", "-1", "@SUM(A1)", 'a"b,c', '=HYPERLINK("x")', "\uff1d1+1", "\uff0b1", "\uff0d1", "\uff20A1"]
    for number, name in enumerate(names):
        path = f"{project_path(project)}/tokens"
        machine = await issue(flagstaff, callers, path, ada, "environments:write", name=name)
        await machine.create_environment(project, key=f"e{number}")
    rows = await exported(ada, project, action="environment.created", since="2026-11-20T00:00:00Z")
    assert not [cell for row in rows for cell in row.values() if cell.startswith(tuple("=+-@\uff1d\uff0b\uff0d\uff20"))]
    assert [row["token"].removeprefix("'") for row in rows if row["token"]] == names[::-1]
