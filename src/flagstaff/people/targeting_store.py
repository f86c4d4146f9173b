"""Finds the rules and segments of a project that name a user, some at a time."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.audit.redactions_store import contains
from flagstaff.database import tables
from flagstaff.history.erased_users import Subject
from flagstaff.people.naming import attributes_naming
from flagstaff.people.targeting import NamedBy

EXAMINED_MAX = 100
"""The rules, and the segments, with the user's texts that are examined."""
_AT_ONCE = 10  # each may have half a megabyte of conditions

_rules, _segments = tables.rules.c, tables.project_segments.c
_all_rules = (
    sa.select(
        _rules.id,
        tables.flags.c.key,
        tables.flags.c.environment_id,
        _rules.flag_id,
        _rules.rule_type,
        _rules.rule_value,
        sa.cast(_rules.conditions, sa.Text).label("conditions"),
    )
    .select_from(tables.rules.join(tables.flags).join(tables.environments))
    .where(tables.environments.c.project_id == sa.bindparam("project"), _rules.id > sa.bindparam("after"))
    .order_by(_rules.id)
)
_all_segments = (
    sa.select(_segments.id, _segments.key, sa.cast(_segments.conditions, sa.Text).label("conditions"))
    .where(_segments.project_id == sa.bindparam("project"), _segments.id > sa.bindparam("after"))
    .order_by(_segments.id)
)


async def list_naming(
    connection: AsyncConnection, project_id: UUID, subject: Subject
) -> tuple[Sequence[NamedBy], bool]:
    """The rules and segments of a project that name a user now, and whether there may be more."""
    in_conditions = [
        [contains(each, text, is_whole=True) for text in subject.units]
        for each in (_rules.conditions, _segments.conditions)
    ]
    values = sa.func.lower(_rules.rule_value).in_([each.lower() for each in subject.units])
    found, more = [], False
    for query in (
        _all_rules.where(sa.or_(values, _rules.rule_value.in_(subject.units), *in_conditions[0])),
        _all_segments.where(sa.or_(*in_conditions[1])),
    ):
        after, examined, size = UUID(int=0), 0, _AT_ONCE
        while size == _AT_ONCE and examined < EXAMINED_MAX:
            given = {"project": project_id, "after": after}
            rows = (await connection.execute(query.limit(_AT_ONCE), given)).all()
            found += await asyncio.to_thread(_naming, rows, subject)
            size = len(rows)
            examined += size
            after = rows[-1].id if rows else after
        more = more or size == _AT_ONCE
    return found, more


def _naming(rows: Sequence[Any], subject: Subject) -> list[NamedBy]:
    found = []
    for row in rows:
        state = {**row._mapping, "conditions": json.loads(row.conditions)}  # noqa: SLF001 -- the row as a mapping
        attributes = attributes_naming(subject, state)
        if attributes and "flag_id" in state:
            found.append(NamedBy("rule", row.id, row.key, attributes, row.environment_id, row.flag_id))
        elif attributes:
            found.append(NamedBy("segment", row.id, row.key, attributes))
    return found
