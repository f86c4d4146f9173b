"""Metrics of a project: created, listed, changed and deleted."""

from typing import Any
from uuid import uuid4

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import NO_IDS, Caller, Json, created, field_errors, project_path
from tests.support.members import join
from tests.support.releases import create_metric, create_release
from tests.web.conftest import SignUp

BODY = {"key": "errors", "name": "Checkout errors", "kind": "binary", "better": "down"}


@pytest.fixture
def path(project: Json) -> str:
    """The path of the project's metrics."""
    return f"{project_path(project)}/metrics"


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"key": "Errors"}, "key"),
        ({"key": ""}, "key"),
        ({"key": "e" * 129}, "key"),
        ({"name": " "}, "name"),
        ({"kind": "ratio"}, "kind"),
        ({"better": "sideways"}, "better"),
        ({"unit": ""}, "unit"),
        ({"unit": "x" * 21}, "unit"),
        ({"unit": "\0"}, "unit"),
        ({"description": "x" * 10_001}, "description"),
        ({"colour": "red"}, "colour"),
    ],
)
async def test_an_invalid_metric_is_refused_by_field(ada: Caller, path: str, values: Json, field: str) -> None:
    assert list(field_errors(await ada.post(path, json={**BODY, **values}))) == [field]
    assert (await ada.get(path)).json() == []


@pytest.mark.parametrize("field", ["key", "name", "kind", "better"])
async def test_a_field_that_is_needed_is_named(ada: Caller, path: str, field: str) -> None:
    body = {name: value for name, value in BODY.items() if name != field}
    assert list(field_errors(await ada.post(path, json=body))) == [field]


async def test_a_metric_of_somebody_else_is_not_found(ada: Caller, eve: Caller, project: Json, path: str) -> None:
    metric = await create_metric(ada, project)
    for caller, where in ((eve, path), *((ada, f"/api/projects/{each}/metrics") for each in (uuid4(), *NO_IDS))):
        assert (await caller.get(where)).status_code == 404
        assert (await caller.get(f"{where}/{metric['id']}")).status_code == 404
        assert (await caller.put(f"{where}/{metric['id']}", json={"name": "Mine"})).status_code == 404
        assert (await caller.delete(f"{where}/{metric['id']}")).status_code == 404
    assert (await ada.get(f"{path}/{uuid4()}")).status_code == 404


async def test_a_key_is_used_once_in_a_project(ada: Caller, project: Json, path: str) -> None:
    await create_metric(ada, project)
    answer = await ada.post(path, json=BODY)
    assert (answer.status_code, answer.json()["detail"]) == (
        409,
        "The project already has a metric with the key errors.",
    )
    await create_metric(ada, await ada.create_project())


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_MAX_METRICS_PER_PROJECT": "1"}])
async def test_a_project_has_room_for_so_many_metrics(ada: Caller, project: Json, path: str) -> None:
    await create_metric(ada, project)
    answer = await ada.post(path, json={**BODY, "key": "another"})
    assert answer.status_code == 409
    assert "FLAGSTAFF_MAX_METRICS_PER_PROJECT allows 1" in answer.json()["detail"]


async def test_a_metric_is_created_changed_and_deleted(ada: Caller, project: Json, path: str) -> None:
    metric = created(await ada.post(path, json={**BODY, "unit": " ms ", "description": "All of them."}))
    assert metric == {
        "id": metric["id"],
        "project_id": project["id"],
        **BODY,
        "description": "All of them.",
        "unit": "ms",
        "created_at": metric["created_at"],
        "updated_at": metric["created_at"],
    }
    changed = await ada.put(f"{path}/{metric['id']}", json={"name": "Errors", "better": "up", "unit": None})
    assert changed.json() == {**metric, "name": "Errors", "better": "up", "unit": None} | {
        "updated_at": changed.json()["updated_at"]
    }
    same = await ada.put(f"{path}/{metric['id']}", json={**changed.json()})
    assert same.json() == changed.json()
    assert (await ada.get(path)).json() == [changed.json()]
    assert (await ada.delete(f"{path}/{metric['id']}")).status_code == 204
    assert (await ada.get(path)).json() == []


@pytest.mark.parametrize(("field", "value"), [("key", "another"), ("kind", "count")])
async def test_the_key_and_the_kind_never_change(ada: Caller, project: Json, path: str, field: str, value: Any) -> None:
    metric = await create_metric(ada, project)
    assert list(field_errors(await ada.put(f"{path}/{metric['id']}", json={field: value}))) == [field]


async def test_a_metric_that_is_watched_is_not_deleted_and_keeps_its_direction(
    ada: Caller, project: Json, environment: Json, path: str
) -> None:
    metric = await create_metric(ada, project)
    flag = await ada.create_flag(environment, enabled=False)
    step = {"after_seconds": 3600, "changes": {"enabled": True, "rollout_percentage": 50}}
    release = await create_release(ada, flag, step, guards=[{"metric": "errors", "action": "notify"}])
    for answer in (
        await ada.delete(f"{path}/{metric['id']}"),
        await ada.put(f"{path}/{metric['id']}", json={"better": "up"}),
    ):
        assert answer.status_code == 409
        assert "Releases of these flags watch the metric errors: new-checkout." in answer.json()["detail"]
    assert (await ada.put(f"{path}/{metric['id']}", json={"name": "Errors"})).status_code == 200
    releases = f"{environment_of(flag)}/flags/{flag['id']}/releases"
    await ada.post(f"{releases}/{release['id']}/cancel")
    assert (await ada.delete(f"{path}/{metric['id']}")).status_code == 204


def environment_of(flag: Json) -> str:
    """The path of a flag's environment."""
    return f"/api/projects/{flag['project_id']}/environments/{flag['environment_id']}"


async def test_a_viewer_reads_metrics_and_changes_none(
    ada: Caller, project: Json, path: str, sign_up: SignUp, flagstaff: Flagstaff
) -> None:
    grace = await sign_up("grace")
    await join(flagstaff, project, grace, "viewer")
    metric = await create_metric(ada, project)
    assert (await grace.get(path)).json() == [metric]
    assert (await grace.post(path, json=BODY)).json()["permission"] == "segments:write"
