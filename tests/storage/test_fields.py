"""An update writes each field of a resource, or the exception is named here."""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import replace
from typing import Any

from flagstaff.database.database import Connection, Database
from flagstaff.flags import flags_store
from flagstaff.flags.targeting import rules_store, segments_store
from flagstaff.hooks import webhooks_store
from flagstaff.metrics import metrics_store
from flagstaff.projects import environments_store, projects_store, sdk_keys_store
from tests.storage.conftest import Stored
from tests.support.builders import make_rule, make_sdk_key, make_segment, store_all
from tests.support.events_page import RESOURCES
from tests.support.fields import altered, field_names

NEVER = {"id", "project_id", "environment_id", "flag_id", "key", "created_at"}
Read = Callable[[Connection], Awaitable[Any]]


async def update(database: Database, write: Callable[[Connection, Any], Awaitable[None]], resource: Any) -> None:
    async with database.transaction() as transaction:
        await write(transaction.connection, resource)


async def require_each_field_written(
    database: Database,
    resource: Any,
    read: Read,
    write: Callable[[Connection, Any], Awaitable[None]],
    fixed: Collection[str] = (),
) -> None:
    """Require that an update writes each field that can change, and no other."""
    for name in field_names(type(resource)):
        changed = altered(resource, name)
        await update(database, write, replace(changed, id=resource.id))
        async with database.read() as connection:
            found = await read(connection)
        assert found == (resource if name in NEVER.union(fixed) else changed), name
        await update(database, write, resource)


async def test_an_update_of_a_flag_writes_each_field(database: Database, stored: Stored) -> None:
    flag = stored.flag
    await require_each_field_written(
        database,
        flag,
        lambda connection: flags_store.get_flag(connection, flag.project_id, flag.environment_id, flag.id),
        flags_store.update_flag,
    )


async def test_an_update_of_a_rule_writes_each_field(database: Database, stored: Stored) -> None:
    rule = make_rule(stored.flag)
    await store_all(database, rule)
    await require_each_field_written(
        database,
        rule,
        lambda connection: rules_store.get_rule(connection, rule.flag_id, rule.id),
        rules_store.update_rule,
    )


async def test_an_update_of_a_segment_writes_each_field(database: Database, stored: Stored) -> None:
    segment = make_segment(stored.project.id)
    await store_all(database, segment)
    await require_each_field_written(
        database,
        segment,
        lambda connection: segments_store.get_segment(connection, segment.project_id, segment.id),
        segments_store.update_segment,
    )


async def test_an_update_of_a_metric_writes_each_field_but_its_kind(database: Database, stored: Stored) -> None:
    metric = replace(RESOURCES["metric"], project_id=stored.project.id)
    await update(database, metrics_store.create_metric, metric)
    await require_each_field_written(
        database,
        metric,
        lambda connection: metrics_store.get_metric(connection, metric.project_id, metric.id),
        metrics_store.update_metric,
        fixed=["kind"],
    )


async def test_an_update_of_a_project_writes_each_field_but_its_owner(database: Database, stored: Stored) -> None:
    await require_each_field_written(
        database,
        stored.project,
        lambda connection: projects_store.find_project(connection, stored.project.id),
        projects_store.update_project,
        fixed=["owner_id"],
    )


async def test_an_update_of_an_environment_writes_each_field_but_its_place(database: Database, stored: Stored) -> None:
    environment = stored.environment
    await require_each_field_written(
        database,
        environment,
        lambda connection: environments_store.get_environment(connection, stored.project.id, environment.id),
        environments_store.update_environment,
        fixed=["position"],
    )


async def test_an_update_of_a_webhook_writes_each_field(database: Database, stored: Stored) -> None:
    webhook = replace(RESOURCES["webhook"], project_id=stored.project.id)
    async with database.transaction() as transaction:
        await webhooks_store.create_webhook(transaction.connection, webhook, b"")
    await require_each_field_written(
        database,
        webhook,
        lambda connection: webhooks_store.find_webhook(connection, webhook.id),
        webhooks_store.update_webhook,
    )


async def test_an_update_of_an_sdk_key_writes_its_name_and_its_origins(database: Database, stored: Stored) -> None:
    key = make_sdk_key(stored.environment, stored.account)
    async with database.transaction() as transaction:
        await sdk_keys_store.create_key(transaction.connection, key, b"")
    await require_each_field_written(
        database,
        key,
        lambda connection: sdk_keys_store.get_key(connection, stored.project.id, key.id),
        sdk_keys_store.update_key,
        fixed=set(field_names(type(key))) - {"name", "allowed_origins"},
    )
