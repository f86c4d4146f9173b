"""GET and POST …/pinned-charts, GET, PUT and DELETE …/pinned-charts/{chart_id}."""

from typing import Any
from uuid import uuid4

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller, Json, created, environment_path, field_errors, flag_path, project_path
from tests.support.members import join

DEFAULTS = {
    "flag_id": None,
    "flag_key": None,
    "period": "day",
    "split": "result",
    "scale": "count",
    "compare_before": False,
    "compare_environment_id": None,
}
ANOTHER = {"if-match": '"1999"'}

INVALID: list[tuple[Json, str]] = [
    ({"name": " "}, "name"),
    ({"name": "n" * 256}, "name"),
    ({"environment_id": None}, "environment_id"),
    ({"environment_id": "production"}, "environment_id"),
    ({"environment_id": str(uuid4())}, "environment_id"),
    ({"flag_id": str(uuid4())}, "flag_id"),
    ({"flag_id": "new-checkout"}, "flag_id"),
    ({"period": "all"}, "period"),
    ({"period": None}, "period"),
    ({"split": "user"}, "split"),
    ({"split": "variant"}, "split"),
    ({"scale": "log"}, "scale"),
    ({"compare_before": "yes"}, "compare_before"),
    ({"compare_environment_id": "staging"}, "compare_environment_id"),
    ({"compare_environment_id": str(uuid4())}, "compare_environment_id"),
    ({"since": "2026-11-20T10:00:00Z"}, "since"),
]


@pytest.fixture
async def flag(ada: Caller, environment: Json) -> Json:
    """A flag of Ada's in production."""
    return await ada.create_flag(environment)


@pytest.fixture
async def staging(ada: Caller, project: Json) -> Json:
    """Another environment of the project."""
    return await ada.get_environment(project, "staging")


def path(project: Json, chart: Json | None = None) -> str:
    return f"{project_path(project)}/pinned-charts" + (f"/{chart['id']}" if chart else "")


async def pin(caller: Caller, environment: Json, name: str = "Checkout", **values: Any) -> Json:
    body = {"name": name, "environment_id": environment["id"], **values}
    return created(await caller.post(path({"id": environment["project_id"]}), json=body))


async def listed(caller: Caller, project: Json) -> list[Json]:
    found: list[Json] = (await caller.get(path(project))).json()
    return found


async def test_others_find_no_pinned_charts(
    client: Caller, ada: Caller, eve: Caller, project: Json, environment: Json
) -> None:
    chart = await pin(ada, environment)
    foreign = await eve.create_project()
    body = {"name": "Mine", "environment_id": environment["id"]}
    for caller, status in ((client, 401), (eve, 404)):
        assert (await caller.get(path(project))).status_code == status
        assert (await caller.get(path(project, chart))).status_code == status
        assert (await caller.post(path(project), json=body)).status_code == status
        assert (await caller.put(path(project, chart), json={"name": "Mine"})).status_code == status
        assert (await caller.delete(path(project, chart))).status_code == status
    for other in (path(foreign, chart), path(project, {"id": uuid4()}), path(project, {"id": "checkout"})):
        assert (await eve.get(other)).status_code == 404
        assert (await eve.put(other, json={"name": "Mine"})).status_code == 404
        assert (await eve.delete(other)).status_code == 404
    assert await listed(ada, project) == [chart]


async def test_an_environment_of_another_project_cannot_be_pinned_or_compared(
    ada: Caller, project: Json, environment: Json
) -> None:
    elsewhere = await ada.get_environment(await ada.create_project())
    for given, field in (
        ({"environment_id": elsewhere["id"]}, "environment_id"),
        ({"compare_environment_id": elsewhere["id"]}, "compare_environment_id"),
    ):
        body = {"name": "Checkout", "environment_id": environment["id"], **given}
        assert field_errors(await ada.post(path(project), json=body)) == {
            field: "is not an environment of this project"
        }
    assert await listed(ada, project) == []


async def test_whoever_may_change_flags_in_the_environment_pins_its_charts_and_all_members_see_them(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, project: Json, environment: Json, staging: Json
) -> None:
    chart = await pin(ada, environment)
    await join(flagstaff, project, eve, "viewer", {"staging": "editor"})
    assert await listed(eve, project) == [chart]
    for answer in (
        await eve.post(path(project), json={"name": "Mine", "environment_id": environment["id"]}),
        await eve.put(path(project, chart), json={"name": "Mine"}, headers=ANOTHER),
        await eve.delete(path(project, chart), headers=ANOTHER),
    ):
        assert (answer.status_code, answer.json()["permission"]) == (403, "flags:write")
    own = await pin(eve, staging, compare_environment_id=environment["id"])
    assert (await eve.delete(path(project, own))).status_code == 204


async def test_each_invalid_field_is_named_and_nothing_is_pinned(ada: Caller, project: Json, environment: Json) -> None:
    for given, field in INVALID:
        answer = await ada.post(path(project), json={"name": "Checkout", "environment_id": environment["id"], **given})
        assert list(field_errors(answer)) == [field], given
    assert await listed(ada, project) == []


