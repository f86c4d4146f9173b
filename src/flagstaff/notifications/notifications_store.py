"""Notifications in the database: what members want, what waits to be mailed to them, and how many mails they got."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection
from uuid_utils.compat import uuid7

from flagstaff.database import dialect, tables
from flagstaff.database.database import write_many
from flagstaff.hooks.notices import NoticeType
from flagstaff.notifications.notifications import DEFAULTS, HELD_FOR, MAILS_PER_HOUR, Kind, Made
from flagstaff.notifications.unsubscribing import Subscription

_settings, _waiting, _positions = (
    tables.notification_settings.c,
    tables.notifications.c,
    tables.notification_positions.c,
)
_mails, _reminders, _changes = tables.notification_mails.c, tables.stale_reminders.c, tables.changes.c
_members, _accounts, _projects = tables.members.c, tables.accounts.c, tables.projects.c
_project = sa.bindparam("project", type_=sa.Uuid)
_KINDS = [_settings[kind] for kind in Kind]
_is_known = _waiting.kind.in_(list(Kind))  # a later release, which serves from the same database, may know others
_newest = (
    sa.select(sa.func.coalesce(sa.func.max(_changes.id), 0)).where(_changes.project_id == _project).scalar_subquery()
)
_position = sa.select(_positions.change).where(_positions.project_id == _project)
_begin = dialect.upsert(
    tables.notification_positions,
    lambda insert: insert.values(
        project_id=_project, change=sa.case((sa.bindparam("is_new", type_=sa.Boolean), 0), else_=_newest)
    ).on_conflict_do_nothing(),
)
_advance = (
    tables.notification_positions.update()
    .where(_positions.project_id == _project, _positions.change == sa.bindparam("before"))
    .values(change=sa.bindparam("after"))
)
_behind = (
    sa.select(_projects.id)
    .outerjoin(tables.notification_positions, _positions.project_id == _projects.id)
    .where(
        sa.or_(
            _positions.change.is_(None),
            sa.exists().where(_changes.project_id == _projects.id, _changes.id > _positions.change),
        )
    )
    .limit(sa.bindparam("most"))
)
# Without the states, which can have half a megabyte each.
_made = sa.select(
    _changes.id,
    _changes.at,
    _changes.action,
    _changes.actor_id,
    _changes.actor_email,
    _changes.environment_id,
    _changes.flag_id,
    _changes.flag_key,
    sa.func.coalesce(tables.flags.c.owner, _changes.before["owner"].as_string()),
    _changes.after["enabled"].as_boolean(),
    _changes.release.is_not(None),
    sa.func.coalesce(_changes.after["is_late"].as_boolean(), sa.false()),
    sa.func.coalesce(tables.flags.c.tags, _changes.before["tags"]),
).outerjoin(tables.flags, tables.flags.c.id == _changes.flag_id)
_after = (
    _made.where(_changes.project_id == _project, _changes.id > sa.bindparam("after"))
    .order_by(_changes.id)
    .limit(sa.bindparam("most"))
)
_numbered = _made.where(
    _changes.project_id == _project, _changes.id.in_(sa.bindparam("numbers", expanding=True))
).order_by(_changes.id)
# Those who have got as many mails in an hour as they may get. They must not stand before others.
_satisfied = (
    sa.select(_mails.account_id)
    .where(_mails.sent_at > sa.bindparam("hour_ago", type_=tables.Moment))
    .group_by(_mails.account_id)
    .having(sa.func.count() >= MAILS_PER_HOUR)
)
_upsert = dialect.upsert(
    tables.notification_settings,
    lambda insert: insert.on_conflict_do_update(
        index_elements=["project_id", "account_id"], set_={kind.value: insert.excluded[kind.value] for kind in Kind}
    ),
)
_remind = dialect.upsert(
    tables.stale_reminders,
    lambda insert: insert.on_conflict_do_update(
        index_elements=["project_id", "account_id"], set_={"sent_at": insert.excluded.sent_at}
    ),
)


class Waiting(NamedTuple):
    """What a member is to be told, and why: a change, by its number, or a comment that mentions the member."""

    id: int
    kind: Kind
    change: int
    comment_id: UUID | None = None


class Address(NamedTuple):
    """Where an account gets its mails, and whether the project demands a second factor."""

    email: str
    demands_second_factor: bool


class StaleFlag(NamedTuple):
    """A flag that may be removed, with its environment."""

    environment_id: UUID
    environment_key: str
    flag_id: UUID
    key: str


async def find_wanted(connection: AsyncConnection, project_id: UUID, account_id: UUID) -> dict[Kind, bool]:
    """The mails that a member wants."""
    query = sa.select(*_KINDS).where(_settings.project_id == project_id, _settings.account_id == account_id)
    row = (await connection.execute(query)).one_or_none()
    return _chosen(row or (None,) * len(_KINDS))


async def list_wanted(connection: AsyncConnection, project_id: UUID) -> dict[UUID, dict[Kind, bool]]:
    """The mails that the members of a project want who have chosen some, by their accounts."""
    query = sa.select(_settings.account_id, *_KINDS).where(_settings.project_id == project_id)
    return {account_id: _chosen(chosen) for account_id, *chosen in await connection.execute(query)}


async def list_wanted_of_account(
    connection: AsyncConnection, account_id: UUID
) -> list[tuple[UUID, str, dict[Kind, bool]]]:
    """The mails that an account wants about each of its projects, in the order of their names."""
    query = (
        sa.select(_projects.id, _projects.name, *_KINDS)
        .join(tables.members, _members.project_id == _projects.id)
        .outerjoin(
            tables.notification_settings,
            sa.and_(_settings.project_id == _members.project_id, _settings.account_id == _members.account_id),
        )
        .where(_members.account_id == account_id)
        .order_by(sa.func.lower(_projects.name), _projects.id)
    )
    return [(project_id, name, _chosen(chosen)) for project_id, name, *chosen in await connection.execute(query)]


async def save_wanted(
    connection: AsyncConnection, project_id: UUID, account_id: UUID, wanted: Mapping[Kind, bool]
) -> None:
    """Write what a member wants."""
    row = {"project_id": project_id, "account_id": account_id, **{kind.value: wanted[kind] for kind in Kind}}
    await connection.execute(_upsert(connection), row)


def _chosen(values: Iterable[bool | None]) -> dict[Kind, bool]:
    """What a row says. Whoever has stopped all mails, perhaps in a release with fewer kinds, wants no others either."""
    row = dict(zip(Kind, values, strict=True))
    stated = [value for value in row.values() if value is not None]
    wants_none = bool(stated) and not any(stated)
    return {kind: DEFAULTS[kind] and not wants_none if value is None else value for kind, value in row.items()}


async def list_behind(connection: AsyncConnection, most: int) -> list[UUID]:
    """The projects with changes that were not examined."""
    return list((await connection.execute(_behind, {"most": most})).scalars())


async def find_position(connection: AsyncConnection, project_id: UUID) -> int | None:
    """The number up to which the changes of a project were examined; None if none were."""
    return (await connection.execute(_position, {"project": project_id})).scalar_one_or_none()


async def begin(connection: AsyncConnection, project_id: UUID, *, is_new: bool) -> None:
    """Examine the changes of a project from the next one on, or of a new one from the first one on."""
    await connection.execute(_begin(connection), {"project": project_id, "is_new": is_new})


async def list_after(connection: AsyncConnection, project_id: UUID, number: int, most: int) -> list[Made]:
    """A project's next changes."""
    values = {"project": project_id, "after": number, "most": most}
    return [_made_of(row) for row in await connection.execute(_after, values)]


