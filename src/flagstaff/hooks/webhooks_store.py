"""Webhooks in the database."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import tables
from flagstaff.database.resources import Resource
from flagstaff.hooks.deliveries import State
from flagstaff.hooks.webhooks import Disabled, Format, Webhook
from flagstaff.values.errors import not_found

_columns, _deliveries, _attempts = tables.webhooks.c, tables.webhook_deliveries.c, tables.webhook_attempts.c
_WEBHOOKS = Resource(
    Webhook,
    tables.webhooks,
    reads={"events": tuple, "environments": tuple, "tags": tuple, "format": Format, "disabled_reason": Disabled},
)
_of_place = _columns.project_id.is_not_distinct_from(sa.bindparam("project", type_=sa.Uuid))
_all = _WEBHOOKS.select().where(_of_place).order_by(_columns.created_at, _columns.id)
_by_id = _WEBHOOKS.select().where(_columns.id == sa.bindparam("webhook"))
_count = sa.select(sa.func.count()).where(_of_place)
_update = tables.webhooks.update().where(_columns.id == sa.bindparam("webhook"))
_delete = tables.webhooks.delete().where(_columns.id == sa.bindparam("webhook"))
_is_administrators = sa.exists().where(
    tables.accounts.c.id == _columns.owner_id,
    tables.accounts.c.is_administrator,
    tables.accounts.c.deactivated_at.is_(None),
)
_without_owner = (
    _WEBHOOKS.select().where(_columns.project_id.is_(None), _columns.enabled, ~_is_administrators).order_by(_columns.id)
)


@dataclass(frozen=True, slots=True)
class Secrets:
    """The sealed secrets of a webhook: the present one, and the one before as long as it also signs."""

    present: bytes
    previous: bytes | None = None
    previous_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Health:
    """The health of a webhook: messages that wait, since when, those that were dropped, and its newest attempt."""

    waiting: int
    waiting_since: datetime | None
    dropped: int
    last_attempt_at: datetime | None
    last_status: int | None
    last_error: str | None


async def create_webhook(connection: AsyncConnection, webhook: Webhook, secret: bytes) -> None:
    """Insert a webhook with its sealed secret."""
    await connection.execute(tables.webhooks.insert(), {**_WEBHOOKS.row(webhook), "secret": secret})


async def list_webhooks(connection: AsyncConnection, project_id: UUID | None) -> list[Webhook]:
    """The webhooks of a project, or of the whole instance, oldest first."""
    return [_WEBHOOKS.read(row) for row in await connection.execute(_all, {"project": project_id})]


async def find_webhook(connection: AsyncConnection, webhook_id: UUID) -> Webhook | None:
    """The webhook with this id, if there is one."""
    row = (await connection.execute(_by_id, {"webhook": webhook_id})).one_or_none()
    return _WEBHOOKS.read(row) if row is not None else None


async def get_webhook(connection: AsyncConnection, project_id: UUID | None, webhook_id: UUID) -> Webhook:
    """The webhook with this id in a project, or of the whole instance; raises Error NOT_FOUND."""
    webhook = await find_webhook(connection, webhook_id)
    if webhook is None or webhook.project_id != project_id:
        raise not_found("webhook")
    return webhook


async def list_without_owner(connection: AsyncConnection, *, for_update: bool = False) -> list[Webhook]:
    """The webhooks of the instance that are on although their owner is not an active administrator."""
    query = _without_owner.with_for_update(of=tables.webhooks) if for_update else _without_owner
    return [_WEBHOOKS.read(row) for row in await connection.execute(query)]


async def count_webhooks(connection: AsyncConnection, project_id: UUID | None) -> int:
    """Count the webhooks of a project, or of the whole instance."""
    return int((await connection.execute(_count, {"project": project_id})).scalar_one())


async def update_webhook(connection: AsyncConnection, webhook: Webhook) -> None:
    """Update a webhook, without its secrets."""
    await connection.execute(_update, {"webhook": webhook.id, **_WEBHOOKS.changes(webhook)})


async def delete_webhook(connection: AsyncConnection, webhook_id: UUID) -> None:
    """Delete a webhook, and its messages."""
    await connection.execute(_delete, {"webhook": webhook_id})


async def read_secrets(connection: AsyncConnection, webhook_id: UUID) -> Secrets:
    """The sealed secrets of a webhook, which must exist."""
    query = sa.select(_columns.secret, _columns.previous_secret, _columns.previous_secret_until)
    return Secrets(*(await connection.execute(query.where(_columns.id == webhook_id))).one())


async def replace_secret(connection: AsyncConnection, webhook_id: UUID, secret: bytes, until: datetime) -> None:
    """Replace a secret; the one before also signs until then."""
    values = {"previous_secret": _columns.secret, "previous_secret_until": until, "secret": secret}
    await connection.execute(tables.webhooks.update().where(_columns.id == webhook_id).values(values))


async def read_health(connection: AsyncConnection, webhook_ids: Sequence[UUID]) -> dict[UUID, Health]:
    """Return the health of webhooks, by their ids."""
    waiting = (
        sa.select(
            _deliveries.webhook_id, sa.func.count().label("waiting"), sa.func.min(_deliveries.created_at).label("since")
        )
        .where(_deliveries.webhook_id.in_(webhook_ids), _deliveries.state == State.WAITING)
        .group_by(_deliveries.webhook_id)
        .subquery()
    )
    newest = (
        sa.select(_attempts.id)
        .join(tables.webhook_deliveries, _deliveries.number == _attempts.delivery)
        .where(_deliveries.webhook_id == _columns.id)
        .order_by(_attempts.id.desc())
        .limit(1)
        .correlate(tables.webhooks)
        .scalar_subquery()
    )
    query = (
        sa.select(
            _columns.id,
            waiting.c.waiting,
            waiting.c.since,
            _columns.dropped,
            _attempts.at,
            _attempts.status,
            _attempts.error,
        )
        .outerjoin(waiting, waiting.c.webhook_id == _columns.id)
        .outerjoin(tables.webhook_attempts, _attempts.id == newest)
        .where(_columns.id.in_(webhook_ids))
    )
    return {
        row.id: Health(row.waiting or 0, row.since, row.dropped, row.at, row.status, row.error)
        for row in await connection.execute(query)
    }
