"""The audit trail: every write adds its row in the same transaction.

Within a project, a later change has a higher number and never an earlier time: writes to a project are serialized, and
`record` corrects for differences between the clocks of instances. So a bound on the time is a bound on the number,
which every index here ends with.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection
from uuid_utils.compat import uuid7

from flagstaff.changes.actions import actions_of
from flagstaff.changes.changes import Batch, BatchKind, Change, NumberedChange
from flagstaff.database import messages, tables
from flagstaff.database.change_rows_store import row_of, row_of_batch
from flagstaff.database.change_states_store import read_whole, store_states
from flagstaff.database.database import Transaction
from flagstaff.database.long_lists import some_at_a_time
from flagstaff.database.outbox_store import enqueue, enqueue_all
from flagstaff.database.recorded_bytes_store import is_bounded
from flagstaff.database.revisions_store import Advanced, advance

_columns = tables.changes.c
_at = sa.bindparam("given_at", type_=tables.Moment)
_latest_time = (
    sa.select(_columns.at).where(_columns.project_id == sa.bindparam("project")).order_by(_columns.id.desc()).limit(1)
)
_latest = _latest_time.scalar_subquery()
_insert_all = tables.changes.insert()
_insert_numbered = _insert_all.returning(_columns.id, sort_by_parameter_order=True)
_insert = tables.changes.insert().values(at=sa.case((_latest > _at, _latest), else_=_at))
_latest_number = sa.select(sa.func.max(_columns.id)).where(_columns.project_id == sa.bindparam("project"))
_newest = sa.select(sa.func.coalesce(sa.func.max(_columns.id), 0))
_after = sa.select(_columns.at).where(_columns.id > sa.bindparam("since")).order_by(_columns.id)
_by_number = sa.select(tables.changes).where(
    _columns.id == sa.bindparam("number"), _columns.project_id == sa.bindparam("project")
)
_latest_of = (
    sa.select(tables.changes)
    .where(_columns.resource_id == sa.bindparam("resource"))
    .order_by(_columns.id.desc())
    .limit(1)
)
_latest_in_project = _latest_of.where(_columns.project_id == sa.bindparam("project"))
_latest_in_none = _latest_of.where(_columns.project_id.is_(None))
_rules_before = sa.select(tables.changes).where(
    _columns.id.in_(
        sa.select(sa.func.max(_columns.id))
        .where(
            _columns.flag_id == sa.bindparam("flag"),
            _columns.id < sa.bindparam("number"),
            _columns.action.in_(actions_of("rule")),
        )
        .group_by(_columns.resource_id)
    ),
    _columns.action != "rule.deleted",
)


async def record(transaction: Transaction, change: Change) -> None:
    """Write a change's row. If it affects evaluations, it is announced when the transaction has committed.

    Then its project and the environments that it affects also get a new revision.
    """
    connection, trail = transaction.connection, transaction.trail
    (states,) = await store_states(connection, [change], trail.digest_key)
    if trail.bounds and is_bounded(change, states.altered_bytes, is_part=False):
        await trail.bounds.require(connection, change, states.stored_bytes)
    values = {**row_of(change), **states.row, "given_at": change.at, "project": change.scope.project_id}
    result = await connection.execute(_insert, values)
    assert result.inserted_primary_key is not None
    (transaction.change,) = result.inserted_primary_key
    advanced = await _announce(transaction, change)
    if advanced.may_be_wanted:
        await enqueue(connection, transaction.change, change, advanced.revision)


def batch_of(made: Sequence[Change], kind: BatchKind, origin_id: UUID | None = None) -> Batch | None:
    """The batch of the changes that an operation makes; None for a single one."""
    if len(made) < 2:
        return None
    flags = {change.scope.flag_id for change in made} - {None}
    return Batch(uuid7(), kind, len(made), len(flags), origin_id)


async def record_all(transaction: Transaction, made: Sequence[Change], batch: Batch | None) -> list[int]:
    """Write the rows of changes of one environment in one project, and return their numbers.

    They are announced together, and get one revision.
    """
    if not made:
        return []
    connection = transaction.connection
    numbers, at = await _write_all(transaction, made, batch)
    transaction.change = numbers[-1]
    advanced = await _announce(transaction, made[0])
    if advanced.may_be_wanted:
        await enqueue_all(connection, made[0].scope, numbers, at=at, revision=advanced.revision)
    return numbers


async def record_unseen(transaction: Transaction, made: Sequence[Change], batch: Batch | None) -> list[int]:
    """Write the rows of changes of an environment that nobody sees yet, and return their numbers.

    Its creation is announced, with them, when it is seen.
    """
    return (await _write_all(transaction, made, batch))[0]


async def announce_seen(transaction: Transaction, creation: Change, numbers: Sequence[int]) -> None:
    """Announce that an environment is seen. The first number is of its creation, the others of the rows after it."""
    connection, transaction.change = transaction.connection, numbers[-1]
    advanced = await _announce(transaction, creation)
    if advanced.may_be_wanted:
        await enqueue(connection, numbers[0], creation, advanced.revision)
        if others := numbers[1:]:
            await enqueue_all(connection, creation.scope, others, at=creation.at, revision=advanced.revision)


async def _write_all(
    transaction: Transaction, made: Sequence[Change], batch: Batch | None
) -> tuple[list[int], datetime]:
    """Write the rows of changes of one project; return their numbers and the time of the last one."""
    connection, trail, first = transaction.connection, transaction.trail, made[0]
    at = (await connection.execute(_latest_time, {"project": first.scope.project_id})).scalar_one_or_none() or first.at
    stored_batch = batch and row_of_batch(batch)
    numbers: list[int] = []
    counted, is_part = 0, len(made) > 1
    if trail.bounds and any(is_bounded(each, 0, is_part=is_part) for each in made):
        await trail.bounds.require(connection, first, 0)  # before the work of writing them
    for some in some_at_a_time(made):
        rows = []
        for each, states in zip(some, await store_states(connection, some, trail.digest_key), strict=True):
            at = max(at, each.at)
            rows.append({**row_of(each), **states.row, "at": at, "batch": stored_batch})
            counted += states.stored_bytes if is_bounded(each, states.altered_bytes, is_part=is_part) else 0
        if connection.dialect.name == "postgresql":
            numbers += (await connection.execute(_insert_numbered, rows)).scalars()
        else:
            await connection.execute(_insert_all, rows)
    if trail.bounds and counted:
        await trail.bounds.require(connection, first, counted)
    if not numbers:  # SQLite, whose one writer numbers rows without gaps, but returns each number by itself
        last = await newest_change(connection)
        numbers = list(range(last - len(made) + 1, last + 1))
    return numbers, at


async def _announce(transaction: Transaction, change: Change) -> Advanced:
    """Give a change its revision if it affects evaluations; it is announced when the transaction has committed."""
    if not change.affects_evaluations:
        return Advanced(None, may_be_wanted=True)
    project_id = change.scope.project_id
    assert project_id is not None
    transaction.changes.append(change)
    announcement = messages.change(transaction.instance, project_id, change.scope.environment_id)
    advanced = await advance(transaction.connection, change.scope, (messages.CHANNEL, announcement))
    transaction.left[project_id] = advanced.revision
    return advanced


async def newest_change(connection: AsyncConnection) -> int:
    """The number of the newest change of all; 0 if there is none."""
    return int((await connection.execute(_newest)).scalar_one())


async def changes_after(connection: AsyncConnection, number: int, most: int = 1000) -> tuple[int, datetime | None]:
    """Count the changes with a higher number, up to a bound, and return the time of the first of them."""
    moments = (await connection.execute(_after.limit(most), {"since": number})).scalars().all()
    return len(moments), min(moments, default=None)


async def latest_change(connection: AsyncConnection, project_id: UUID) -> int:
    """The number of the latest change in a project; 0 if there is none."""
    number: int | None = (await connection.execute(_latest_number, {"project": project_id})).scalar_one()
    return number or 0


async def latest_time(connection: AsyncConnection, project_id: UUID) -> datetime:
    """Return the time of a project's latest change, which is not before the `updated_at` of any resource in it."""
    moment: datetime = (await connection.execute(_latest_time, {"project": project_id})).scalar_one()
    return moment


