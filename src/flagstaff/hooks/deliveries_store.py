"""Messages to webhooks in the database: those that wait, the attempts at them, and whose turn it is to send."""

from collections.abc import Collection, Sequence
from datetime import datetime
from itertools import groupby
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import tables
from flagstaff.database.clock import DatabaseNow
from flagstaff.hooks.deliveries import Attempt, Delivery, State
from flagstaff.values.errors import not_found

_webhooks, _columns, _attempts = tables.webhooks.c, tables.webhook_deliveries.c, tables.webhook_attempts.c
_now = sa.bindparam("now", type_=tables.Moment)
_waiting = _columns.state == State.WAITING
_is_test = sa.and_(_columns.first_change.is_(None), _columns.notice.is_(None))
_in_question = sa.and_(_waiting, sa.or_(_webhooks.enabled, _is_test))
# The first message of each webhook decides when the next attempt is made, but tests do not wait behind it.
_oldest_of = (
    sa.select(_columns.number)
    .where(_columns.webhook_id == _webhooks.id, _waiting, sa.not_(_is_test))
    .order_by(_columns.number)
    .limit(1)
    .correlate(tables.webhooks)
    .scalar_subquery()
)
_is_due = sa.or_(_columns.next_attempt_at.is_(None), _columns.next_attempt_at <= _now)
# By the clock of the database: those of instances differ.
_held_until = sa.type_coerce(_webhooks.held_until, sa.BigInteger)
_free = sa.or_(_webhooks.held_until.is_(None), _held_until < DatabaseNow())
_is_after = _webhooks.id > sa.bindparam("after", type_=sa.Uuid)
_due = (
    sa.select(_webhooks.id, _webhooks.project_id)
    .join(tables.webhook_deliveries, _columns.number == _oldest_of)
    .where(_webhooks.enabled, _is_due, _free, _is_after)
    .union(
        sa.select(_webhooks.id, _webhooks.project_id)
        .join(tables.webhook_deliveries, _columns.webhook_id == _webhooks.id)
        .where(_waiting, _is_test, _is_due, _free, _is_after)
    )
    .order_by("id")
    .limit(sa.bindparam("most"))
)
_next = (
    sa.select(tables.webhook_deliveries)
    .join(tables.webhooks, _webhooks.id == _columns.webhook_id)
    .where(_columns.webhook_id == sa.bindparam("webhook"), _in_question)
    .order_by(sa.not_(_is_test), _columns.number)
    .limit(sa.bindparam("most"))
)
_take = (
    tables.webhooks.update()
    .where(
        _webhooks.id == sa.bindparam("webhook"),
        sa.or_(_webhooks.holder == sa.bindparam("process"), _free),
    )
    .values(
        holder=sa.bindparam("process"),
        held_until=DatabaseNow() + sa.bindparam("microseconds", type_=sa.BigInteger),
    )
)
_release = (
    tables.webhooks.update()
    .where(_webhooks.id == sa.bindparam("webhook"), _webhooks.holder == sa.bindparam("process"))
    .values(holder=None, held_until=None)
)
_exists = sa.select(_webhooks.id).limit(1)
_made_and_held = (
    sa.select(_columns.number, _columns.attempts)
    .where(_columns.number.in_(sa.bindparam("numbers", expanding=True)), _waiting)
    .order_by(_columns.number)
    .with_for_update()
)
_record = (
    tables.webhook_deliveries.update()
    .where(_columns.number == sa.bindparam("of_number"))
    .values({each: sa.bindparam(each) for each in ("state", "type", "attempts", "next_attempt_at")})
)
_oldest = (
    sa.select(sa.func.min(_columns.created_at))
    .select_from(tables.webhooks)
    .join(tables.webhook_deliveries, _columns.number == _oldest_of)
    .where(_webhooks.enabled)
)


