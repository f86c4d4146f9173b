"""The kinds of mails that members want."""

from collections.abc import Iterable, Mapping
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import dialect, tables
from flagstaff.notifications.notifications import DEFAULTS, Kind

_settings, _members, _projects = tables.notification_settings.c, tables.members.c, tables.projects.c
_KINDS = [_settings[kind] for kind in Kind]
_upsert = dialect.upsert(
    tables.notification_settings,
    lambda insert: insert.on_conflict_do_update(
        index_elements=["project_id", "account_id"], set_={kind.value: insert.excluded[kind.value] for kind in Kind}
    ),
)


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
    """The content of a row. A member who has stopped all mails, perhaps in an older release, wants no new kind."""
    row = dict(zip(Kind, values, strict=True))
    stated = [value for value in row.values() if value is not None]
    wants_none = bool(stated) and not any(stated)
    return {kind: DEFAULTS[kind] and not wants_none if value is None else value for kind, value in row.items()}
