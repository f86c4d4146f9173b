"""Flags in the database."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from functools import lru_cache
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.concurrency.pacing import collect
from flagstaff.database import tables
from flagstaff.database.driver_errors import unique_or
from flagstaff.database.long_lists import read_many, some_at_a_time, write_many
from flagstaff.database.resources import Resource
from flagstaff.database.windows import ByCode, Listing, containing
from flagstaff.flags.flags import Fallthrough, Flag
from flagstaff.flags.prerequisites import Prerequisite
from flagstaff.flags.variants import Variant, encode_value
from flagstaff.values.errors import not_found
from flagstaff.values.lists import WHOLE, Window

# Thousands of flags can each need the same twenty. Then the collector of garbage need not look at one for each of them.
_share_prerequisite = lru_cache(10_000)(Prerequisite)

_columns = tables.flags.c
_FLAGS = Resource(
    Flag,
    tables.flags,
    also={"project_id": tables.environments.c.project_id},
    reads={
        "fallthrough": Fallthrough,
        "tags": tuple,
        "variants": lambda stored: tuple(map(_read_variant, stored)),
        "prerequisites": lambda stored: tuple(map(_read_prerequisite, stored)),
    },
    writes={
        "variants": lambda variants: list(map(_write_variant, variants)),
        "prerequisites": lambda prerequisites: list(map(asdict, prerequisites)),
    },
)
COLUMNS = _FLAGS.columns
"""The columns that `from_row` reads."""
_without_description = [sa.null().label(each.key) if each.key == "description" else each for each in COLUMNS]
_flag = sa.select(*COLUMNS).join(tables.environments, tables.environments.c.id == _columns.environment_id)
_live, _archived = sa.not_(tables.is_archived), tables.is_archived
_insert = tables.flags.insert()
_by_id = _flag.where(
    _columns.id == sa.bindparam("flag"),
    _columns.environment_id == sa.bindparam("environment"),
    tables.environments.c.project_id == sa.bindparam("project"),
)
_in_environment = (
    sa.select(tables.environments.c.key, *COLUMNS)
    .select_from(
        tables.environments.outerjoin(
            tables.flags,
            sa.and_(_columns.environment_id == tables.environments.c.id, _columns.id == sa.bindparam("flag")),
        )
    )
    .where(
        tables.environments.c.id == sa.bindparam("environment"),
        tables.environments.c.project_id == sa.bindparam("project"),
    )
)
_of_environment, _archived_of_environment = (
    Listing(
        _flag.where(_columns.environment_id == sa.bindparam("environment"), wanted),
        (_columns.created_at, _columns.id),
        descending=True,
    )
    for wanted in (_live, _archived)
)
_short_of_environment = Listing(
    sa.select(*_without_description)
    .join(tables.environments, tables.environments.c.id == _columns.environment_id)
    .where(_columns.environment_id == sa.bindparam("environment"), _live),
    (_columns.created_at, _columns.id),
    descending=True,
)
_descriptions = sa.select(_columns.id, _columns.description).where(
    _columns.id.in_(sa.bindparam("flags", expanding=True)), _columns.description.is_not(None)
)
_chosen = _flag.where(
    _columns.environment_id == sa.bindparam("environment"),
    _columns.id.in_(sa.bindparam("flags", expanding=True)),
)
_live_chosen = _chosen.where(_live)
_of_keys = sa.and_(
    _columns.environment_id == sa.bindparam("environment"), _columns.key.in_(sa.bindparam("keys", expanding=True))
)
_with_keys = _flag.where(_of_keys, _live)
_keys = sa.select(_columns.key).where(_of_keys, _live)
_archived_keys = sa.select(_columns.key).where(_of_keys, _archived)
_prerequisites = sa.select(_columns.key, _columns.prerequisites).where(
    _columns.environment_id == sa.bindparam("environment"), sa.cast(_columns.prerequisites, sa.Text) != "[]"
)
_live_prerequisites = _prerequisites.where(_live)
_variants = sa.select(_columns.key, _columns.variants).where(_of_keys, _live)
_all_keys = sa.select(_columns.key).where(_columns.environment_id == sa.bindparam("environment"), _live)
_all_archived_keys = sa.select(_columns.key).where(_columns.environment_id == sa.bindparam("environment"), _archived)
_key_by_code = ByCode(_columns.key)
_of_environments = Listing(
    sa.select(_key_by_code)
    .distinct()
    .where(
        _columns.environment_id.in_(sa.bindparam("environments", expanding=True)),
        _live,
        _columns.key.ilike(sa.bindparam("like", type_=sa.Text), escape="\\"),
    ),
    (_key_by_code,),
)
_identities = sa.select(_columns.key, _columns.id, _columns.created_at).where(
    _columns.environment_id == sa.bindparam("environment")
)
_count = sa.select(sa.func.count()).where(_columns.environment_id == sa.bindparam("environment"))
_count_live = _count.where(_live)
_variant_characters = sa.select(
    sa.func.coalesce(sa.func.sum(sa.func.length(sa.cast(_columns.variants, sa.Text))), 0)
).where(_columns.environment_id == sa.bindparam("environment"), sa.cast(_columns.variants, sa.Text) != "[]")
_update = tables.flags.update().where(_columns.id == sa.bindparam("flag"))
_delete = tables.flags.delete().where(_columns.id == sa.bindparam("flag"))


async def create_flag(connection: AsyncConnection, flag: Flag) -> None:
    """Insert a flag; raises Error CONFLICT if the environment already has one with this key."""
    with unique_or(
        f"The environment already has a flag with the key {flag.key}.", _columns.environment_id, _columns.key
    ):
        await connection.execute(_insert, _FLAGS.row(flag))


async def create_flags(connection: AsyncConnection, new: Iterable[Flag]) -> None:
    """Insert flags, whose keys must be free."""
    await write_many(connection, _insert, map(_FLAGS.row, new))


async def find_flag(connection: AsyncConnection, project_id: UUID, environment_id: UUID, flag_id: UUID) -> Flag | None:
    """The flag with these ids, if there is one."""
    ids = {"project": project_id, "environment": environment_id, "flag": flag_id}
    row = (await connection.execute(_by_id, ids)).one_or_none()
    return from_row(row) if row is not None else None


async def get_flag(connection: AsyncConnection, project_id: UUID, environment_id: UUID, flag_id: UUID) -> Flag:
    """The flag with these ids; raises Error NOT_FOUND."""
    flag = await find_flag(connection, project_id, environment_id, flag_id)
    if flag is None:
        raise not_found("flag")
    return flag


async def find_in_environment(
    connection: AsyncConnection, project_id: UUID, environment_id: UUID, flag_id: UUID
) -> tuple[str | None, Flag | None]:
    """The key of an environment of a project and a flag in it, in one statement; None for what there is not."""
    ids = {"project": project_id, "environment": environment_id, "flag": flag_id}
    row = (await connection.execute(_in_environment, ids)).one_or_none()
    if row is None:
        return None, None
    key, *flag = row
    return key, from_row(flag) if flag[0] is not None else None


async def list_flags(
    connection: AsyncConnection, environment_id: UUID, window: Window = WHOLE, *, archived: bool = False
) -> Iterator[Flag]:
    """The flags of an environment that are archived or that are not, newest first, by time of creation and id.

    Converted when read.
    """
    wanted = _archived_of_environment if archived else _of_environment
    rows = await wanted.rows(connection, window, {"environment": environment_id})
    return map(from_row, rows)


async def list_flags_without_descriptions(connection: AsyncConnection, environment_id: UUID) -> Iterator[Flag]:
    """The flags of an environment that are not archived, in the same order, with None for their descriptions."""
    return map(from_row, await _short_of_environment.rows(connection, WHOLE, {"environment": environment_id}))


async def find_descriptions(connection: AsyncConnection, flag_ids: Collection[UUID]) -> dict[UUID, str]:
    """The descriptions of some flags by id, if they have one."""
    rows = await connection.execute(_descriptions, {"flags": list(flag_ids)})
    return {row.id: row.description for row in rows}


async def find_flags(
    connection: AsyncConnection, environment_id: UUID, flag_ids: Collection[UUID], *, with_archived: bool = False
) -> Iterator[Flag]:
    """Find the flags of an environment with one of these ids; converted when read."""
    wanted = _chosen if with_archived else _live_chosen
    return map(from_row, await read_many(connection, wanted, "flags", flag_ids, environment=environment_id))


async def find_flags_by_key(connection: AsyncConnection, environment_id: UUID, keys: Collection[str]) -> Iterator[Flag]:
    """Find the flags of an environment with one of these keys, without archived ones; converted when read."""
    return map(from_row, await read_many(connection, _with_keys, "keys", keys, environment=environment_id))


async def find_keys(connection: AsyncConnection, environment_id: UUID, keys: Collection[str]) -> set[str]:
    """Return which of these keys belong to flags of the environment that are not archived."""
    rows = await connection.execute(_keys, {"environment": environment_id, "keys": list(keys)})
    return set(rows.scalars())


async def find_archived_keys(connection: AsyncConnection, environment_id: UUID, keys: Collection[str]) -> set[str]:
    """Return which of these keys belong to archived flags of the environment."""
    rows = await connection.execute(_archived_keys, {"environment": environment_id, "keys": list(keys)})
    return set(rows.scalars())


async def list_keys(connection: AsyncConnection, environment_id: UUID) -> set[str]:
    """The keys of an environment's flags that are not archived."""
    return set((await connection.execute(_all_keys, {"environment": environment_id})).scalars())


