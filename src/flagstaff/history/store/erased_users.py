"""The users of each environment of whom nothing is stored that happened up to a time."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import dialect, tables

_erased = tables.erased_users.c
_add = dialect.upsert(
    tables.erased_users,
    lambda insert: insert.on_conflict_do_update(
        index_elements=["environment", "digest"], set_={"until": insert.excluded.until}
    ),
)
_since = sa.select(_erased.environment, _erased.digest, _erased.until).where(
    _erased.environment.in_(sa.bindparam("numbers", expanding=True)), _erased.until >= sa.bindparam("since")
)


async def add_erased_users(
    connection: AsyncConnection, numbers: Iterable[int], digests: Sequence[bytes], until: int
) -> None:
    """Store nothing of a user that happened up to a time any more, in environments that the transaction has locked."""
    rows = [{"environment": number, "digest": digest, "until": until} for number in numbers for digest in digests]
    if rows:
        await connection.execute(_add(connection), rows)


async def find_erased_users(
    connection: AsyncConnection, numbers: Mapping[UUID, int], since: int
) -> dict[UUID, dict[bytes, int]]:
    """The users of environments who were erased up to a time or a later one, by their digests; most have none."""
    if not numbers:
        return {}
    rows = (await connection.execute(_since, {"numbers": list(numbers.values()), "since": since})).all()
    by_number: dict[int, dict[bytes, int]] = {}
    for number, digest, until in rows:
        by_number.setdefault(number, {})[bytes(digest)] = until
    return {each: by_number[number] for each, number in numbers.items() if number in by_number}


async def delete_erased_users(connection: AsyncConnection, before: int, limit: int) -> bool:
    """Forget some of the users who were erased up to a time before another; return whether there may be more."""
    old = sa.select(_erased.environment, _erased.digest).where(_erased.until < before).limit(limit)
    keys: Collection[tuple[int, bytes]] = [(row.environment, row.digest) for row in await connection.execute(old)]
    if keys:
        is_old = sa.tuple_(_erased.environment, _erased.digest).in_(keys)
        await connection.execute(tables.erased_users.delete().where(is_old))
    return len(keys) == limit