class Tried(NamedTuple):
    """An attempt at a message that was read before, the type of its event, and what comes of it."""

    delivery: Delivery
    kind: str
    attempt: Attempt
    state: State
    next_attempt_at: datetime | None

    @property
    def outcome(self) -> dict[str, object]:
        """The new values of the message, with its number."""
        values = {"state": self.state, "type": self.kind, "attempts": self.delivery.attempts + 1}
        return {"of_number": self.delivery.number, **values, "next_attempt_at": self.next_attempt_at}


async def has_webhooks(connection: AsyncConnection) -> bool:
    """Return whether there is any webhook."""
    return (await connection.execute(_exists)).first() is not None


async def find_due(connection: AsyncConnection, now: datetime, after: UUID, most: int) -> dict[UUID, UUID | None]:
    """The webhooks with a message whose attempt is due, and which no process holds, with their projects.

    A webhook of the instance has none. They are in the order of their ids, and come after one of them.
    """
    values = {"now": now, "after": after, "most": most}
    return {row.id: row.project_id for row in await connection.execute(_due, values)}


async def find_oldest_waiting(connection: AsyncConnection) -> datetime | None:
    """The time of the oldest change of which a webhook that is enabled has not been told."""
    moment: datetime | None = (await connection.execute(_oldest)).scalar_one()
    return moment


async def take_turn(connection: AsyncConnection, webhook_id: UUID, holder: str, seconds: float) -> bool:
    """Take or keep the turn at a webhook for so long; return False if another process has it."""
    values = {"webhook": webhook_id, "process": holder, "microseconds": round(seconds * 1_000_000)}
    return (await connection.execute(_take, values)).rowcount == 1


async def end_turn(connection: AsyncConnection, webhook_id: UUID, holder: str) -> None:
    """Give a turn back, if the holder still has it."""
    await connection.execute(_release, {"webhook": webhook_id, "process": holder})


async def find_next(connection: AsyncConnection, webhook_id: UUID, most: int) -> list[Delivery]:
    """The messages that are to be sent next: tests, and then the oldest ones."""
    return [_from_row(row) for row in await connection.execute(_next, {"webhook": webhook_id, "most": most})]


async def create_test(connection: AsyncConnection, webhook_id: UUID, kind: str, now: datetime) -> int:
    """Insert a message about no change, and return its number."""
    values = {"webhook_id": webhook_id, "type": kind, "state": State.WAITING, "created_at": now}
    result = await connection.execute(tables.webhook_deliveries.insert().values(values))
    assert result.inserted_primary_key is not None
    number: int = result.inserted_primary_key[0]
    return number


async def record_attempts(connection: AsyncConnection, tried: Sequence[Tried]) -> set[int]:
    """Write attempts at messages, and what comes of the messages; return the numbers of those that were written.

    A message that another process has sent meanwhile stays as it is: this one was paused for longer than its turn.
    """
    made = {each.delivery.number: each.delivery.attempts for each in tried}
    found = await connection.execute(_made_and_held, {"numbers": list(made)})
    unchanged = {row.number for row in found if row.attempts == made[row.number]}
    given = [each for each in tried if each.delivery.number in unchanged]
    if given:
        await connection.execute(_record, [each.outcome for each in given])
        rows = [
            tables.row_of(tables.webhook_attempts, each.attempt) | {"delivery": each.delivery.number} for each in given
        ]
        await connection.execute(tables.webhook_attempts.insert(), rows)
    return unchanged


async def hold_webhooks(connection: AsyncConnection, numbers: Collection[int]) -> None:
    """Keep the webhooks of messages from being deleted until the transaction ends.

    A deletion takes a webhook before its messages. Whoever has written one message and comes to another would wait for
    it, and it for them. Other writes to the webhooks wait for nothing.
    """
    of_messages = sa.select(_columns.webhook_id).where(_columns.number.in_(numbers))
    held = sa.select(_webhooks.id).where(_webhooks.id.in_(of_messages)).order_by(_webhooks.id)
    await connection.execute(held.with_for_update(read=True, key_share=True))


