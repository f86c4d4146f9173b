"""SDK keys of environments in the database, which has only their hashes."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import tables
from flagstaff.database.resources import Resource
from flagstaff.projects.sdk_keys import KeyInForce, KeyKind, SdkKey
from flagstaff.values.errors import not_found

_columns = tables.sdk_keys.c
_environments = tables.environments.c
_KEYS = Resource(
    SdkKey,
    tables.sdk_keys,
    also={
        "project_id": _environments.project_id,
        "environment": _environments.key,
        "creator_email": tables.accounts.c.email,
    },
    reads={"kind": KeyKind, "allowed_origins": tuple},
    fixed=frozenset({"kind", "hint", "creator_id", "expires_at", "last_used_at", "replaces_id"}),
)
_key = (
    _KEYS.select()
    .join_from(tables.sdk_keys, tables.environments)
    .outerjoin(tables.accounts, tables.accounts.c.id == _columns.creator_id)
    .where(_environments.project_id == sa.bindparam("project"))
)
_by_age = _key.order_by(_columns.created_at.desc(), _columns.id.desc())
_by_id = _key.where(_columns.id == sa.bindparam("key_id"))
_in_force = (
    sa.select(
        _columns.environment_id,
        _columns.key_hash,
        _columns.id,
        _columns.kind,
        _columns.expires_at,
        _columns.allowed_origins,
    )
    .join_from(tables.sdk_keys, tables.environments)
    .where(_environments.project_id == sa.bindparam("project"))
)
_all_hashes = sa.select(_columns.key_hash, _environments.project_id).join_from(tables.sdk_keys, tables.environments)
_used_at = sa.bindparam("used_at", type_=tables.Moment)


async def create_key(connection: AsyncConnection, key: SdkKey, key_hash: bytes) -> None:
    """Insert a key."""
    await connection.execute(tables.sdk_keys.insert(), {**_KEYS.row(key), "key_hash": key_hash})


async def list_keys(connection: AsyncConnection, project_id: UUID) -> list[SdkKey]:
    """The keys of all environments of a project, newest first."""
    rows = await connection.execute(_by_age, {"project": project_id})
    return [_KEYS.read(row) for row in rows]


async def find_key_names(
    connection: AsyncConnection, environment_ids: Collection[UUID]
) -> Mapping[UUID, Mapping[UUID, str]]:
    """The names of the keys of these environments, by their ids."""
    query = sa.select(_columns.environment_id, _columns.id, _columns.name)
    found: defaultdict[UUID, dict[UUID, str]] = defaultdict(dict)
    for environment_id, key_id, name in await connection.execute(
        query.where(_columns.environment_id.in_(environment_ids))
    ):
        found[environment_id][key_id] = name
    return found


async def get_key(connection: AsyncConnection, project_id: UUID, key_id: UUID) -> SdkKey:
    """The key with this id in a project; raises Error NOT_FOUND."""
    row = (await connection.execute(_by_id, {"project": project_id, "key_id": key_id})).one_or_none()
    if row is None:
        raise not_found("SDK key")
    return _KEYS.read(row)


async def update_key(connection: AsyncConnection, key: SdkKey) -> None:
    """Update a key's name and the origins of the pages that may use it."""
    update = tables.sdk_keys.update().where(_columns.id == key.id)
    await connection.execute(update, _KEYS.changes(key))


async def delete_key(connection: AsyncConnection, key_id: UUID) -> None:
    """Delete a key."""
    await connection.execute(tables.sdk_keys.delete().where(_columns.id == key_id))


async def list_keys_in_force(connection: AsyncConnection, project_id: UUID) -> Mapping[UUID, dict[bytes, KeyInForce]]:
    """The keys of a project by their hashes, by the ids of their environments."""
    found: defaultdict[UUID, dict[bytes, KeyInForce]] = defaultdict(dict)
    for row in await connection.execute(_in_force, {"project": project_id}):
        origins = frozenset(row.allowed_origins) or None
        found[row.environment_id][row.key_hash] = KeyInForce(row.id, KeyKind(row.kind), row.expires_at, origins)
    return found


async def list_key_hashes(connection: AsyncConnection) -> list[tuple[bytes, UUID]]:
    """The hashes of all keys of all environments, with the ids of their projects."""
    return [(row.key_hash, row.project_id) for row in await connection.execute(_all_hashes)]


async def record_used(connection: AsyncConnection, key_ids: Collection[UUID], used_at: datetime) -> None:
    """Store that keys were used, unless they have been used later."""
    is_later = sa.or_(_columns.last_used_at.is_(None), _columns.last_used_at < _used_at)
    update = tables.sdk_keys.update().where(_columns.id == sa.bindparam("key_id"), is_later)
    rows = [{"key_id": key_id, "used_at": used_at} for key_id in sorted(key_ids)]
    await connection.execute(update.values(last_used_at=_used_at), rows)