async def list_between(
    connection: AsyncConnection, project_id: UUID | None, first: int, last: int, most: int
) -> list[NumberedChange]:
    """The changes with numbers from one to another in a project, or in none; at most so many, oldest first."""
    query = sa.select(tables.changes).where(
        _columns.id.between(first, last), _columns.project_id.is_not_distinct_from(project_id)
    )
    rows = await connection.execute(query.order_by(_columns.id).limit(most))
    return await read_whole(connection, rows)


async def list_newest(
    connection: AsyncConnection, project_id: UUID | None, before: int | None, most: int
) -> list[NumberedChange]:
    """The newest changes in a project, or of all projects and none, newest first, with numbers below `before`."""
    query = sa.select(tables.changes).order_by(_columns.id.desc()).limit(most)
    if before is not None:
        query = query.where(_columns.id < before)
    if project_id is not None:
        query = query.where(_columns.project_id == project_id)
    return await read_whole(connection, await connection.execute(query))


async def find_project_change(connection: AsyncConnection, project_id: UUID, number: int) -> Change | None:
    """The change with a number in a project, if there is one."""
    rows = await connection.execute(_by_number, {"project": project_id, "number": number})
    return next((each.change for each in await read_whole(connection, rows)), None)


async def find_latest_change(connection: AsyncConnection, project_id: UUID | None, resource_id: UUID) -> Change | None:
    """The latest change to a resource in a project, or in none."""
    wanted = _latest_in_none if project_id is None else _latest_in_project
    rows = await connection.execute(wanted, {"resource": resource_id, "project": project_id})
    return next((each.change for each in await read_whole(connection, rows)), None)


async def list_rules_before(connection: AsyncConnection, flag_id: UUID, number: int) -> list[dict[str, Any]]:
    """The rules that a flag had just before a change, as the changes before it tell."""
    rows = await connection.execute(_rules_before, {"flag": flag_id, "number": number})
    return [each.change.after for each in await read_whole(connection, rows) if each.change.after is not None]
