"""kill -9 while an environment is built that nobody sees yet, or is removed that nobody sees any more."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from uuid import UUID

import httpx
import sqlalchemy as sa

from flagstaff.database import tables
from flagstaff.database.database import Database
from flagstaff.flags import flags_store
from flagstaff.flags.targeting import rules_store
from flagstaff.projects import environments_store
from tests.support.api import Json, created, environment_path, project_path
from tests.support.builders import AT, make_flag, make_rule
from tests.support.remote import RemoteCaller
from tests.support.server import ServerProcess
from tests.support.stores import Store

FLAGS = 1_500
_columns, _flags = tables.environments.c, tables.flags.c
_hidden = sa.select(_columns.id).where(_columns.project_id.is_(None))
_hidden_flags = (
    sa.select(sa.func.count()).select_from(tables.flags.join(tables.environments)).where(_columns.project_id.is_(None))
)


async def test_what_a_killed_process_has_built_is_removed_and_was_never_seen(store: Store) -> None:
    database = Database(store.database_url, store.data_directory)
    async with ServerProcess(store) as server:
        async with RemoteCaller(server.url) as caller:
            await caller.sign_up()
            project, environment = await filled(caller, database)
            changes = await caller.get(f"{project_path(project)}/changes")
            under_way = asyncio.create_task(clone(caller, environment))
            assert await until(database, _hidden_flags, lambda count: count > 0) < FLAGS
            await server.kill()
            with suppress(httpx.TransportError):
                await under_way
        (hidden,) = await ids(database)
        await let_time_pass(database)
        await server.start()
        async with RemoteCaller(server.url) as caller:
            await caller.log_in()
            listed = (await caller.get(f"{project_path(project)}/environments")).json()
            assert [each["key"] for each in listed] == ["production", "staging"]
            await until(database, sa.select(sa.func.count()).select_from(_hidden.subquery()), lambda count: count == 0)
            for table in (tables.flags, tables.changes):
                of_it = sa.select(sa.func.count()).select_from(table).where(table.c.environment_id == hidden)
                assert await count_of(database, of_it) == 0
            assert (await caller.get(f"{project_path(project)}/changes")).json() == changes.json()
            canary = created(await clone(caller, environment))
            assert len((await caller.get(f"{environment_path(canary)}/flags")).json()) == FLAGS
    await database.close()


async def test_the_rows_of_a_deleted_environment_are_removed_after_a_kill(store: Store) -> None:
    database = Database(store.database_url, store.data_directory)
    async with ServerProcess(store) as server:
        async with RemoteCaller(server.url) as caller:
            await caller.sign_up()
            project, environment = await filled(caller, database)
            assert (await caller.delete(environment_path(environment))).status_code == 204
            await server.kill()
        await server.start()
        async with RemoteCaller(server.url) as caller:
            await caller.log_in()
            assert (await caller.get(environment_path(environment))).status_code == 404
            assert (await caller.evaluate(project["sdk_key"])).status_code == 404
            await until(database, sa.select(sa.func.count()).select_from(tables.rules), lambda count: count == 0)
            await until(database, sa.select(sa.func.count()).select_from(_hidden.subquery()), lambda count: count == 0)
    await database.close()


async def filled(caller: RemoteCaller, database: Database) -> tuple[Json, Json]:
    """A project, and an environment of it with many flags, each with a rule."""
    project = await caller.create_project()
    environment = await caller.get_environment(project)
    async with database.transaction() as transaction:
        connection = transaction.connection
        found = await environments_store.get_environment(connection, UUID(project["id"]), UUID(environment["id"]))
        made = [make_flag(found, key=f"flag-{number}") for number in range(FLAGS)]
        await flags_store.create_flags(connection, made)
        await rules_store.create_rules(connection, map(make_rule, made))
    return project, environment


async def clone(caller: RemoteCaller, environment: Json) -> httpx.Response:
    body = {"name": "Canary", "key": "canary", "copy_from": environment["id"]}
    return await caller.post(f"/api/projects/{environment['project_id']}/environments", json=body)


async def until(database: Database, count: sa.Select[int], is_it: Callable[[int], bool]) -> int:
    """Wait until a count is what it shall be; return it."""
    async with asyncio.timeout(60):
        while not is_it(found := await count_of(database, count)):
            await asyncio.sleep(0)
        return found


async def count_of(database: Database, count: sa.Select[int]) -> int:
    async with database.query() as connection:
        return int((await connection.execute(count)).scalar_one())


async def ids(database: Database) -> list[UUID]:
    async with database.query() as connection:
        return list((await connection.execute(_hidden)).scalars())


async def let_time_pass(database: Database) -> None:
    """Let the time be over for which an environment may be built."""
    async with database.transaction() as transaction:
        over = tables.environments.update().where(_columns.built_until.is_not(None))
        await transaction.connection.execute(over.values(built_until=AT))
