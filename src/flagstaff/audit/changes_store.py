"""The audit trail: every write adds its row in the same transaction.

Within a project, a later change has a higher number and never an earlier time: writes to a project are serialized, and
`record` corrects for differences between the clocks of instances. So a bound on the time is a bound on the number,
which every index here ends with.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from heapq import nlargest
from operator import attrgetter
from typing import Any, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection
from uuid_utils.compat import uuid7

from flagstaff.audit.changes import Actor, Batch, BatchKind, Change, NumberedChange, ReleaseName, Scope, TokenName
from flagstaff.audit.outbox_store import enqueue
from flagstaff.cluster.instances_store import notify_change
from flagstaff.concurrency.pacing import collect
from flagstaff.database import tables
from flagstaff.database.database import Transaction, some_at_a_time
from flagstaff.database.revisions_store import advance
from flagstaff.projects.projects import Environment
from flagstaff.values.intervals import Intervals, moment_of

_columns = tables.changes.c
_NUMBER_MAX = 2**63 - 1
_DECIDING = ("flag.%", "rule.%")
_READ_AT_ONCE = 20
_OF_SEGMENTS = ("segment.created", "segment.updated", "segment.deleted")
_OF_MEMBERS = ("member.added", "member.updated", "member.removed", "member.joined")
_MICROSECONDS_A_MINUTE = 60_000_000
_at = sa.bindparam("given_at", type_=tables.Moment)
_latest_time = (
    sa.select(_columns.at).where(_columns.project_id == sa.bindparam("project")).order_by(_columns.id.desc()).limit(1)
)
_latest = _latest_time.scalar_subquery()
_insert_all = tables.changes.insert().returning(_columns.id, sort_by_parameter_order=True)
_insert = tables.changes.insert().values(at=sa.case((_latest > _at, _latest), else_=_at))
_latest_number = sa.select(sa.func.max(_columns.id)).where(_columns.environment_id == sa.bindparam("environment"))
_newest = sa.select(sa.func.coalesce(sa.func.max(_columns.id), 0))
_after = sa.select(_columns.at).where(_columns.id > sa.bindparam("since")).order_by(_columns.id)
_changed = (
    sa.select(sa.func.max(_columns.id), _columns.flag_id)
    .where(_columns.environment_id == sa.bindparam("environment"), _columns.id > sa.bindparam("since"))
    .group_by(_columns.flag_id)
)
_characters = sum(
    (sa.func.coalesce(sa.func.length(sa.cast(each, sa.Text)), 0) for each in (_columns.before, _columns.after)),
    start=sa.literal(0),
).label("characters")
_by_number = sa.select(tables.changes).where(
    _columns.id == sa.bindparam("number"), _columns.project_id == sa.bindparam("project")
)
_comments = (
    sa.select(tables.comments.c.change, sa.func.count())
    .where(
        tables.comments.c.project_id == sa.bindparam("project"),
        tables.comments.c.change.in_(sa.bindparam("numbers", expanding=True)),
    )
    .group_by(tables.comments.c.change)
)
_latest_of = (
    sa.select(tables.changes)
    .where(_columns.resource_id == sa.bindparam("resource"))
    .order_by(_columns.id.desc())
    .limit(1)
)
_latest_in_project = _latest_of.where(_columns.project_id == sa.bindparam("project"))
_latest_in_none = _latest_of.where(_columns.project_id.is_(None))
_rules_before = sa.select(_columns.after).where(
    _columns.id.in_(
        sa.select(sa.func.max(_columns.id))
        .where(
            _columns.flag_id == sa.bindparam("flag"),
            _columns.id < sa.bindparam("number"),
            _columns.action.in_(("rule.created", "rule.updated", "rule.deleted")),
        )
        .group_by(_columns.resource_id)
    ),
    _columns.action != "rule.deleted",
)


@dataclass(slots=True)
class Reading:
    """The bounds of what a request reads of the trail: `changes`, and the `characters` of their states.

    `complete_since` is the time since which it has all; None as long as it was not stopped.
    """

    changes: int
    characters: int
    complete_since: datetime | None = None


@dataclass(frozen=True, slots=True)
class ChangeFilter:
    """A filter of a project's or an environment's changes; None means all.

    `environment_ids` is only of a project's, and `flag_id` only of an environment's.
    """

    actor_id: UUID | None = None
    actions: Collection[str] | None = None
    flag_key: str | None = None
    environment_ids: Collection[UUID] | None = None
    since: datetime | None = None
    until: datetime | None = None
    flag_id: UUID | None = None


class ChangesInterval(NamedTuple):
    """The number of changes in an interval, of those to segments, and the newest change."""

    start: datetime
    changes: int
    segment_changes: int
    number: int
    at: datetime
    actor_email: str | None
    action: str
    flag_key: str | None


async def record(transaction: Transaction, change: Change) -> None:
    """Write a change's row. If it affects evaluations, it is announced when the transaction has committed.

    Then its project and the environments that it affects also get a new revision.
    """
    values = {**_row(change), "given_at": change.at, "project": change.scope.project_id}
    result = await transaction.connection.execute(_insert, values)
    assert result.inserted_primary_key is not None
    (transaction.change,) = result.inserted_primary_key
    await _announce(transaction, change, [transaction.change], change.at)


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
    connection, first = transaction.connection, made[0]
    at = (await connection.execute(_latest_time, {"project": first.scope.project_id})).scalar_one_or_none() or first.at
    stored_batch = batch and _row_of_batch(batch)
    numbers: list[int] = []
    for some in some_at_a_time(made):
        rows = []
        for each in some:
            at = max(at, each.at)
            rows.append({**_row(each), "at": at, "batch": stored_batch})
        numbers += (await connection.execute(_insert_all, rows)).scalars()
    transaction.change = numbers[-1]
    await _announce(transaction, first, numbers, at)
    return numbers


async def _announce(transaction: Transaction, change: Change, numbers: Sequence[int], at: datetime) -> None:
    project_id, revision, may_be_wanted = change.scope.project_id, None, True
    if change.affects_evaluations:
        await notify_change(transaction.connection, transaction.instance, change.scope)
        transaction.changes.append(change)
        assert project_id is not None
        revision, may_be_wanted = await advance(transaction.connection, change.scope)
        transaction.left[project_id] = revision
    if may_be_wanted:
        await enqueue(transaction.connection, project_id, numbers, at=at, revision=revision)


def _row(change: Change) -> dict[str, Any]:
    return {
        "actor_id": change.actor.account_id,
        "actor_email": change.actor.email,
        "token_id": change.actor.token.id if change.actor.token else None,
        "token_name": change.actor.token.name if change.actor.token else None,
        "action": change.action,
        "resource_id": change.resource_id,
        "project_id": change.scope.project_id,
        "environment_id": change.scope.environment_id,
        "flag_id": change.scope.flag_id,
        "flag_key": change.scope.flag_key,
        "before": change.before,
        "after": change.after,
        "restores": change.restores,
        "release": _row_of_release(change.actor.release),
    }


def _row_of_batch(batch: Batch) -> dict[str, Any]:
    return {
        "id": str(batch.id),
        "kind": batch.kind,
        "changes": batch.changes,
        "flags": batch.flags,
        "origin_id": batch.origin_id and str(batch.origin_id),
    }


def _read_batch(stored: dict[str, Any] | None) -> Batch | None:
    if not stored or stored["kind"] not in list(BatchKind):  # a later release may make others
        return None
    origin_id = stored["origin_id"] and UUID(stored["origin_id"])
    return Batch(UUID(stored["id"]), BatchKind(stored["kind"]), stored["changes"], stored["flags"], origin_id)


def _row_of_release(release: ReleaseName | None) -> dict[str, Any] | None:
    return release and {"id": str(release.id), "name": release.name, "guard": release.guard}


async def changed_flags(connection: AsyncConnection, environment_id: UUID, since: int) -> tuple[int, set[UUID]]:
    """The number of the latest change in an environment, and the flags that were changed after the number `since`.

    Writes to one project are serialized, so no lower number can appear later.
    """
    latest, flags = since, set[UUID]()
    for number, flag_id in await connection.execute(_changed, {"environment": environment_id, "since": since}):
        latest = max(latest, number)
        if flag_id is not None:
            flags.add(flag_id)
    return latest, flags


async def newest_change(connection: AsyncConnection) -> int:
    """The number of the newest change of all; 0 if there is none."""
    return int((await connection.execute(_newest)).scalar_one())


async def changes_after(connection: AsyncConnection, number: int, most: int = 1000) -> tuple[int, datetime | None]:
    """Count the changes with a higher number, up to a bound, and return the time of the first of them."""
    moments = (await connection.execute(_after.limit(most), {"since": number})).scalars().all()
    return len(moments), min(moments, default=None)


async def latest_change(connection: AsyncConnection, environment_id: UUID) -> int:
    """The number of the latest change in an environment; 0 if there is none."""
    number: int | None = (await connection.execute(_latest_number, {"environment": environment_id})).scalar_one()
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
    return await collect(map(_from_row, rows))  # each parses the JSON of a row


async def list_newest(
    connection: AsyncConnection, project_id: UUID | None, before: int | None, most: int
) -> list[NumberedChange]:
    """The newest changes in a project, or of all projects and none, newest first, with numbers below `before`."""
    query = sa.select(tables.changes).order_by(_columns.id.desc()).limit(most)
    if before is not None:
        query = query.where(_columns.id < before)
    if project_id is not None:
        query = query.where(_columns.project_id == project_id)
    return await collect(map(_from_row, await connection.execute(query)))  # each parses the JSON of a row


async def list_project_changes(
    connection: AsyncConnection, project_id: UUID, wanted: ChangeFilter, *, before: int | None, limit: int
) -> list[NumberedChange]:
    """The changes in a project, including deleted resources, newest first, with numbers below `before`."""
    query = _matching(sa.select(tables.changes).where(_columns.project_id == project_id), project_id, wanted)
    if wanted.environment_ids is not None:
        query = query.where(_columns.environment_id.in_(wanted.environment_ids))
    return await _list(connection, query, before, limit)


async def find_project_change(connection: AsyncConnection, project_id: UUID, number: int) -> Change | None:
    """The change with a number in a project, if there is one."""
    row = (await connection.execute(_by_number, {"project": project_id, "number": number})).one_or_none()
    return _from_row(row).change if row is not None else None


async def count_characters(connection: AsyncConnection, project_id: UUID, numbers: Collection[int]) -> int:
    """The characters of the states before and after changes in a project, together."""
    query = sa.select(sa.func.coalesce(sa.func.sum(_characters.element), 0))
    of_changes = _columns.project_id == project_id, _columns.id.in_(numbers)
    return int((await connection.execute(query.where(*of_changes))).scalar_one())


async def find_latest_change(connection: AsyncConnection, project_id: UUID | None, resource_id: UUID) -> Change | None:
    """The latest change to a resource in a project, or in none."""
    wanted = _latest_in_none if project_id is None else _latest_in_project
    row = (await connection.execute(wanted, {"resource": resource_id, "project": project_id})).one_or_none()
    return _from_row(row).change if row is not None else None


async def count_comments(connection: AsyncConnection, project_id: UUID, numbers: Collection[int]) -> dict[int, int]:
    """Count the comments on changes in a project, by the numbers of those that have any."""
    rows = await connection.execute(_comments, {"project": project_id, "numbers": list(numbers)})
    return {row[0]: row[1] for row in rows}


async def list_rules_before(connection: AsyncConnection, flag_id: UUID, number: int) -> list[dict[str, Any]]:
    """The rules that a flag had just before a change, as the changes before it tell."""
    rows = await connection.execute(_rules_before, {"flag": flag_id, "number": number})
    return await collect(row.after for row in rows)  # each parses the JSON of a row


async def list_environment_changes(
    connection: AsyncConnection,
    environment: Environment,
    wanted: ChangeFilter,
    *,
    before: int | None,
    limit: int,
) -> list[NumberedChange]:
    """The changes in an environment, or of a flag and its rules, newest first, with numbers below `before`."""
    query = sa.select(tables.changes).where(_columns.environment_id == environment.id)
    if wanted.flag_id is not None:
        query = query.where(_columns.flag_id == wanted.flag_id)
    return await _list(connection, _matching(query, environment.project_id, wanted), before, limit)


async def list_since(
    connection: AsyncConnection,
    reading: Reading,
    environment: Environment,
    since: datetime,
    *,
    flag_keys: Collection[str] | None,
) -> list[NumberedChange]:
    """The changes since a time of an environment's flags with these keys and their rules; or of the project's segments.

    Newest first, until the bounds are reached.
    """
    query = sa.select(tables.changes, _characters).where(
        _columns.project_id == environment.project_id, _columns.id >= _first_number(environment.project_id, since)
    )
    if flag_keys is None:
        query = query.where(_columns.action.in_(_OF_SEGMENTS))
    else:
        query = query.where(
            _columns.environment_id == environment.id,
            _columns.flag_key.in_(flag_keys),
            sa.or_(*map(_columns.action.like, _DECIDING)),
        )
    found: list[NumberedChange] = []
    before = _NUMBER_MAX
    while True:
        part = query.where(_columns.id < before).order_by(_columns.id.desc()).limit(_READ_AT_ONCE)
        rows = await connection.execute(part)
        read = await collect((_from_row(row), row.characters) for row in rows)  # each parses the JSON of a row
        if read and (reading.changes < len(read) or reading.characters <= 0):
            newest = found[-1].change.at if found else read[0][0].change.at
            reading.complete_since = max(newest, reading.complete_since or newest)
            return found
        found += [numbered for numbered, _ in read]
        if len(read) < _READ_AT_ONCE:
            return found
        reading.changes -= len(read)
        reading.characters -= sum(characters for _, characters in read)
        before = found[-1].number


async def list_shared_changes(
    connection: AsyncConnection, project_id: UUID, wanted: ChangeFilter, *, before: int | None, limit: int
) -> list[NumberedChange]:
    """The changes to what all environments of a project share: its segments and members; newest first.

    Of one flag by its id, those to the segments that its rules name now; of a flag by its key, none.
    """
    found: list[NumberedChange] = []
    if wanted.flag_key is not None:
        return found
    shared = (*_OF_SEGMENTS, *_OF_MEMBERS) if wanted.flag_id is None else _OF_SEGMENTS
    for action in shared:  # one after another: an index has the changes of each in their order
        if wanted.actions is not None and action not in wanted.actions:
            continue
        query = sa.select(tables.changes).where(_columns.project_id == project_id, _columns.action == action)
        if wanted.flag_id is not None:
            query = query.where(_columns.resource_id.in_(_named_segments(tables.flags.c.id == wanted.flag_id)))
        found += await _list(connection, _matching(query, project_id, wanted), before, limit)
    return newest_first(found, limit)


def newest_first(changes: Iterable[NumberedChange], limit: int) -> list[NumberedChange]:
    """The newest of some changes, newest first."""
    return nlargest(limit, changes, key=attrgetter("number"))


async def summarise_changes(
    connection: AsyncConnection,
    project_id: UUID,
    environment_id: UUID,
    intervals: Intervals,
    *,
    flag_key: str | None,
    with_segments: bool,
) -> list[ChangesInterval]:
    """Count the changes of an environment's flags, their rules and the project's segments, oldest interval first.

    Of one flag, only the segments count that its rules name now. Intervals without a change are left out.
    """
    length = intervals.step * _MICROSECONDS_A_MINUTE
    place = sa.type_coerce(_columns.at, sa.BigInteger) // length
    is_segment = _columns.action.like("segment.%")
    of_flags = sa.and_(
        _columns.environment_id == environment_id,
        _columns.flag_id.is_not(None),
        _columns.action.not_like("release.%"),
    )
    of_segments = sa.and_(_columns.environment_id.is_(None), is_segment)
    if flag_key is not None:
        of_flags = sa.and_(of_flags, _columns.flag_key == flag_key)
        named = sa.and_(tables.flags.c.environment_id == environment_id, tables.flags.c.key == flag_key)
        of_segments = sa.and_(of_segments, _columns.resource_id.in_(_named_segments(named)))
    counted = (
        sa.select(
            place.label("place"),
            sa.func.count().label("changes"),
            sa.func.sum(sa.case((is_segment, 1), else_=0)).label("segment_changes"),
            sa.func.max(_columns.id).label("newest"),
        )
        .where(
            _columns.project_id == project_id,
            _columns.at >= intervals.since,
            _columns.at < intervals.until,
            sa.or_(of_flags, of_segments) if with_segments else of_flags,
        )
        .group_by(place)
        .subquery()
    )
    newest = tables.changes.alias().c
    query = (
        sa.select(counted, newest.at, newest.actor_email, newest.action, newest.flag_key)
        .join(counted, newest.id == counted.c.newest)
        .order_by(counted.c.place)
    )
    return [
        ChangesInterval(
            moment_of(row.place * intervals.step),
            row.changes,
            int(row.segment_changes),
            row.newest,
            row.at,
            row.actor_email,
            row.action,
            row.flag_key,
        )
        for row in await connection.execute(query)
    ]


def _named_segments(flag: sa.ColumnElement[bool]) -> sa.Select[tuple[UUID]]:
    """The ids of the segments that the rules of a flag name."""
    flags, rules, segments, environments = (
        tables.flags.c,
        tables.rules.c,
        tables.project_segments.c,
        tables.environments.c,
    )
    return sa.select(segments.id).where(
        flag,
        environments.id == flags.environment_id,
        segments.project_id == environments.project_id,
        rules.flag_id == flags.id,
        rules.rule_type == "segment",
        rules.rule_value == segments.key,
    )


async def list_account_changes(
    connection: AsyncConnection, account_id: UUID, *, before: int | None, limit: int
) -> list[NumberedChange]:
    """The changes of an account itself, by any actor, newest first, with numbers below `before`."""
    query = sa.select(tables.changes).where(_columns.resource_id == account_id)
    return await _list(connection, query, before, limit)


async def list_instance_changes(connection: AsyncConnection, *, before: int | None, limit: int) -> list[NumberedChange]:
    """The changes in no project, which are those of accounts and of the instance, newest first."""
    query = sa.select(tables.changes).where(_columns.project_id.is_(None))
    return await _list(connection, query, before, limit)


async def find_environment_ids(connection: AsyncConnection, project_id: UUID, key: str) -> list[UUID]:
    """The ids of every environment that a project has or had under a key."""
    query = sa.select(_columns.resource_id).where(
        _columns.project_id == project_id,
        _columns.action == "environment.created",
        _columns.after["key"].as_string() == key,
    )
    return list((await connection.execute(query)).scalars())


def _matching(
    query: sa.Select[*tuple[object, ...]], project_id: UUID, wanted: ChangeFilter
) -> sa.Select[*tuple[object, ...]]:
    """Changes of a project by the filters that those of all places have."""
    for column, value in ((_columns.actor_id, wanted.actor_id), (_columns.flag_key, wanted.flag_key)):
        if value is not None:
            query = query.where(column == value)
    if wanted.actions is not None:
        query = query.where(_columns.action.in_(wanted.actions))
    return _in_time(query, project_id, wanted.since, wanted.until)


def _in_time(
    query: sa.Select[*tuple[object, ...]], project_id: UUID, since: datetime | None, until: datetime | None
) -> sa.Select[*tuple[object, ...]]:
    """Changes of a project in a time, which a bound on the number finds quickly; None means no bound."""
    if since is not None:
        query = query.where(_columns.at >= since, _columns.id >= _first_number(project_id, since))
    if until is not None:
        after = sa.func.coalesce(_first_number(project_id, until), _NUMBER_MAX)
        query = query.where(_columns.at < until, _columns.id < after)
    return query


def _first_number(project_id: UUID, at: datetime) -> sa.ScalarSelect[int]:
    """The number of a project's first change at or after a time; NULL if there is none."""
    query = sa.select(_columns.id).where(_columns.project_id == project_id, _columns.at >= at)
    return query.order_by(_columns.at, _columns.id).limit(1).scalar_subquery()


async def _list(
    connection: AsyncConnection, query: sa.Select[*tuple[object, ...]], before: int | None, limit: int
) -> list[NumberedChange]:
    if before is not None:
        query = query.where(_columns.id < before)
    rows = await connection.execute(query.order_by(_columns.id.desc()).limit(limit))
    return await collect(map(_from_row, rows))  # each parses the JSON of a row, which can take a millisecond


def _from_row(row: sa.Row[*tuple[object, ...]]) -> NumberedChange:
    token = TokenName(row.token_id, row.token_name) if row.token_id else None
    return NumberedChange(
        number=row.id,
        change=Change(
            at=row.at,
            actor=Actor(row.actor_id, row.actor_email, token, release=_read_release(row.release)),
            action=row.action,
            resource_id=row.resource_id,
            scope=Scope(row.project_id, row.environment_id, row.flag_id, row.flag_key),
            before=row.before,
            after=row.after,
            restores=row.restores,
            batch=_read_batch(row.batch),
        ),
    )


def _read_release(stored: dict[str, Any] | None) -> ReleaseName | None:
    return ReleaseName(UUID(stored["id"]), stored["name"], stored["guard"]) if stored else None
