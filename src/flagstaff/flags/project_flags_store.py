"""The flags of several environments by key, compared by the database: no flag is read to find those that differ."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import tables
from flagstaff.database.windows import containing
from flagstaff.flags.flags import Fallthrough
from flagstaff.flags.project_flags import Aspect, FlagInBrief
from flagstaff.values.lists import parts_of

_BETWEEN_FIELDS, _BETWEEN_RULES = "\x1f", "\x1e"
_READ_AT_ONCE = 500  # a statement's result is received at once, and others wait for the event loop meanwhile

_flags, _rules = tables.flags.c, tables.rules.c
_within = _flags.environment_id.in_(sa.bindparam("environments", expanding=True))
_of_keys = sa.and_(_within, _flags.key.in_(sa.bindparam("keys", expanding=True)))


def _text_of(*columns: sa.ColumnElement[Any]) -> sa.ColumnElement[str]:
    """The columns as one text. Null is as the empty text, which none of these columns has besides."""
    first, *others = (sa.func.coalesce(sa.cast(each, sa.Text), "") for each in columns)
    text: sa.ColumnElement[str] = first
    for each in others:
        text = text.concat(_BETWEEN_FIELDS).concat(each)
    return text


_rule = _text_of(_rules.rule_type, _rules.rollout_percentage, _rules.variant, _rules.conditions, _rules.rule_value)
# Both databases aggregate the rows of a subquery in its order.
_in_order = (
    sa.select(_rule.label("rule"))
    .where(_rules.flag_id == _flags.id, _rules.enabled)
    .order_by(_rules.priority.desc(), _rules.created_at, _rules.id)
    .correlate(tables.flags)
    .subquery()
)
_rules_as_text = sa.select(sa.func.aggregate_strings(_in_order.c.rule, _BETWEEN_RULES)).scalar_subquery()
_state = sa.case((tables.is_archived, "archived"), (_flags.enabled, "on"), else_="off")
_compared: dict[Aspect, sa.ColumnElement[Any]] = {
    Aspect.STATE: _state,
    Aspect.RULES: sa.func.coalesce(_rules_as_text, ""),
    Aspect.ROLLOUT: _text_of(_flags.rollout_percentage, _flags.fallthrough, _flags.bucketing_key, _flags.stickiness),
    Aspect.VARIANTS: sa.cast(_flags.variants, sa.Text),
    Aspect.PREREQUISITES: sa.cast(_flags.prerequisites, sa.Text),
}
_comparison = (
    sa.select(_flags.key, sa.func.count(), *(sa.func.count(each.distinct()) for each in _compared.values()))
    .where(_of_keys)
    .group_by(_flags.key)
)
_like = sa.bindparam("like", type_=sa.Text)
_keys = (
    sa.select(_flags.key)
    .where(
        _within,
        sa.not_(tables.is_archived),
        _flags.key > sa.bindparam("after", type_=sa.Text),
        sa.or_(_flags.key.ilike(_like, escape="\\"), _flags.name.ilike(_like, escape="\\")),
    )
    .group_by(_flags.key)
    .order_by(_flags.key)
    .limit(sa.bindparam("limit", type_=sa.Integer))
)
_count_of_rules = (
    sa.select(sa.func.count()).where(_rules.flag_id == _flags.id, _rules.enabled).correlate(tables.flags)
).scalar_subquery()
_in_brief = sa.select(
    _flags.id,
    _flags.environment_id,
    _flags.key,
    _flags.name,
    _flags.enabled,
    _flags.archived_at,
    _flags.updated_at,
    _flags.rollout_percentage,
    _flags.fallthrough,
    _count_of_rules,
    sa.func.json_array_length(_flags.variants),
    sa.func.json_array_length(_flags.prerequisites),
).where(_of_keys)


async def list_keys(
    connection: AsyncConnection, environment_ids: Sequence[UUID], text: str, after: str, limit: int
) -> list[str]:
    """The keys after a key, in their order, of which some environment has a flag that is not archived.

    Its key or name contains the text, ignoring case. SQLite ignores the case of ASCII letters only.
    """
    values = {"environments": environment_ids, "like": containing(text), "after": after, "limit": limit}
    return list((await connection.execute(_keys, values)).scalars())


async def compare(
    connection: AsyncConnection, environment_ids: Sequence[UUID], keys: Sequence[str]
) -> dict[str, tuple[Aspect, ...]]:
    """In what the flags with each of these keys differ; keys that no flag has are left out."""
    rows = await connection.execute(_comparison, {"environments": environment_ids, "keys": keys})
    found = {}
    for key, count, *values in rows:
        differing = [aspect for aspect, different in zip(_compared, values, strict=True) if different > 1]
        missing = [Aspect.ENVIRONMENTS] if count < len(environment_ids) else []
        found[key] = (*missing, *differing)
    return found


async def list_in_brief(
    connection: AsyncConnection, environment_ids: Sequence[UUID], keys: Sequence[str]
) -> Iterator[FlagInBrief]:
    """The flags with these keys, archived or not, in no particular order; converted when read."""
    read = [
        await connection.execute(_in_brief, {"environments": environment_ids, "keys": some})
        for some in in_parts(keys, _READ_AT_ONCE, environment_ids)
    ]
    return map(_from_row, chain.from_iterable(read))


def in_parts(keys: Sequence[str], flags: int, environment_ids: Sequence[UUID]) -> Iterator[Sequence[str]]:
    """The keys in parts that have about so many flags."""
    size = max(1, flags // max(1, len(environment_ids)))
    return parts_of(keys, size)


def _from_row(row: Sequence[Any]) -> FlagInBrief:
    *values, fallthrough, rules, variants, prerequisites = row
    values += [Fallthrough(fallthrough), rules, variants, prerequisites]
    return FlagInBrief(*values)
