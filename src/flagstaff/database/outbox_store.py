"""The outbox: a message to each webhook that may want a change, written in the transaction of the change.

So a message exists if and only if its change does, but for the oldest of an operation that would cause more than its
bound. A webhook whose `events` do not have the change's action gets none, so that others' floods cost it nothing.
`hooks/` sends them, and decides there whether a webhook wants one.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.changes.actions import EVERYTHING, covers
from flagstaff.changes.changes import Change, Scope
from flagstaff.database import tables

log = structlog.get_logger(__name__)

OF_OPERATION_MAX = 1_000
"""The number of messages that one operation causes to a project's webhooks at most, and to those of the instance."""
TO_WEBHOOK_MAX = 200
"""The number of messages that one operation causes to a webhook at most: as many as a bulk action has flags."""

_webhooks, _changes = tables.webhooks.c, tables.changes.c
_STANDARD = "standard"
_columns = ("webhook_id", "project_id", "first_change", "last_change", "state", "attempts", "created_at", "revision")
_at = sa.bindparam("at", type_=tables.Moment)
_first, _last = sa.bindparam("first", type_=sa.BigInteger), sa.bindparam("last", type_=sa.BigInteger)
_project, _revision = sa.bindparam("project", type_=sa.Uuid), sa.bindparam("revision", type_=sa.BigInteger)
_chosen = _webhooks.id.in_(sa.bindparam("webhooks", expanding=True))
# An event is a text without quotes in a list in JSON. `_` stands for any character here, which lets none be missed.
_wanted = sa.or_(*(sa.cast(_webhooks.events, sa.Text).like(sa.bindparam(each)) for each in ("all", "kind", "type")))


def _row(first: sa.ColumnElement[int], last: sa.ColumnElement[int]) -> sa.Select[*tuple[object, ...]]:
    return sa.select(_webhooks.id, _project, first, last, sa.literal("waiting"), sa.literal(0), _at, _revision)


def _insert(rows: sa.Select[*tuple[object, ...]]) -> sa.Insert:
    return tables.webhook_deliveries.insert().from_select(_columns, rows)


_insert_one = _insert(_row(_first, _first).where(tables.is_concerned_webhook, _wanted))
_insert_together = _insert(_row(_first, _last).where(_chosen))
# Others may have been made in other environments meanwhile.
_made = sa.and_(
    _changes.id.between(_first, _last),
    _changes.project_id == sa.bindparam("project"),
    _changes.environment_id.is_not_distinct_from(sa.bindparam("environment", type_=sa.Uuid)),
)
_of_actions = sa.and_(_made, _changes.action.in_(sa.bindparam("actions", expanding=True)))
_insert_each = _insert(
    _row(_changes.id, _changes.id)
    .join_from(tables.webhooks, tables.changes, _of_actions)
    .where(_chosen)
    .order_by(_webhooks.id, _changes.id)
)
_counts = sa.select(_changes.action, sa.func.count()).where(_made).group_by(_changes.action)
_nth_newest = sa.select(_changes.id).where(_of_actions).order_by(_changes.id.desc()).limit(1).offset(sa.bindparam("n"))
_concerned = sa.select(
    _webhooks.id, _webhooks.project_id, _webhooks.format, _webhooks.events, _webhooks.environments
).where(tables.is_concerned_webhook)
_key = sa.select(tables.environments.c.key).where(tables.environments.c.id == sa.bindparam("environment"))
_leave_out = (
    tables.webhooks.update()
    .where(_webhooks.id == sa.bindparam("webhook"))
    .values(dropped=_webhooks.dropped + sa.bindparam("count", type_=sa.BigInteger))
)

_insert_notice = tables.webhook_deliveries.insert().from_select(
    ("webhook_id", "project_id", "type", "state", "attempts", "created_at", "notice"),
    sa.select(
        _webhooks.id,
        _project,
        sa.bindparam("kind_of_notice", type_=sa.Text),
        sa.literal("waiting"),
        sa.literal(0),
        _at,
        sa.bindparam("notice", type_=sa.BigInteger),
    ).where(tables.is_concerned_webhook, _wanted),
)
_Webhook = sa.Row[Any, Any, Any, Any, Any]


