"""Targeting rules in the database."""

import json
from collections.abc import Collection, Iterable, Iterator
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import tables
from flagstaff.database.long_lists import read_many, some_at_a_time, write_many
from flagstaff.database.resources import Resource
from flagstaff.database.windows import Listing
from flagstaff.flags.flags import Rule, RuleType
from flagstaff.flags.targeting.condition_columns import read_condition, write_condition
from flagstaff.values.errors import not_found
from flagstaff.values.lists import WHOLE, Window

_columns = tables.rules.c
_RULES = Resource(
    Rule,
    tables.rules,
    reads={
        "rule_type": RuleType,
        "rule_value": lambda stored: stored or None,
        "conditions": lambda stored: tuple(map(read_condition, stored)),
    },
    writes={
        "rule_value": lambda value: value or "",
        "conditions": lambda conditions: list(map(write_condition, conditions)),
    },
)
COLUMNS, from_row = _RULES.columns, _RULES.read
"""Columns, and what makes a rule of a row of them."""
_rule = _RULES.select()
_insert = tables.rules.insert()
_by_id = _rule.where(_columns.id == sa.bindparam("rule"), _columns.flag_id == sa.bindparam("flag"))
# The negated lowest priority does not fit into 32 bits.
_order = (-sa.cast(_columns.priority, sa.BigInteger), _columns.created_at, _columns.id)
_of_flag = Listing(_rule.where(_columns.flag_id == sa.bindparam("flag")), _order)
_of_flags = _rule.where(_columns.flag_id.in_(sa.bindparam("flags", expanding=True)))
_of_named_flags = _rule.join(tables.flags, tables.flags.c.id == _columns.flag_id).where(
    tables.flags.c.environment_id == sa.bindparam("environment"),
    tables.flags.c.key.in_(sa.bindparam("keys", expanding=True)),
    sa.not_(tables.is_archived),
)
_of_environment = Listing(
    _rule.join(tables.flags, tables.flags.c.id == _columns.flag_id).where(
        tables.flags.c.environment_id == sa.bindparam("environment"), sa.not_(tables.is_archived)
    ),
    (_columns.flag_id, *_order),
)
_costly = _rule.join(tables.flags, tables.flags.c.id == _columns.flag_id).where(
    tables.flags.c.environment_id == sa.bindparam("environment"),
    sa.not_(tables.is_archived),
    tables.is_costly,
)
_given_variants = sa.select(_columns.variant).distinct().where(_columns.flag_id == sa.bindparam("flag"))
_count_of_keys = (
    sa.select(sa.func.count())
    .select_from(tables.rules.join(tables.flags))
    .where(
        tables.flags.c.environment_id.in_(sa.bindparam("environments", expanding=True)),
        tables.flags.c.key.in_(sa.bindparam("keys", expanding=True)),
    )
)
_of_each = (
    sa.select(sa.func.count().label("rules"))
    .where(_columns.flag_id.in_(sa.bindparam("flags", expanding=True)))
    .group_by(_columns.flag_id)
    .subquery()
)
_most = sa.select(sa.func.coalesce(sa.func.max(_of_each.c.rules), 0))
_count_in_environment = (
    sa.select(sa.func.count())
    .select_from(tables.rules.join(tables.flags))
    .where(tables.flags.c.environment_id == sa.bindparam("environment"))
)
_count_live = _count_in_environment.where(sa.not_(tables.is_archived))
_condition_characters = (
    sa.select(sa.func.coalesce(sa.func.sum(sa.func.length(sa.cast(_columns.conditions, sa.Text))), 0))
    .select_from(tables.rules.join(tables.flags))
    .where(tables.flags.c.environment_id == sa.bindparam("environment"))
)
_update = tables.rules.update().where(_columns.id == sa.bindparam("rule"))
_delete_some = tables.rules.delete().where(_columns.id.in_(sa.bindparam("rules", expanding=True)))
_delete = tables.rules.delete().where(_columns.id == sa.bindparam("rule"))


async def create_rule(connection: AsyncConnection, rule: Rule) -> None:
    """Insert a rule."""
    await connection.execute(_insert, _RULES.row(rule))


async def create_rules(connection: AsyncConnection, new: Iterable[Rule]) -> None:
    """Insert rules."""
    await write_many(connection, _insert, map(_RULES.row, new))


async def find_rule(connection: AsyncConnection, flag_id: UUID, rule_id: UUID) -> Rule | None:
    """The rule with this id of a flag, if there is one."""
    row = (await connection.execute(_by_id, {"flag": flag_id, "rule": rule_id})).one_or_none()
    return _RULES.read(row) if row is not None else None