async def list_made(connection: AsyncConnection, project_id: UUID, numbers: Sequence[int]) -> list[Made]:
    """The changes of a project with these numbers, oldest first."""
    if not numbers:
        return []
    values = {"project": project_id, "numbers": list(numbers)}
    return [_made_of(row) for row in await connection.execute(_numbered, values)]


def _made_of(row: Iterable[Any]) -> Made:
    *values, tags = row
    return replace(Made(*values), tags=tuple(tags or ()))


async def advance(connection: AsyncConnection, project_id: UUID, before: int, after: int) -> bool:
    """Note that the changes up to a number were examined; return False if another process has done so."""
    values = {"project": project_id, "before": before, "after": after}
    return (await connection.execute(_advance, values)).rowcount == 1


async def count_waiting(connection: AsyncConnection, project_id: UUID) -> dict[UUID, int]:
    """Count what waits to be mailed about a project, by account."""
    query = sa.select(_waiting.account_id, sa.func.count()).where(_waiting.project_id == project_id)
    return {row[0]: row[1] for row in await connection.execute(query.group_by(_waiting.account_id))}


async def add_waiting(connection: AsyncConnection, rows: list[dict[str, Any]]) -> None:
    """Insert what members are to be told. Each row has a project, an account, a kind, a change and a time."""
    await write_many(connection, tables.notifications.insert(), rows)