class _Group(NamedTuple):
    """Webhooks that want the same actions, and how many messages each may get: about the newest changes."""

    webhooks: list[UUID]
    actions: list[str]
    share: int


async def enqueue(connection: AsyncConnection, number: int, change: Change, revision: int | None) -> None:
    """Write the messages about a change with this number, and with the revision that has it, if there is one."""
    values = {"project": change.scope.project_id, "first": number, "at": change.at, "revision": revision}
    await connection.execute(_insert_one, {**values, **_patterns(change.action)})


async def enqueue_all(
    connection: AsyncConnection, scope: Scope, numbers: Sequence[int], *, at: datetime, revision: int | None
) -> None:
    """Write the messages about changes with these numbers, which one operation has made in one environment or in none.

    `revision` is the one that has the changes, if they affect evaluations.
    """
    made: dict[str, Any] = {
        "project": scope.project_id,
        "environment": scope.environment_id,
        "first": numbers[0],
        "last": numbers[-1],
    }
    values = {**made, "at": at, "revision": revision}
    counts = {row[0]: row[1] for row in await connection.execute(_counts, made)}
    concerned = await _list_concerned(connection, scope, counts)
    people = [row.id for row in concerned if row.format != _STANDARD]
    if people:  # one message for all changes
        await connection.execute(_insert_together, {**values, "webhooks": people})
    left_out: dict[UUID, int] = {}
    for each in _group([row for row in concerned if row.format == _STANDARD], counts):
        first = numbers[0]
        if (count := sum(counts[action] for action in each.actions)) > each.share:
            newest = {**made, "actions": each.actions, "n": each.share - 1}
            first = (await connection.execute(_nth_newest, newest)).scalar_one()
            left_out |= dict.fromkeys(each.webhooks, count - each.share)
        given = {**values, "first": first, "webhooks": each.webhooks, "actions": each.actions}
        await connection.execute(_insert_each, given)
    for webhook_id, count in sorted(left_out.items()):  # in the order in which others lock them
        await connection.execute(_leave_out, {"webhook": webhook_id, "count": count})
    if left_out:
        log.warning("webhook_messages_left_out", webhooks=len(left_out), count=sum(left_out.values()))


async def enqueue_notice(
    connection: AsyncConnection, project_id: UUID | None, number: int, *, kind: str, at: datetime
) -> None:
    """Write the messages about the notice with this number, which is about a project or about none."""
    values = {"project": project_id, "kind_of_notice": kind, "at": at, "notice": number}
    await connection.execute(_insert_notice, {**values, **_patterns(kind)})


async def _list_concerned(connection: AsyncConnection, scope: Scope, actions: Mapping[str, int]) -> list[_Webhook]:
    """The webhooks that want any of these actions in an environment."""
    found = [
        row
        for row in await connection.execute(_concerned, {"project": scope.project_id})
        if any(covers(row.events, action) for action in actions)
    ]
    if scope.environment_id is None or all(row.environments is None for row in found):
        return found
    key = (await connection.execute(_key, {"environment": scope.environment_id})).scalar_one_or_none()
    return [row for row in found if key is None or row.environments is None or key in row.environments]


def _group(programs: Sequence[_Webhook], actions: Mapping[str, int]) -> Iterator[_Group]:
    """Webhooks that want the same actions."""
    groups: dict[tuple[UUID | None, frozenset[str]], list[UUID]] = {}
    for row in programs:
        wanted = frozenset(each for each in actions if covers(row.events, each))
        groups.setdefault((row.project_id, wanted), []).append(row.id)
    webhooks_of = Counter(row.project_id for row in programs)
    for (project_id, wanted), webhooks in groups.items():
        share = max(1, min(TO_WEBHOOK_MAX, OF_OPERATION_MAX // webhooks_of[project_id]))
        yield _Group(webhooks, sorted(wanted), share)


def _patterns(action: str) -> dict[str, str]:
    """The patterns of lists of events that have an action, as `covers` says."""
    kind = action.partition(".")[0]
    return {"all": f'%"{EVERYTHING}"%', "kind": f'%"{kind}.*"%', "type": f'%"{action}"%'}
