"""Subscriptions in the database."""

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import tables
from flagstaff.database.resources import Resource
from flagstaff.notifications.subscriptions import Subscribed, Subscription, SubscriptionKind, Target

_columns, _environments, _flags = tables.subscriptions.c, tables.environments.c, tables.flags.c
_of_account = _columns.account_id == sa.bindparam("account", type_=sa.Uuid)
_is_known = _columns.kind.in_(list(SubscriptionKind))  # a later release may know others
_in_project = _columns.project_id == sa.bindparam("project", type_=sa.Uuid)
_SUBSCRIPTIONS = Resource(
    Subscription,
    tables.subscriptions,
    also={"project": tables.projects.c.name, "environment": _environments.key, "flag_id": _flags.id},
    reads={"kind": SubscriptionKind},
)
_subscription = (
    _SUBSCRIPTIONS.select()
    .join_from(tables.subscriptions, tables.projects, tables.projects.c.id == _columns.project_id)
    .outerjoin(tables.environments, _environments.id == _columns.environment_id)
    .outerjoin(
        tables.flags,
        sa.and_(
            _columns.kind == SubscriptionKind.FLAG.value,
            _flags.environment_id == _columns.environment_id,
            _flags.key == _columns.name,
        ),
    )
    .where(_of_account, _is_known)
    .order_by(_columns.created_at.desc(), _columns.id.desc())
)
_own_in_project = _subscription.where(_in_project)
_delete = tables.subscriptions.delete().where(_of_account, _in_project, _columns.id == sa.bindparam("subscription"))
_is_environment = _columns.kind == SubscriptionKind.ENVIRONMENT.value
_concerned = sa.select(_columns.kind, _columns.environment_id, _columns.name, _columns.account_id).where(
    _in_project,
    _is_known,
    sa.or_(_is_environment, _columns.name.in_(sa.bindparam("names", expanding=True))),
)


async def list_subscriptions(
    connection: AsyncConnection, account_id: UUID, project_id: UUID | None = None
) -> Sequence[Subscription]:
    """The subscriptions of an account, in a project or in all, newest first."""
    query = _subscription if project_id is None else _own_in_project
    rows = await connection.execute(query, {"account": account_id, "project": project_id})
    return list(map(_SUBSCRIPTIONS.read, rows))


async def create_subscription(
    connection: AsyncConnection, subscription_id: UUID, project_id: UUID, subscribed: Subscribed, now: datetime
) -> None:
    """Insert a subscription that the account does not have."""
    row = {"id": subscription_id, "project_id": project_id, "account_id": subscribed.account_id, "created_at": now}
    await connection.execute(tables.subscriptions.insert(), {**row, **subscribed.target._asdict()})


async def delete_subscription(
    connection: AsyncConnection, account_id: UUID, project_id: UUID, subscription_id: UUID
) -> bool:
    """Delete a subscription of an account; return False if there is none with this id."""
    ids = {"account": account_id, "project": project_id, "subscription": subscription_id}
    return (await connection.execute(_delete, ids)).rowcount == 1


async def list_subscribed(connection: AsyncConnection, project_id: UUID, names: Collection[str]) -> list[Subscribed]:
    """List those who have subscribed to an environment of a project, or to a flag or a tag with one of these names.

    Whoever has subscribed to any environment has also subscribed to the target of segments, which is without one.
    """
    found = []
    for kind, environment_id, name, account_id in await connection.execute(
        _concerned, {"project": project_id, "names": list(names)}
    ):
        target = Target(SubscriptionKind(kind), environment_id, name)
        found.append(Subscribed(target, account_id))
        if target.kind is SubscriptionKind.ENVIRONMENT:
            found.append(Subscribed(Target(target.kind), account_id))
    return found