async def get_rule(connection: AsyncConnection, flag_id: UUID, rule_id: UUID) -> Rule:
    """The rule with this id of a flag; raises Error NOT_FOUND."""
    rule = await find_rule(connection, flag_id, rule_id)
    if rule is None:
        raise not_found("rule")
    return rule


async def list_rules(connection: AsyncConnection, flag_id: UUID, window: Window = WHOLE) -> Iterator[Rule]:
    """The rules of a flag in the order in which they are tried: by priority descending, time of creation and id.

    Converted when read.
    """
    rows = await _of_flag.rows(connection, window, {"flag": flag_id})
    return map(from_row, rows)


async def list_rules_of_environment(
    connection: AsyncConnection, environment_id: UUID, window: Window = WHOLE
) -> Iterator[Rule]:
    """The rules of all flags of an environment that are not archived, grouped by flag, in the order of trial.

    Converted when read.
    """
    rows = await _of_environment.rows(connection, window, {"environment": environment_id})
    return map(from_row, rows)


async def list_rules_of_flags(connection: AsyncConnection, flag_ids: Collection[UUID]) -> Iterator[Rule]:
    """The rules of some flags, in no particular order; converted when read."""
    return map(from_row, await read_many(connection, _of_flags, "flags", flag_ids))


async def list_rules_of_keys(
    connection: AsyncConnection, environment_id: UUID, keys: Collection[str]
) -> Iterator[Rule]:
    """The rules of those flags of an environment that have one of these keys and are not archived, in no order.

    Converted when read.
    """
    rows = await connection.execute(_of_named_flags, {"environment": environment_id, "keys": list(keys)})
    return map(from_row, rows)


async def list_given_variants(connection: AsyncConnection, flag_id: UUID) -> set[str]:
    """The variants that the rules of a flag give."""
    return {variant for variant in (await connection.execute(_given_variants, {"flag": flag_id})).scalars() if variant}


async def count_rules_of_keys(
    connection: AsyncConnection, environment_ids: Collection[UUID], keys: Collection[str]
) -> int:
    """Count the rules of the flags with some keys in some environments."""
    given = {"environments": list(environment_ids), "keys": list(keys)}
    return int((await connection.execute(_count_of_keys, given)).scalar_one())


async def count_most_rules(connection: AsyncConnection, flag_ids: Collection[UUID]) -> int:
    """Return the highest number of rules that one of some flags has."""
    return int((await connection.execute(_most, {"flags": list(flag_ids)})).scalar_one())


async def count_environment_rules(connection: AsyncConnection, environment_id: UUID) -> int:
    """Count the rules of an environment's flags."""
    return int((await connection.execute(_count_in_environment, {"environment": environment_id})).scalar_one())


async def list_costly_rules(connection: AsyncConnection, environment_id: UUID) -> Iterator[Rule]:
    """The rules with conditions or a segment of the flags that are not archived, in no particular order.

    Converted when read.
    """
    return map(_RULES.read, await connection.execute(_costly, {"environment": environment_id}))


async def count_live_rules(connection: AsyncConnection, environment_id: UUID) -> int:
    """Count the rules of an environment's flags, without archived flags."""
    return int((await connection.execute(_count_live, {"environment": environment_id})).scalar_one())


async def count_condition_characters(connection: AsyncConnection, environment_id: UUID) -> int:
    """Count the characters of the conditions of an environment's rules, as JSON."""
    return int((await connection.execute(_condition_characters, {"environment": environment_id})).scalar_one())


async def update_rule(connection: AsyncConnection, rule: Rule) -> None:
    """Update a rule's mutable fields."""
    await connection.execute(_update, {"rule": rule.id, **_RULES.changes(rule)})


def condition_characters(rule: Rule) -> int:
    """Count the characters of a rule's conditions as `count_condition_characters` does."""
    return len(json.dumps(list(map(write_condition, rule.conditions))))


async def update_rules(connection: AsyncConnection, changed: Iterable[Rule]) -> None:
    """Update the mutable fields of rules, some at a time, so that evaluations are answered in between."""
    for some in some_at_a_time({"rule": rule.id, **_RULES.changes(rule)} for rule in changed):
        await connection.execute(_update, some)


async def delete_rule(connection: AsyncConnection, rule_id: UUID) -> None:
    """Delete a rule."""
    await connection.execute(_delete, {"rule": rule_id})


async def delete_rules(connection: AsyncConnection, rule_ids: Collection[UUID]) -> None:
    """Delete rules, some at a time, so that evaluations are answered in between."""
    for some in some_at_a_time(rule_ids):
        await connection.execute(_delete_some, {"rules": some})
