"""Violations of unique constraints: a stated one becomes a conflict, any other is raised unchanged."""

from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from uuid_utils.compat import uuid7

from flagstaff.database import tables
from flagstaff.database.database import Database
from flagstaff.projects.members.invitations_store import create_invitation
from flagstaff.values.errors import Code, Error
from flagstaff.views.saved_views import SavedView
from flagstaff.views.saved_views_store import create_view
from tests.storage.conftest import Stored
from tests.support.builders import (
    AT,
    make_account,
    make_environment,
    make_flag,
    make_invitation,
    make_segment,
    store_all,
)


async def test_a_taken_id_is_no_conflict_about_a_key(database: Database, stored: Stored) -> None:
    """A taken id is a bug of ours. A caller who is told to choose another key could not solve it."""
    segment = make_segment(stored.project.id)
    await store_all(database, segment)
    others: list[Any] = [
        replace(make_account(email="other@example.com"), id=stored.account.id),
        replace(make_environment(stored.project.id, key="other"), id=stored.environment.id),
        replace(make_flag(stored.environment, key="other"), id=stored.flag.id),
        replace(make_segment(stored.project.id, key="other"), id=segment.id),
    ]
    for other in others:
        with pytest.raises(IntegrityError):
            await store_all(database, other)


async def test_each_stated_constraint_is_a_conflict(database: Database, stored: Stored) -> None:
    segment = make_segment(stored.project.id)
    await store_all(database, segment)
    for resource in (
        make_account(email=stored.account.email.upper()),
        make_environment(stored.project.id, key=stored.environment.key),
        make_flag(stored.environment, key=stored.flag.key),
        make_segment(stored.project.id, key=segment.key),
    ):
        with pytest.raises(Error) as refusal:
            await store_all(database, resource)
        assert refusal.value.code is Code.CONFLICT


async def test_an_invitation_and_a_view_with_another_constraint_violated_are_none_either(
    database: Database, stored: Stored
) -> None:
    view = SavedView(uuid7(), stored.project.id, "Beta", {}, AT)
    invitation = make_invitation(stored.project, inviter_id=stored.account.id)
    async with database.transaction() as transaction:
        await create_view(transaction.connection, view, stored.account.id)
        await create_invitation(transaction.connection, invitation)
    for made in (replace(view, id=uuid7()), replace(view, name="Other")):
        is_conflict = made.name == view.name
        with pytest.raises(Error if is_conflict else IntegrityError):
            async with database.transaction() as transaction:
                await create_view(transaction.connection, made, stored.account.id)
    for again in (replace(invitation, id=uuid7()), replace(invitation, email="other@example.com")):
        is_conflict = again.email == invitation.email
        with pytest.raises(Error if is_conflict else IntegrityError):
            async with database.transaction() as transaction:
                await create_invitation(transaction.connection, again)


async def test_the_names_of_the_constraints_are_those_of_the_tables(database: Database) -> None:
    if not database.is_postgresql:
        pytest.skip("SQLite names columns")
    stated = {
        str(each.name)
        for table in tables.metadata.tables.values()
        if table.schema is None
        for each in table.constraints
        if isinstance(each, sa.UniqueConstraint | sa.PrimaryKeyConstraint)
    }
    async with database.read() as connection:
        query = sa.text(
            "SELECT conname FROM pg_constraint WHERE contype IN ('u', 'p') AND connamespace = 'public'::regnamespace"
        )
        present = set((await connection.execute(query)).scalars())
    assert stated <= present