async def test_fields_that_do_not_fit_together_are_refused_in_a_new_and_in_a_changed_chart(
    ada: Caller, project: Json, environment: Json, staging: Json, flag: Json
) -> None:
    chart = await pin(ada, environment)
    both = {"compare_before": True, "compare_environment_id": staging["id"]}
    for given, errors in (
        (both, {"compare_before": "must be false if compare_environment_id is given"}),
        (
            {"compare_environment_id": environment["id"]},
            {"compare_environment_id": "must be another environment than environment_id"},
        ),
        (
            {"split": "reason"},
            {"split": "must be result for a chart of all flags; give a flag_id to split its results"},
        ),
    ):
        body = {"name": "Checkout", "environment_id": environment["id"], **given}
        assert field_errors(await ada.post(path(project), json=body)) == errors
        assert field_errors(await ada.put(path(project, chart), json=given)) == errors
    in_staging = {"name": "Checkout", "environment_id": staging["id"], "flag_id": flag["id"]}
    assert field_errors(await ada.post(path(project), json=in_staging)) == {
        "flag_id": "is not a flag of the environment with environment_id"
    }
    assert await listed(ada, project) == [chart]


async def test_a_project_has_at_most_twelve(ada: Caller, project: Json, environment: Json) -> None:
    charts = [await pin(ada, environment, f"Chart {number}") for number in range(12)]
    answer = await ada.post(path(project), json={"name": "One more", "environment_id": environment["id"]})
    assert (answer.status_code, answer.json()["detail"]) == (
        409,
        "There are 12 pinned charts in the project, which is the maximum. Remove some first.",
    )
    assert await listed(ada, project) == charts
    await ada.delete(path(project, charts[0]))
    charts = [*charts[1:], await pin(ada, environment, "One more")]
    assert await listed(ada, project) == charts


async def test_a_chart_is_pinned_renamed_changed_and_removed_and_the_audit_trail_has_it(
    ada: Caller, project: Json, environment: Json, staging: Json, flag: Json
) -> None:
    plain = await pin(ada, environment, " All ")
    assert plain == {
        **DEFAULTS,
        "id": plain["id"],
        "project_id": project["id"],
        "name": "All",
        "environment_id": environment["id"],
        "created_at": plain["created_at"],
    }
    chart = await pin(
        ada,
        environment,
        flag_id=flag["id"],
        period="month",
        split="variant",
        scale="percent",
        compare_environment_id=staging["id"],
    )
    assert (chart["flag_key"], chart["split"], chart["compare_environment_id"]) == (
        flag["key"],
        "variant",
        staging["id"],
    )
    renamed = await ada.put(path(project, chart), json={**chart, "name": "Buy now"})
    assert renamed.json() == {**chart, "name": "Buy now"}
    assert "flagstaff-revision" not in renamed.headers  # no evaluation depends on it
    changed = (
        await ada.put(path(project, chart), json={"compare_environment_id": None, "compare_before": True})
    ).json()
    assert changed == {**chart, "name": "Buy now", "compare_environment_id": None, "compare_before": True}
    assert "flagstaff-change" not in (await ada.put(path(project, chart), json=changed)).headers
    assert (await ada.get(path(project, chart))).json() == changed
    assert await listed(ada, project) == [plain, changed]
    assert (await ada.delete(path(project, chart))).status_code == 204
    assert await listed(ada, project) == [plain]
    changes = (await ada.get(f"{project_path(project)}/changes?resource=pinned_chart")).json()["items"]
    assert [each["action"].partition(".")[2] for each in changes] == [
        "deleted",
        "updated",
        "updated",
        "created",
        "created",
    ]
    assert changes[2]["after"]["name"] == "Buy now"


async def test_the_second_of_two_people_gets_the_present_state(ada: Caller, project: Json, environment: Json) -> None:
    chart = await pin(ada, environment)
    read = await ada.get(path(project, chart))
    first = await ada.put(path(project, chart), json={"name": "One"}, headers={"if-match": read.headers["etag"]})
    second = await ada.put(path(project, chart), json={"name": "Two"}, headers={"if-match": read.headers["etag"]})
    assert (first.status_code, second.status_code, second.json()["current"]) == (200, 412, first.json())
    refused = await ada.delete(path(project, chart), headers={"if-match": read.headers["etag"]})
    assert refused.status_code == 412
    assert await listed(ada, project) == [first.json()]


async def test_pinned_charts_go_with_their_flag_and_their_environment_and_comparisons_with_theirs(
    ada: Caller, project: Json, environment: Json, staging: Json, flag: Json
) -> None:
    of_flag = await pin(ada, environment, flag_id=flag["id"])
    compared = await pin(ada, environment, compare_environment_id=staging["id"])
    in_staging = await pin(ada, staging)
    assert await listed(ada, project) == [of_flag, compared, in_staging]
    assert (await ada.delete(flag_path(flag))).status_code == 204
    assert await listed(ada, project) == [compared, in_staging]
    assert (await ada.delete(environment_path(staging))).status_code == 204
    assert await listed(ada, project) == [{**compared, "compare_environment_id": None}]
    assert (await ada.get(path(project, in_staging))).status_code == 404
