"""GET /health, /ready and /metrics: for load balancers and monitoring, which have no token."""

import pytest
import sqlalchemy as sa
from prometheus_client.parser import text_string_to_metric_families

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller


@pytest.mark.both_databases
async def test_a_database_of_another_version_is_not_ready(client: Caller, flagstaff: Flagstaff) -> None:
    async with flagstaff.database.transaction() as transaction:
        await transaction.connection.execute(
            sa.text("UPDATE alembic_version SET version_num = '9999', oldest_supported = '9998'")
        )

    answer = await client.get("/ready")

    assert answer.status_code == 503
    assert "flagstaff migrate" in answer.json()["detail"]
    assert (await client.get("/health")).status_code == 200


async def test_every_task_is_up_and_none_was_restarted(client: Caller, flagstaff: Flagstaff) -> None:
    figures = {
        (sample.name, sample.labels["task"]): sample.value
        for family in text_string_to_metric_families((await client.get("/metrics")).text)
        for sample in family.samples
        if sample.name in ("flagstaff_task_up", "flagstaff_task_restarts_total")
    }

    tasks = {
        "recorder-collect",
        "recorder-write",
        "snapshot-retry",
        "snapshot-memory",
        "environment-removal",
        "snapshot-unload",
        "history-roll-up",
        "applications-write",
    }
    tasks |= {"stream-keep-alive", "applications-write", "followers-check"}
    tasks |= {"history-purge", "idempotency-purge", "account-purge", "last-seen", "clock", "disk", "history-space"}
    tasks |= {"signing-key", "erasures", "erasures-purge", "trail-purge", "deleted-accounts", "watching"}
    tasks.add("trail-orders")
    tasks |= {"webhooks", "webhooks-purge", "notices", "notices-purge", "notifications", "stale-reminders"}
    tasks |= {"callers-write", "callers-streams", "callers-purge"}
    tasks |= {"events-collect", "events-write", "guards", "releases", "releases-purge", "thresholds"}
    tasks |= {"feed"} if flagstaff.database.is_postgresql else {"checkpoint"}
    assert figures == {
        **{("flagstaff_task_up", task): 1 for task in tasks},
        **{("flagstaff_task_restarts_total", task): 0 for task in tasks},
    }


@pytest.mark.parametrize("path", ["/health", "/ready", "/metrics"])
async def test_a_large_body_is_refused(client: Caller, path: str) -> None:
    answer = await client.request("GET", path, content=b"a" * (16 * 1024 + 1))

    assert answer.status_code == 413


async def test_it_is_alive(client: Caller) -> None:
    answer = await client.get("/health")

    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


async def test_it_is_ready(client: Caller) -> None:
    answer = await client.get("/ready")

    assert (answer.status_code, answer.json()) == (200, {"status": "ready"})


async def test_the_figures_are_prometheus_text_and_name_routes_rather_than_addresses(
    ada: Caller, client: Caller
) -> None:
    project = await ada.create_project()
    await ada.get(f"/api/projects/{project['id']}")
    await ada.get("/nowhere/secret")

    answer = await client.get("/metrics")

    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain")
    assert list(text_string_to_metric_families(answer.text))
    assert "/api/projects/{project_id}" in answer.text
    assert project["id"] not in answer.text
    assert "secret" not in answer.text


async def test_probes_may_ask_for_the_head_alone(client: Caller) -> None:
    assert (await client.head("/health")).status_code == 200
    assert (await client.head("/ready")).status_code == 200
