"""The rows with the distinct users of a day: those of an environment, and of each flag that has users of its own."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from zlib import compress, decompress
from zlib import error as ZlibError  # noqa: N812

import msgspec
import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.concurrency.pacing import Turns
from flagstaff.database import dialect, tables
from flagstaff.history.store.distinct_users.sketches import Sketch

log = structlog.get_logger(__name__)

VERSION = 1
ROWS_AT_ONCE = 50

_flags = tables.flag_users.c
_days = tables.environment_users.c
_flags_query = sa.select(_flags.day, _flags.flag_key, _flags.version, _flags.on_users, _flags.off_users).where(
    _flags.environment == sa.bindparam("number"),
    _flags.day.in_(sa.bindparam("days", expanding=True)),
    _flags.flag_key.in_(sa.bindparam("keys", expanding=True)),
)
_days_query = sa.select(_days.day, _days.version, _days.users, _days.flags).where(
    _days.environment == sa.bindparam("number"), _days.day.in_(sa.bindparam("days", expanding=True))
)
_store_flags_statement = dialect.upsert(
    tables.flag_users,
    lambda insert: insert.on_conflict_do_update(
        index_elements=[_flags.environment, _flags.day, _flags.flag_key],
        set_={name: insert.excluded[name] for name in ("version", "on_users", "off_users")},
    ),
)
_store_day_statement = dialect.upsert(
    tables.environment_users,
    lambda insert: insert.on_conflict_do_update(
        index_elements=[_days.environment, _days.day],
        set_={name: insert.excluded[name] for name in ("version", "users", "flags")},
    ),
)


@dataclass(slots=True)
class FlagUsers:
    """The users with a flag on, and those with it off; a user can be among both."""

    on: Sketch = field(default_factory=Sketch)
    off: Sketch = field(default_factory=Sketch)
    stored: tuple[bytes, bytes] = (b"", b"")  # the form in the database

    def merge(self, other: "FlagUsers") -> None:
        """Add the users of another day."""
        self.on.merge(other.on)
        self.off.merge(other.off)

    def merge_state(self, users: Sketch, *, is_on: bool) -> None:
        """Add users for whom the flag was on, or off."""
        (self.on if is_on else self.off).merge(users)


@dataclass(slots=True)
class DayUsers:
    """All users of an environment on a day, and the flags that were the same for all of them, on or off."""

    users: Sketch = field(default_factory=Sketch)
    flags: dict[str, bool] = field(default_factory=dict)
    stored_size: int = 0  # 0 if it is not in the database


async def find_span(connection: AsyncConnection, number: int) -> range:
    """From the oldest day of an environment that has users to the newest."""
    ends = [
        sa.select(end(table.c.day)).where(table.c.environment == number).scalar_subquery()
        for end in (sa.func.min, sa.func.max)
        for table in (tables.environment_users, tables.flag_users)
    ]
    found = [day for day in (await connection.execute(sa.select(*ends))).one() if day is not None]
    return range(min(found), max(found) + 1) if found else range(0)


async def find_days(connection: AsyncConnection, number: int, days: Collection[int]) -> dict[int, DayUsers]:
    """The users of an environment on some days, by day; days without a row are left out."""
    found = {}
    for row in await connection.execute(_days_query, {"number": number, "days": days}):
        _check(row.version)
        name = (number, row.day)
        users, flags = _decode_users(row.users, tables.environment_users, name), _decode_flags(row.flags, name)
        found[row.day] = DayUsers(users, flags, len(row.users) + len(row.flags))
    return found


async def find_flag_users(
    connection: AsyncConnection, number: int, days: Collection[int], keys: Collection[str]
) -> dict[tuple[int, str], FlagUsers]:
    """The users of flags on some days, by day and key; flags without users of their own are left out."""
    found = {}
    for row in await connection.execute(_flags_query, {"number": number, "days": days, "keys": keys}):
        _check(row.version)
        stored = row.on_users, row.off_users
        on, off = (_decode_users(each, tables.flag_users, (number, row.day, row.flag_key)) for each in stored)
        found[row.day, row.flag_key] = FlagUsers(on, off, stored)
    return found


async def store_day(connection: AsyncConnection, number: int, day: int, users: DayUsers) -> int:
    """Store the users of an environment on a day. Return by how many bytes they grew."""
    sketch, flags = users.users.encode(), _encode_flags(users.flags)
    row = {"environment": number, "day": day, "version": VERSION, "users": sketch, "flags": flags}
    await connection.execute(_store_day_statement(connection), row)
    return len(sketch) + len(flags) - users.stored_size


async def store_flag_users(
    connection: AsyncConnection, number: int, day: int, flags: Mapping[str, FlagUsers], turns: Turns
) -> int:
    """Store the users of flags on a day. Return by how many bytes they grew."""
    grown, rows = 0, []
    for key, users in flags.items():
        encoded = users.on.encode(), users.off.encode()
        if encoded != users.stored:
            grown += sum(map(len, encoded)) - sum(map(len, users.stored))
            rows.append({"flag_key": key, "on_users": encoded[0], "off_users": encoded[1]})
        await turns.give()
    shared = {"environment": number, "day": day, "version": VERSION}
    for start in range(0, len(rows), ROWS_AT_ONCE):
        some = [{**shared, **row} for row in rows[start : start + ROWS_AT_ONCE]]
        await connection.execute(_store_flags_statement(connection), some)
    return grown


def _check(version: int) -> None:
    if version != VERSION:
        raise ValueError(f"users of version {version} are unknown")


def _encode_flags(flags: Mapping[str, bool]) -> bytes:
    return compress(msgspec.msgpack.encode(flags), level=1)


def _decode_flags(stored: bytes, name: tuple[int, int]) -> dict[str, bool]:
    try:
        return msgspec.msgpack.decode(decompress(stored), type=dict[str, bool])
    except (ZlibError, ValueError) as error:
        _log_damage(tables.environment_users, name, error)
        return {}


def _decode_users(stored: bytes, table: sa.Table, name: tuple[object, ...]) -> Sketch:
    try:
        return Sketch.decode(stored)
    except ValueError as error:
        _log_damage(table, name, error)
        return Sketch()


def _log_damage(table: sa.Table, name: tuple[object, ...], error: Exception) -> None:
    # These users are lost. To refuse the row would stop the counting of all others.
    log.error("history_row_damaged", table=table.name, id=name, error=str(error))