async def list_ready(
    connection: AsyncConnection, gathered_before: datetime, now: datetime, hour_ago: datetime, most: int
) -> list[Subscription]:
    """The members for whom something has waited long enough, who may get a mail, and whom no process is telling.

    Those whose mail was not taken before stand behind the others, whom they would keep waiting each time.
    """
    held_until = sa.func.max(sa.func.coalesce(sa.type_coerce(_waiting.held_until, sa.BigInteger), 0))
    query = (
        sa.select(_waiting.account_id, _waiting.project_id)
        .where(_is_known, _waiting.account_id.not_in(_satisfied))
        .group_by(_waiting.account_id, _waiting.project_id)
        .having(
            sa.func.min(_waiting.created_at) <= gathered_before,
            sa.func.sum(sa.case((_is_free(now), 0), else_=1)) == 0,
        )
        .order_by(held_until, sa.func.min(_waiting.id))
        .limit(most)
    )
    return [Subscription(*row) for row in await connection.execute(query, {"hour_ago": hour_ago})]


def _is_free(now: datetime) -> sa.ColumnElement[bool]:
    """Whether no process holds a row. What is held for longer than any process holds it was held by a wrong clock."""
    held_until = _waiting.held_until
    return sa.or_(held_until.is_(None), held_until < now, held_until > now + 2 * HELD_FOR)


async def take(connection: AsyncConnection, member: Subscription, now: datetime, until: datetime) -> list[Waiting]:
    """Hold what a member is to be told, and return it, oldest first."""
    update = (
        tables.notifications.update()
        .where(
            _waiting.account_id == member.account_id,
            _waiting.project_id == member.project_id,
            _is_known,
            _is_free(now),
        )
        .values(held_until=until)
        .returning(_waiting.id, _waiting.kind, _waiting.change, _waiting.comment_id)
    )
    rows = (await connection.execute(update)).all()
    return sorted(
        (Waiting(row.id, Kind(row.kind), row.change, row.comment_id) for row in rows), key=lambda each: each.id
    )


async def delete_waiting(connection: AsyncConnection, ids: Collection[int]) -> None:
    """Delete what was told."""
    await connection.execute(tables.notifications.delete().where(_waiting.id.in_(ids)))


async def delete_waiting_since(connection: AsyncConnection, before: datetime) -> None:
    """Delete what was tried and has waited since before a time: no mail server has taken it."""
    await connection.execute(
        tables.notifications.delete().where(_waiting.created_at < before, _waiting.held_until.is_not(None))
    )


async def delete_of_member(connection: AsyncConnection, project_id: UUID, account_id: UUID) -> None:
    """Delete what waits to be told to a member."""
    await connection.execute(
        tables.notifications.delete().where(_waiting.project_id == project_id, _waiting.account_id == account_id)
    )


async def find_address(connection: AsyncConnection, member: Subscription) -> Address | None:
    """The address of a member whose account is active."""
    query = (
        sa.select(_accounts.email, _projects.demands_second_factor)
        .join_from(tables.members, tables.accounts, _accounts.id == _members.account_id)
        .join(tables.projects, _projects.id == _members.project_id)
        .where(
            _members.account_id == member.account_id,
            _members.project_id == member.project_id,
            _accounts.deactivated_at.is_(None),
        )
    )
    row = (await connection.execute(query)).one_or_none()
    return Address(*row) if row is not None else None


async def count_mails(connection: AsyncConnection, account_id: UUID, since: datetime) -> int:
    """Count the mails that an account got since a time."""
    query = sa.select(sa.func.count()).where(_mails.account_id == account_id, _mails.sent_at > since)
    return int((await connection.execute(query)).scalar_one())