async def list_identities(
    connection: AsyncConnection, environment_id: UUID, key: str | None = None
) -> dict[str, tuple[UUID, datetime]]:
    """The id and the time of creation of each flag of an environment by key, or only of the one with a key."""
    query = _identities if key is None else _identities.where(_columns.key == key)
    rows = await connection.execute(query, {"environment": environment_id})
    return {found: (flag_id, created_at) for found, flag_id, created_at in rows}


async def list_archived_keys(connection: AsyncConnection, environment_id: UUID) -> set[str]:
    """The keys of an environment's archived flags."""
    return set((await connection.execute(_all_archived_keys, {"environment": environment_id})).scalars())


async def list_keys_of(
    connection: AsyncConnection, environment_ids: Collection[UUID], window: Window, text: str = ""
) -> Sequence[str]:
    """The different keys that contain a text, ignoring case, of the flags of some environments that are not archived.

    They are in the order of the codes of their characters.
    """
    values = {"environments": list(environment_ids), "like": containing(text)}
    rows = await _of_environments.rows(connection, window, values)
    return [key for (key,) in rows]


async def count_flags(connection: AsyncConnection, environment_id: UUID) -> int:
    """Count the flags of an environment, with those that are archived."""
    return int((await connection.execute(_count, {"environment": environment_id})).scalar_one())


