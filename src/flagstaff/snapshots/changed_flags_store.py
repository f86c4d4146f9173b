"""The flags of an environment that have changed since it was loaded: one statement, and so one consistent state."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.changes.actions import NOT_EVALUATED, actions_of
from flagstaff.concurrency.pacing import collect
from flagstaff.database import tables
from flagstaff.database.revisions import Revision
from flagstaff.flags import flags_store
from flagstaff.flags.flags import Flag, Rule
from flagstaff.flags.targeting import rules_store

MANY = 200
"""With more changed flags than this it is faster to read all of them."""

_environments, _projects, _changes = tables.environments, tables.projects, tables.changes
_environment: sa.BindParameter[UUID] = sa.bindparam("environment")
_project: sa.BindParameter[UUID] = sa.bindparam("project")
_is_later = sa.and_(_changes.c.project_id == _project, _changes.c.id > sa.bindparam("since"))
_is_later_change = sa.and_(
    _environments.c.id == _environment,
    _is_later,
    sa.or_(_changes.c.environment_id == _environment, _changes.c.flag_id.is_(None)),
)
_is_its_flag = sa.and_(
    tables.flags.c.id == _changes.c.flag_id,
    tables.flags.c.environment_id == _environments.c.id,
    sa.not_(tables.is_archived),
)
_before_flag = (
    _environments.c.id,
    _environments.c.revision,
    _projects.c.revision,
    sa.func.max(_changes.c.id),
    _changes.c.environment_id,
    _changes.c.flag_id,
)
_before_rule = (*_before_flag, *flags_store.COLUMNS)


def _no(columns: Iterable[sa.ColumnElement[Any]]) -> list[sa.ColumnElement[Any]]:
    return [sa.type_coerce(sa.null(), column.type) for column in columns]


# A row for each environment of the project, and for the wanted one, a row for each flag that was changed.
_flags = (
    sa.select(*_before_rule, *_no(rules_store.COLUMNS))
    .select_from(
        _environments.join(_projects).outerjoin(_changes, _is_later_change).outerjoin(tables.flags, _is_its_flag)
    )
    .where(_environments.c.project_id == _project)
    .group_by(_environments.c.id, _projects.c.id, _changes.c.environment_id, _changes.c.flag_id, tables.flags.c.id)
)
_some_changed = (
    sa.select(_changes.c.flag_id).where(_is_later, _changes.c.environment_id == _environment).distinct().limit(MANY)
)
# A row for each rule of these flags. With a join to the flags, a long flag would come again with each of its rules.
_rules = sa.select(*_no(_before_rule), *rules_store.COLUMNS).where(tables.rules.c.flag_id.in_(_some_changed))
_changed = sa.union_all(_flags, _rules)


_OF_KEYS = ("project.key_regenerated", *actions_of("sdk_key"))
_kinds = sa.select(
    sa.func.max(_changes.c.id),
    sa.func.sum(sa.case((_changes.c.action.in_(_OF_KEYS), 1), else_=0)),
    sa.func.sum(sa.case((_changes.c.action.in_((*_OF_KEYS, *NOT_EVALUATED)), 0), else_=1)),
).where(_is_later, sa.or_(_changes.c.environment_id == _environment, _changes.c.environment_id.is_(None)))


class ChangedFlags(NamedTuple):
    """The flags of an environment that were changed after a change with a certain number.

    `revisions` are the revisions of all environments of the project, by id. `number` is the number of the latest change
    in the environment, and `ids` are the flags that were changed; `flags` has no deleted or archived flags, and `rules`
    has the rules of the others. If `are_many`, some rules are missing. `are_alone` says that nothing else of the
    project was changed.
    """

    revisions: Mapping[UUID, Revision]
    number: int
    ids: frozenset[UUID]
    flags: Iterable[Flag]
    rules: Iterable[Rule]
    are_many: bool
    are_alone: bool


async def find_changed_flags(
    connection: AsyncConnection, project_id: UUID, environment_id: UUID, since: int
) -> ChangedFlags:
    """Find the flags that were changed after the number `since`; they and their rules are converted when read.

    Writes to one project are serialized, so no lower number can appear later.
    """
    ids = {"project": project_id, "environment": environment_id, "since": since}
    rows = await collect(await connection.execute(_changed, ids))
    places = [row for row in rows if row[0] is not None]
    changed = [row[3:] for row in places if row[3] is not None]
    flags = frozenset(flag_id for _, _, flag_id, *_ in changed if flag_id is not None)
    return ChangedFlags(
        {each: Revision(*revision) for each, *revision in (row[:3] for row in places)},
        max([number for number, where, *_ in changed if where == environment_id], default=since),
        flags,
        (flags_store.from_row(flag) for _, _, _, *flag in changed if flag[0] is not None),
        (rules_store.from_row(row[len(_before_rule) :]) for row in rows if row[0] is None),
        are_many=len(flags) > MANY,
        are_alone=all(flag_id is not None for _, _, flag_id, *_ in changed),
    )


async def find_number_if_only_keys_changed(
    connection: AsyncConnection, project_id: UUID, environment_id: UUID, since: int
) -> int | None:
    """The number of the latest change after `since`, if keys have changed and nothing that flags depend on has.

    None if something else may have changed, in the environment or in the project, or if nothing is known to have.
    """
    ids = {"project": project_id, "environment": environment_id, "since": since}
    latest, of_keys, others = (await connection.execute(_kinds, ids)).one()
    return latest if of_keys and not others else None
