"""Lists of changes in the audit trail, newest first, by their place and a filter."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from heapq import nlargest
from operator import attrgetter
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.audit.change_summaries_store import named_segments
from flagstaff.changes.actions import actions_of
from flagstaff.changes.changes import NumberedChange
from flagstaff.concurrency.pacing import paced
from flagstaff.database import tables
from flagstaff.database.change_states_store import read_whole
from flagstaff.projects.projects import Environment

_columns = tables.changes.c
_NUMBER_MAX = 2**63 - 1
_DECIDING = ("flag.%", "rule.%")
_READ_AT_ONCE = 20
_OF_SEGMENTS = actions_of("segment")
_OF_MEMBERS = actions_of("member")
_stored_characters = sum(
    (sa.func.coalesce(sa.func.length(sa.cast(each, sa.Text)), 0) for each in (_columns.before, _columns.after)),
    start=sa.literal(0),
)
# Of the whole states, of which a delta has only a part.
_characters = sa.case((_columns.based_on.is_not(None), _columns.whole_bytes), else_=_stored_characters).label(
    "characters"
)
_comments = (
    sa.select(tables.comments.c.change, sa.func.count())
    .where(
        tables.comments.c.project_id == sa.bindparam("project"),
        tables.comments.c.change.in_(sa.bindparam("numbers", expanding=True)),
    )
    .group_by(tables.comments.c.change)
)


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


@dataclass(slots=True)
class Reading:
    """The bounds of what a request reads of the trail: `changes`, and the `characters` of their states.

    `complete_since` is the time since which it has all; None as long as it was not stopped.
    """

    changes: int
    characters: int
    complete_since: datetime | None = None


async def list_project_changes(
    connection: AsyncConnection, project_id: UUID, wanted: ChangeFilter, *, before: int | None, limit: int
) -> list[NumberedChange]:
    """The changes in a project, including deleted resources, newest first, with numbers below `before`."""
    query = _matching(sa.select(tables.changes).where(_columns.project_id == project_id), project_id, wanted)
    if wanted.environment_ids is not None:
        query = query.where(_columns.environment_id.in_(wanted.environment_ids))
    return await _list(connection, query, before, limit, wanted.actions)


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
    query = _matching(query, environment.project_id, wanted)
    if wanted.actions is not None:  # the index of actions begins with the project
        query = query.where(_columns.project_id == environment.project_id)
    return await _list(connection, query, before, limit, wanted.actions)


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
            query = query.where(_columns.resource_id.in_(named_segments(tables.flags.c.id == wanted.flag_id)))
        found += await _list(connection, _matching(query, project_id, wanted), before, limit)
    return newest_first(found, limit)


async def list_account_changes(
    connection: AsyncConnection, account_id: UUID, *, before: int | None, limit: int
) -> list[NumberedChange]:
    """The changes of an account itself, by any actor, newest first, with numbers below `before`."""
    query = sa.select(tables.changes).where(_columns.resource_id == account_id)
    return await _list(connection, query, before, limit)


async def list_instance_changes(connection: AsyncConnection, *, before: int | None, limit: int) -> list[NumberedChange]:
    """The changes in no project, which concern accounts and the instance, newest first."""
    query = sa.select(tables.changes).where(_columns.project_id.is_(None))
    return await _list(connection, query, before, limit)


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
        rows = [row async for row in paced(await connection.execute(part))]  # each parses the JSON of a row
        changes = await read_whole(connection, rows)
        read = [(each, row.characters) for each, row in zip(changes, rows, strict=True)]
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


async def count_characters(connection: AsyncConnection, project_id: UUID, numbers: Collection[int]) -> int:
    """The characters of the states before and after changes in a project, together."""
    query = sa.select(sa.func.coalesce(sa.func.sum(_characters.element), 0))
    of_changes = _columns.project_id == project_id, _columns.id.in_(numbers)
    return int((await connection.execute(query.where(*of_changes))).scalar_one())


def newest_first(changes: Iterable[NumberedChange], limit: int) -> list[NumberedChange]:
    """The newest of some changes, newest first."""
    return nlargest(limit, changes, key=attrgetter("number"))


async def find_environment_ids(connection: AsyncConnection, project_id: UUID, key: str) -> list[UUID]:
    """The ids of every environment that a project has or had under a key."""
    query = sa.select(_columns.resource_id).where(
        _columns.project_id == project_id,
        _columns.action == "environment.created",
        _columns.after["key"].as_string() == key,
    )
    return list((await connection.execute(query)).scalars())


async def count_comments(connection: AsyncConnection, project_id: UUID, numbers: Collection[int]) -> dict[int, int]:
    """Count the comments on changes in a project, by the numbers of those that have any."""
    rows = await connection.execute(_comments, {"project": project_id, "numbers": list(numbers)})
    return {row[0]: row[1] for row in rows}


def _matching(
    query: sa.Select[*tuple[object, ...]], project_id: UUID, wanted: ChangeFilter
) -> sa.Select[*tuple[object, ...]]:
    """Changes of a project by the filters that every list of changes has, except for the actions."""
    for column, value in ((_columns.actor_id, wanted.actor_id), (_columns.flag_key, wanted.flag_key)):
        if value is not None:
            query = query.where(column == value)
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
    connection: AsyncConnection,
    query: sa.Select[*tuple[object, ...]],
    before: int | None,
    limit: int,
    actions: Collection[str] | None = None,
) -> list[NumberedChange]:
    if before is not None:
        query = query.where(_columns.id < before)
    page = query.order_by(_columns.id.desc()).limit(limit)
    if actions is not None and connection.dialect.name == "sqlite":
        # The newest of each action stand together in an index. For `action IN (…)`, SQLite reads all changes of the
        # project instead, which takes seconds if few match.
        each = page.with_only_columns(_columns.id)
        found = [sa.select(each.where(_columns.action == action).subquery()) for action in sorted(actions)]
        among = _columns.id.in_(sa.union_all(*found)) if found else sa.false()
        page = sa.select(tables.changes).where(among).order_by(_columns.id.desc()).limit(limit)
    elif actions is not None:
        page = page.where(_columns.action.in_(actions))
    return await read_whole(connection, await connection.execute(page))