async def record_mail(connection: AsyncConnection, account_id: UUID, now: datetime) -> UUID:
    """Count a mail to an account; return the id of the count."""
    mail_id = uuid7()
    await connection.execute(
        tables.notification_mails.insert(), {"id": mail_id, "account_id": account_id, "sent_at": now}
    )
    return mail_id


async def forget_mail(connection: AsyncConnection, mail_id: UUID) -> None:
    """Count a mail no more: no mail server has taken it."""
    await connection.execute(tables.notification_mails.delete().where(_mails.id == mail_id))


async def purge_mails(connection: AsyncConnection, before: datetime) -> None:
    """Forget the mails that count no more."""
    await connection.execute(tables.notification_mails.delete().where(_mails.sent_at <= before))


async def list_to_remind(
    connection: AsyncConnection, before: datetime, hour_ago: datetime, most: int
) -> list[Subscription]:
    """The members who own stale flags and were not told since a time, those first who were never told."""
    sent_at = sa.func.coalesce(sa.type_coerce(_reminders.sent_at, sa.BigInteger), 0)
    query = (
        _of_owners(_members.account_id, _members.project_id)
        .outerjoin(
            tables.stale_reminders,
            sa.and_(_reminders.project_id == _members.project_id, _reminders.account_id == _members.account_id),
        )
        .where(
            _accounts.deactivated_at.is_(None),
            sa.or_(_reminders.sent_at.is_(None), _reminders.sent_at <= before),
            _members.account_id.not_in(_satisfied),
        )
        .group_by(_members.account_id, _members.project_id, sent_at)
        .order_by(sent_at)
        .limit(most)
    )
    return [Subscription(*row) for row in await connection.execute(query, {"hour_ago": hour_ago})]


async def was_reminded(connection: AsyncConnection, member: Subscription, since: datetime) -> bool:
    """Whether a member was told of stale flags after a time."""
    query = sa.select(_reminders.sent_at).where(
        _reminders.project_id == member.project_id,
        _reminders.account_id == member.account_id,
        _reminders.sent_at > since,
    )
    return (await connection.execute(query)).first() is not None


async def list_stale(connection: AsyncConnection, member: Subscription, most: int) -> list[StaleFlag]:
    """The flags of a member that may be removed."""
    flags, environments = tables.flags.c, tables.environments.c
    query = (
        _of_owners(environments.id, environments.key, flags.id, flags.key)
        .where(_members.account_id == member.account_id, _members.project_id == member.project_id)
        .order_by(environments.position, environments.created_at, flags.key)
        .limit(most)
    )
    return [StaleFlag(*row) for row in await connection.execute(query)]


async def forget_reminder(connection: AsyncConnection, member: Subscription) -> None:
    """Let a member be told of stale flags again: no mail server has taken the mail."""
    await connection.execute(
        tables.stale_reminders.delete().where(
            _reminders.project_id == member.project_id, _reminders.account_id == member.account_id
        )
    )


async def record_reminder(connection: AsyncConnection, member: Subscription, now: datetime) -> None:
    """Note that a member was told of stale flags."""
    row = {"project_id": member.project_id, "account_id": member.account_id, "sent_at": now}
    await connection.execute(_remind(connection), row)


def _of_owners(*columns: sa.ColumnElement[Any]) -> sa.Select[Any]:
    """Stale flags, joined with the members who own them."""
    flags, environments, noticed = tables.flags.c, tables.environments.c, tables.noticed_flags.c
    return (
        sa.select(*columns)
        .select_from(tables.noticed_flags)
        .join(tables.flags, sa.and_(flags.environment_id == noticed.environment_id, flags.key == noticed.flag_key))
        .join(tables.environments, environments.id == flags.environment_id)
        .join(tables.members, _members.project_id == environments.project_id)
        .join(tables.accounts, _accounts.id == _members.account_id)
        .where(
            noticed.type == NoticeType.FLAG_STALE.value,
            sa.not_(tables.is_archived),
            sa.not_(flags.keep),
            sa.func.lower(sa.func.trim(flags.owner)) == sa.func.lower(_accounts.email),
        )
    )