async def settle_unwanted(connection: AsyncConnection, numbers: Collection[int]) -> None:
    """Delete messages that their webhook does not want. Those with attempts are kept as they were."""
    are_these = _columns.number.in_(numbers)
    made = sa.exists().where(_attempts.delivery == _columns.number)
    await connection.execute(tables.webhook_deliveries.delete().where(are_these, sa.not_(made)))
    state = sa.case((made.where(_attempts.status.between(200, 299)), State.DELIVERED.value), else_=State.FAILED.value)
    await connection.execute(
        tables.webhook_deliveries.update().where(are_these).values(state=state, next_attempt_at=None)
    )


async def find_oldest_kept(
    connection: AsyncConnection, webhook_id: UUID, most: int, *, waits: bool = True
) -> int | None:
    """The number of the oldest message of a webhook within a bound on those that wait, or on the others.

    None if there are no more than so many.
    """
    numbers = (
        sa.select(_columns.number)
        .where(_columns.webhook_id == webhook_id, _waiting if waits else sa.not_(_waiting))
        .order_by(_columns.number.desc())
        .offset(most - 1)
        .limit(2)
    )
    found = (await connection.execute(numbers)).scalars().all()
    return found[0] if len(found) > 1 else None


async def drop_beyond(connection: AsyncConnection, webhook_id: UUID, most: int, at_once: int) -> int:
    """Drop some of the oldest waiting messages of a webhook beyond a bound, count them, and return how many."""
    dropped = await _delete_beyond(connection, webhook_id, most, at_once, waits=True)
    if dropped:
        update = tables.webhooks.update().where(_webhooks.id == webhook_id)
        await connection.execute(update.values(dropped=_webhooks.dropped + dropped))
    return dropped


async def purge_beyond(connection: AsyncConnection, webhook_id: UUID, most: int, at_once: int) -> int:
    """Delete some of the oldest messages of a webhook that do not wait, beyond a bound, and return how many."""
    return await _delete_beyond(connection, webhook_id, most, at_once, waits=False)


async def _delete_beyond(connection: AsyncConnection, webhook_id: UUID, most: int, at_once: int, *, waits: bool) -> int:
    oldest_kept = await find_oldest_kept(connection, webhook_id, most, waits=waits)
    if oldest_kept is None:
        return 0
    older = (
        sa.select(_columns.number)
        .where(
            _columns.webhook_id == webhook_id,
            _waiting if waits else sa.not_(_waiting),
            _columns.number < oldest_kept,
        )
        .order_by(_columns.number)
        .limit(at_once)
    )
    delete = tables.webhook_deliveries.delete().where(_columns.number.in_(older))
    return (await connection.execute(delete)).rowcount


async def list_overflowing(connection: AsyncConnection, most: int, *, waits: bool = True) -> list[UUID]:
    """The ids of webhooks with more than so many messages that wait, or others."""
    query = sa.select(_columns.webhook_id).where(_waiting if waits else sa.not_(_waiting))
    query = query.group_by(_columns.webhook_id).having(sa.func.count() > most)
    return list((await connection.execute(query)).scalars())


async def count_untold(connection: AsyncConnection, webhook_id: UUID) -> int:
    """Count the dropped messages that no later message has named."""
    query = sa.select(_webhooks.dropped - _webhooks.told_dropped).where(_webhooks.id == webhook_id)
    return int((await connection.execute(query)).scalar_one())


async def record_told(connection: AsyncConnection, webhook_id: UUID, count: int) -> None:
    """Note that a message has named so many dropped ones."""
    update = tables.webhooks.update().where(_webhooks.id == webhook_id)
    await connection.execute(update.values(told_dropped=_webhooks.told_dropped + count))