async def count_live_flags(connection: AsyncConnection, environment_id: UUID) -> int:
    """Count the flags of an environment, without those that are archived."""
    return int((await connection.execute(_count_live, {"environment": environment_id})).scalar_one())


async def count_variant_characters(connection: AsyncConnection, environment_id: UUID) -> int:
    """Count the characters of the variants of an environment's flags, as JSON."""
    return int((await connection.execute(_variant_characters, {"environment": environment_id})).scalar_one())


def variant_characters(flag: Flag) -> int:
    """Count the characters of a flag's variants as `count_variant_characters` does."""
    return len(json.dumps(list(map(_write_variant, flag.variants)))) if flag.variants else 0


async def list_prerequisites(
    connection: AsyncConnection, environment_id: UUID, *, with_archived: bool = True
) -> dict[str, tuple[Prerequisite, ...]]:
    """The prerequisites of an environment's flags by key; flags without any are left out."""
    wanted = _prerequisites if with_archived else _live_prerequisites
    rows = await connection.execute(wanted, {"environment": environment_id})
    return dict(await collect((key, tuple(map(_read_prerequisite, stored))) for key, stored in rows))


async def list_variant_keys(
    connection: AsyncConnection, environment_id: UUID, keys: Collection[str]
) -> dict[str, list[str]]:
    """The keys of the variants of those flags that have one of these keys and are not archived, by the flags' keys."""
    rows = await connection.execute(_variants, {"environment": environment_id, "keys": list(keys)})
    return {key: [variant["key"] for variant in variants] for key, variants in rows}


async def update_flag(connection: AsyncConnection, flag: Flag) -> None:
    """Update a flag's mutable fields."""
    await connection.execute(_update, _mutable(flag))


async def update_flags(connection: AsyncConnection, changed: Iterable[Flag]) -> None:
    """Update the mutable fields of flags, some at a time, so that evaluations are answered in between."""
    for some in some_at_a_time(map(_mutable, changed)):
        await connection.execute(_update, some)


async def delete_flag(connection: AsyncConnection, flag_id: UUID) -> None:
    """Delete a flag with its rules."""
    await connection.execute(_delete, {"flag": flag_id})


def _mutable(flag: Flag) -> dict[str, Any]:
    return _FLAGS.changes(flag) | {"flag": flag.id}


def from_row(row: Sequence[Any]) -> Flag:
    """The flag of a row."""
    return _FLAGS.read(row)


def _read_variant(stored: Mapping[str, Any]) -> Variant:
    return Variant(stored["key"], stored["weight"], encode_value(stored["value"]))


def _write_variant(variant: Variant) -> dict[str, Any]:
    return {"key": variant.key, "weight": variant.weight, "value": json.loads(variant.value)}


def _read_prerequisite(stored: Mapping[str, Any]) -> Prerequisite:
    if stored["variants"]:
        return Prerequisite(stored["flag_key"], stored["enabled"], tuple(stored["variants"]))
    return _share_prerequisite(stored["flag_key"], stored["enabled"])
