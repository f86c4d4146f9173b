"""Clones are built where nobody sees them, in short transactions, and shown by the last one."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

import pytest
import sqlalchemy as sa

from flagstaff.audit.batches_store import list_batch
from flagstaff.audit.change_lists_store import ChangeFilter, list_project_changes
from flagstaff.changes.changes import Actor, Scope, change_of
from flagstaff.copying.clones_service import Clones
from flagstaff.database import tables
from flagstaff.database.changes_store import record
from flagstaff.database.database import Database, Transaction
from flagstaff.flags import flags_store
from flagstaff.flags.access import FlagPath
from flagstaff.flags.condition_work_budgets import WorkBudgets
from flagstaff.flags.flags import Flag
from flagstaff.flags.flags_service import Flags
from flagstaff.flags.targeting import rules_store
from flagstaff.flags.targeting.rules_service import Rules
from flagstaff.projects import environments_store
from flagstaff.projects.environments_service import Environments
from flagstaff.projects.hidden_environments_service import ROWS_AT_ONCE, HiddenEnvironments
from flagstaff.projects.hidden_environments_store import REMOVED_AT_ONCE
from flagstaff.projects.projects import Environment
from flagstaff.settings import Settings
from flagstaff.values.errors import Code, Error
from tests.support.builders import make_account, make_environment, make_flag, make_project, make_rule, store_all

FLAGS = 500
T = TypeVar("T")


@dataclass(frozen=True)
class Shop:
    """A project whose production has many flags with a rule each, and the services with which its owner acts."""

    owner: Actor
    production: Environment
    staging: Environment
    flags: Flags
    rules: Rules
    environments: Environments

    async def toggle(self, flag: Flag) -> None:
        await self.flags.toggle_flag(self.owner, FlagPath(flag.project_id, flag.environment_id, flag.id))

    async def clone(self, hidden: HiddenEnvironments, key: str = "canary") -> Environment:
        clones = Clones(hidden.database, self.flags.now, self.environments, self.flags, self.rules, hidden)
        project_id = self.production.project_id
        return await clones.clone_environment(
            self.owner, project_id, self.production.id, key=key, name="Canary", all_off=False
        )


@pytest.fixture
async def shop(database: Database, tmp_path: Path) -> Shop:
    account = make_account()
    project = make_project(account.id)
    production, staging = (make_environment(project.id, key=key) for key in ("production", "staging"))
    await store_all(database, account, project, production, staging)
    made = [make_flag(production, key=f"flag-{number}") for number in range(FLAGS)]
    owner = Actor(account.id, account.email)
    async with database.transaction() as transaction:
        await flags_store.create_flags(transaction.connection, [*made, make_flag(staging)])
        await rules_store.create_rules(transaction.connection, map(make_rule, made))
        created = change_of(owner, "project.created", project.created_at, Scope(project.id), after=project)
        await record(transaction, created)
    settings = Settings.load({"FLAGSTAFF_DATA_DIR": str(tmp_path)})
    work = WorkBudgets(settings.max_condition_work)
    flags, rules = Flags(database, now, settings, work), Rules(database, now, settings, work)
    return Shop(owner, production, staging, flags, rules, Environments(database, now, settings))


def now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class Meanwhile(HiddenEnvironments):
    """Builds environments while something else happens."""

    happens: Callable[[], Awaitable[None]]

    @asynccontextmanager
    async def building(self, environment: Environment) -> AsyncIterator[None]:
        async with super().building(environment):
            await self.happens()
            yield


@dataclass(frozen=True)
class Between(HiddenEnvironments):
    """Builds environments while something else happens after each part."""

    happens: Callable[[], Awaitable[None]]

    async def add(
        self, environment_id: UUID, rows: Sequence[T], write: Callable[[Transaction, Sequence[T]], Awaitable[object]]
    ) -> None:
        await super().add(environment_id, rows, write)
        await self.happens()


@contextmanager
def rows_written(database: Database) -> Iterator[list[int]]:
    """How many rows each transaction inside has written, or statements for one row."""
    engine, turns = database._engines.writer.sync_engine, list[int]()

    def begin(_connection: sa.Connection) -> None:
        turns.append(0)

    def add(*args: Any) -> None:
        _, cursor, statement, parameters, *_ = args
        if statement.lstrip()[:6] in ("INSERT", "UPDATE", "DELETE"):
            turns[-1] += max(cursor.rowcount, len(parameters) if isinstance(parameters, list) else 1)

    sa.event.listen(engine, "begin", begin)
    sa.event.listen(engine, "after_cursor_execute", add)
    try:
        yield turns
    finally:
        sa.event.remove(engine, "begin", begin)
        sa.event.remove(engine, "after_cursor_execute", add)


async def flags_in(database: Database, environment: Environment) -> list[Flag]:
    async with database.read() as connection:
        return list(await flags_store.list_flags(connection, environment.id))


async def count(database: Database, table: sa.Table) -> int:
    async with database.query() as connection:
        return int((await connection.execute(sa.select(sa.func.count()).select_from(table))).scalar_one())


async def test_flags_that_change_all_the_time_cannot_be_cloned_and_nothing_is_left(
    database: Database, shop: Shop
) -> None:
    (flag, *_) = await flags_in(database, shop.production)
    tables_written = (tables.environments, tables.flags, tables.rules)
    before = [await count(database, table) for table in tables_written]
    trail = await count(database, tables.changes)
    toggles: list[UUID] = []

    async def toggle() -> None:
        await shop.toggle(flag)
        toggles.append(flag.id)

    hidden = Meanwhile(database, toggle)
    with pytest.raises(Error) as refused:
        await shop.clone(hidden)

    assert (refused.value.code, refused.value.retry_after_seconds) == (Code.UNAVAILABLE, 1)
    async with database.read() as connection:
        listed = await environments_store.list_environments(connection, shop.production.project_id)
        assert {each.key for each in listed} == {"production", "staging"}
    await hidden.remove()
    assert [await count(database, table) for table in tables_written] == before
    assert await count(database, tables.changes) == trail + len(toggles)


async def test_flags_that_change_while_they_are_cloned_are_cloned_as_they_are_then(
    database: Database, shop: Shop
) -> None:
    (flag, *_) = await flags_in(database, shop.production)
    assert flag.enabled
    left = [flag]

    async def toggle() -> None:
        if left:
            await shop.toggle(left.pop())

    canary = await shop.clone(Meanwhile(database, toggle))

    assert [each.key for each in await flags_in(database, canary) if not each.enabled] == [flag.key]
    assert len(await flags_in(database, canary)) == FLAGS


async def test_changes_elsewhere_in_the_project_do_not_hinder_a_clone_and_are_not_counted_to_it(
    database: Database, shop: Shop
) -> None:
    (elsewhere,) = await flags_in(database, shop.staging)
    project_id = shop.production.project_id

    canary = await shop.clone(Between(database, lambda: shop.toggle(elsewhere)))

    async with database.read() as connection:
        newest, *_ = await list_project_changes(
            connection, project_id, ChangeFilter(environment_ids=[canary.id]), before=None, limit=1
        )
        batch = await list_batch(connection, newest.change, newest.number)
    assert len(batch) == 2 * FLAGS
    assert {part.scope.environment_id for part in batch} == {canary.id}


async def test_no_transaction_of_a_clone_or_a_deletion_writes_many_rows(database: Database, shop: Shop) -> None:
    hidden = HiddenEnvironments(database)
    with rows_written(database) as turns:
        canary = await shop.clone(hidden)
    assert len(turns) > 4 * FLAGS // ROWS_AT_ONCE
    assert max(turns) <= ROWS_AT_ONCE + 5

    with rows_written(database) as turns:
        await shop.environments.delete_environment(shop.owner, canary.project_id, canary.id)
    assert max(turns) <= 20, "statements with one row each"
    assert await flags_in(database, canary) != []

    with rows_written(database) as turns:
        await hidden.remove()
    assert await flags_in(database, canary) == []
    assert max(turns) <= REMOVED_AT_ONCE + 5