async def get_delivery(connection: AsyncConnection, webhook_id: UUID, number: int) -> Delivery:
    """The message with this number to a webhook, with its attempts; raises Error NOT_FOUND."""
    query = sa.select(tables.webhook_deliveries).where(_columns.webhook_id == webhook_id, _columns.number == number)
    row = (await connection.execute(query)).one_or_none()
    if row is None:
        raise not_found("delivery")
    return _from_row(row, (await list_attempts(connection, [number])).get(number, ()))


async def list_deliveries(
    connection: AsyncConnection, webhook_id: UUID, state: State | None, before: int | None, limit: int
) -> list[Delivery]:
    """The messages to a webhook, newest first, with their attempts, and with numbers below `before`."""
    query = sa.select(tables.webhook_deliveries).where(_columns.webhook_id == webhook_id)
    if state is not None:
        query = query.where(_columns.state == state)
    if before is not None:
        query = query.where(_columns.number < before)
    rows = (await connection.execute(query.order_by(_columns.number.desc()).limit(limit))).all()
    made = await list_attempts(connection, [row.number for row in rows])
    return [_from_row(row, made.get(row.number, ())) for row in rows]


async def list_attempts(connection: AsyncConnection, numbers: Sequence[int]) -> dict[int, list[Attempt]]:
    """The attempts at messages, by their numbers, oldest first."""
    query = (
        sa.select(tables.webhook_attempts)
        .where(_attempts.delivery.in_(numbers))
        .order_by(_attempts.delivery, _attempts.id)
    )
    rows = (await connection.execute(query)).all()
    return {
        number: [Attempt(row.at, row.milliseconds, row.status, row.error, row.answer) for row in some]
        for number, some in groupby(rows, lambda row: row.delivery)
    }


async def repeat(
    connection: AsyncConnection,
    webhook_id: UUID,
    *,
    number: int | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    most: int,
) -> int:
    """Send messages again that do not wait: one, or the oldest of those from a time until another. Return how many."""
    chosen = sa.select(_columns.number).where(_columns.webhook_id == webhook_id, sa.not_(_waiting))
    if number is not None:
        chosen = chosen.where(_columns.number == number)
    if since is not None and until is not None:
        chosen = chosen.where(_columns.created_at >= since, _columns.created_at < until)
    numbers = (await connection.execute(chosen.order_by(_columns.number).limit(most))).scalars().all()
    values = {"state": State.WAITING, "attempts": 0, "next_attempt_at": None}
    await connection.execute(tables.webhook_deliveries.update().where(_columns.number.in_(numbers)).values(values))
    return len(numbers)


async def make_due(connection: AsyncConnection, webhook_id: UUID) -> None:
    """Attempt what waits at once, from the first attempt on: a webhook that was switched off is on again."""
    was_attempted = sa.or_(_columns.attempts > 0, _columns.next_attempt_at.is_not(None))  # few of many that wait
    update = tables.webhook_deliveries.update().where(_columns.webhook_id == webhook_id, _waiting, was_attempted)
    await connection.execute(update.values(attempts=0, next_attempt_at=None))


async def purge(connection: AsyncConnection, before: datetime, most: int) -> int:
    """Delete some messages that are older than a time and do not wait, and return how many."""
    chosen = sa.select(_columns.number).where(_columns.created_at < before, sa.not_(_waiting)).limit(most)
    delete = tables.webhook_deliveries.delete().where(_columns.number.in_(chosen))
    return (await connection.execute(delete)).rowcount


def _from_row(row: sa.Row[*tuple[object, ...]], made: Sequence[Attempt] = ()) -> Delivery:
    return Delivery(
        number=row.number,
        webhook_id=row.webhook_id,
        project_id=row.project_id,
        first_change=row.first_change,
        last_change=row.last_change,
        type=row.type,
        state=State(row.state),
        attempts=row.attempts,
        created_at=row.created_at,
        revision=row.revision,
        next_attempt_at=row.next_attempt_at,
        notice=row.notice,
        made=made,
    )
