"""Revisions in the database."""

import asyncio
from uuid import UUID, uuid4

import pytest

from flagstaff.changes.changes import COMMAND_LINE, Scope, change_of
from flagstaff.database.changes_store import record
from flagstaff.database.database import Database
from flagstaff.database.revisions import Revision
from flagstaff.database.revisions_store import find_project_revision, list_revisions, watch_revision
from flagstaff.projects.environments_store import get_environment
from flagstaff.projects.projects_store import delete_project, find_project_for_update
from flagstaff.values.errors import Error
from tests.storage.conftest import Stored
from tests.support.builders import AT, make_account, make_environment, store_all


async def revisions(database: Database, project_id: UUID) -> dict[UUID, Revision]:
    async with database.read() as connection:
        return await list_revisions(connection, project_id)


async def change(database: Database, stored: Stored, action: str, scope: Scope) -> int | None:
    async with database.transaction() as transaction:
        await find_project_for_update(transaction.connection, stored.project.id)
        await record(transaction, change_of(COMMAND_LINE, action, AT, scope, after=stored.flag))
        return transaction.revision


async def change_and_fail(database: Database, stored: Stored, scope: Scope) -> None:
    async with database.transaction() as transaction:
        await record(transaction, change_of(COMMAND_LINE, "flag.toggled", AT, scope, after=stored.flag))
        await get_environment(transaction.connection, stored.project.id, uuid4())


async def test_what_is_not_evaluated_has_no_revision(database: Database, stored: Stored) -> None:
    before = await revisions(database, stored.project.id)
    assert await change(database, stored, "member.added", Scope(stored.project.id)) is None
    async with database.transaction() as transaction:
        await record(transaction, change_of(COMMAND_LINE, "account.registered", AT, Scope(), after=make_account()))
    assert transaction.revision is None
    assert await revisions(database, stored.project.id) == before


async def test_a_deleted_project_gets_no_revision(database: Database, stored: Stored) -> None:
    async with database.transaction() as transaction:
        await delete_project(transaction.connection, stored.project.id)
        scope = Scope(stored.project.id)
        await record(transaction, change_of(COMMAND_LINE, "project.deleted", AT, scope, before=stored.project))
        assert transaction.revision is None
    async with database.read() as connection:
        assert await find_project_revision(connection, stored.project.id) is None
        assert await find_project_revision(connection, uuid4()) is None


async def test_a_change_in_an_environment_is_the_next_revision_of_that_one(database: Database, stored: Stored) -> None:
    other = make_environment(stored.project.id, key="other")
    await store_all(database, other)
    first = await change(database, stored, "flag.toggled", Scope(stored.project.id, stored.environment.id))
    second = await change(database, stored, "flag.toggled", Scope(stored.project.id, other.id))
    assert first is not None
    assert second == first + 1
    assert await revisions(database, stored.project.id) == {
        stored.environment.id: Revision(first, second),
        other.id: Revision(second, second),
    }


async def test_a_change_of_the_project_is_the_next_revision_of_every_environment(
    database: Database, stored: Stored
) -> None:
    other = make_environment(stored.project.id, key="other")
    await store_all(database, other)
    number = await change(database, stored, "segment.updated", Scope(stored.project.id))
    assert number is not None
    assert set((await revisions(database, stored.project.id)).values()) == {Revision(number, number)}


async def test_concurrent_changes_have_different_revisions(database: Database, stored: Stored) -> None:
    scope = Scope(stored.project.id, stored.environment.id)
    numbers = await asyncio.gather(*(change(database, stored, "flag.toggled", scope) for _ in range(20)))
    assert len(set(numbers)) == 20
    async with database.read() as connection:
        assert await find_project_revision(connection, stored.project.id) == max(filter(None, numbers))


async def test_only_a_committed_revision_is_noted(database: Database, stored: Stored) -> None:
    scope = Scope(stored.project.id, stored.environment.id)
    with watch_revision() as written:
        with pytest.raises(Error):
            await change_and_fail(database, stored, scope)
        assert written.revision is None
        number = await change(database, stored, "flag.toggled", scope)
        assert written.revision == number
