"""The rows with the distinct users of a day: one for an environment, and one for each flag with users of its own.

A row of a flag is found by its key. Its two columns have the users of all flags that had the key on the day, so that
earlier releases read and extend them. `flag_id` is the first of these flags. `details` has, by the ids of flags, the
users of each variant and rule and, where several flags had the key, the users of each flag.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar
from uuid import UUID
from zlib import compress, decompress
from zlib import error as ZlibError  # noqa: N812

import msgspec
import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.concurrency.pacing import Turns
from flagstaff.database import dialect, tables
from flagstaff.history.store.distinct_users.sketches import Sketch
from flagstaff.history.store.recorded_flags import UNNAMED

log = structlog.get_logger(__name__)

VERSION = 1
ROWS_AT_ONCE = 50
VARIANT, RULE, REASON = "variant:", "rule:", "reason:"
MOST_NAMES = 100  # variants and rules of a flag whose users are counted on a day
MOST_FLAGS = 33  # with one key on a day
Value = TypeVar("Value")

_ON, _OFF = "on", "off"

_flags = tables.flag_users.c
_days = tables.environment_users.c
_written = ("version", "on_users", "off_users", "flag_id", "details")
_flags_query = sa.select(_flags.day, _flags.flag_key, *(_flags[name] for name in _written)).where(
    _flags.environment == sa.bindparam("number"),
    _flags.day.in_(sa.bindparam("days", expanding=True)),
    _flags.flag_key.in_(sa.bindparam("keys", expanding=True)),
)
_day_written = ("version", "users", "flags", "flag_ids", "single_users")
_days_query = sa.select(_days.day, *(_days[name] for name in _day_written)).where(
    _days.environment == sa.bindparam("number"), _days.day.in_(sa.bindparam("days", expanding=True))
)
_store_flags_statement = dialect.upsert(
    tables.flag_users,
    lambda insert: insert.on_conflict_do_update(
        index_elements=[_flags.environment, _flags.day, _flags.flag_key],
        set_={name: insert.excluded[name] for name in _written},
    ),
)
_store_day_statement = dialect.upsert(
    tables.environment_users,
    lambda insert: insert.on_conflict_do_update(
        index_elements=[_days.environment, _days.day],
        set_={name: insert.excluded[name] for name in _day_written},
    ),
)


@dataclass(slots=True)
class FlagUsers:
    """The users with a flag on, and those with it off; a user can be among both.

    `named` are those who got a variant or matched a rule, by `VARIANT`, `RULE` or `REASON` and a text.
    """

    on: Sketch = field(default_factory=Sketch)
    off: Sketch = field(default_factory=Sketch)
    named: dict[str, Sketch] = field(default_factory=dict)

    def merge(self, other: "FlagUsers") -> None:
        """Add the users of another day."""
        self.on.merge(other.on)
        self.off.merge(other.off)
        for name, users in other.named.items():
            self.of_name(name).merge(users)

    def merge_state(self, users: Sketch, *, is_on: bool) -> None:
        """Add users for whom the flag was on, or off."""
        (self.on if is_on else self.off).merge(users)

    def of_name(self, name: str) -> Sketch:
        """Return the users of a variant or rule, to be added to."""
        if name not in self.named and len(self.named) >= MOST_NAMES:
            return Sketch()
        return self.named.setdefault(name, Sketch())


@dataclass(slots=True)
class KeyUsers:
    """The users of the flags that had a key on a day, by id; None where an earlier release has counted them."""

    flag_id: UUID | None
    by_flag: dict[UUID | None, FlagUsers] = field(default_factory=dict)
    _all: FlagUsers = field(default_factory=FlagUsers)
    stored: tuple[object, ...] = ()  # the columns in the database

    def of_flag(self, flag_id: UUID | None) -> FlagUsers:
        """Return the users of a flag, to be added to."""
        if flag_id not in self.by_flag and len(self.by_flag) >= MOST_FLAGS:
            flag_id = UNNAMED
        return self.by_flag.setdefault(flag_id, FlagUsers())

    @classmethod
    def of_row(cls, row: Any, name: tuple[object, ...]) -> "KeyUsers":
        """The users of a row."""
        decode = partial(_decode_users, table=tables.flag_users, name=name)
        found = cls(row.flag_id, stored=tuple(getattr(row, each) for each in _written[1:]))
        details = msgspec.msgpack.decode(row.details, type=dict[bytes, dict[str, bytes]]) if row.details else {}
        for stored_id, sketches in details.items():
            named = {each: decode(stored) for each, stored in sketches.items()}
            on, off = (named.pop(side) if side in named else Sketch() for side in (_ON, _OFF))
            users = FlagUsers(on, off, named)
            found.by_flag[UUID(bytes=stored_id) if stored_id else None] = users
        found._all = FlagUsers(decode(row.on_users), decode(row.off_users))
        if len(found.by_flag) <= 1:
            first = found.of_flag(row.flag_id)
            first.on.merge(found._all.on)
            first.off.merge(found._all.off)
        return found

    def encode(self) -> tuple[object, ...]:
        """Return the columns after the version."""
        is_one = len(self.by_flag) == 1
        all_users = FlagUsers()
        details: dict[bytes, dict[str, bytes]] = {}
        for flag_id, users in self.by_flag.items():
            all_users.on.merge(users.on)
            all_users.off.merge(users.off)
            sketches = {name: each.encode() for name, each in users.named.items()}
            if not is_one:
                sketches |= {_ON: users.on.encode(), _OFF: users.off.encode()}
            if sketches:
                details[flag_id.bytes if flag_id else b""] = sketches
        if not is_one:  # also what an earlier release has added
            all_users.on.merge(self._all.on)
            all_users.off.merge(self._all.off)
        packed = msgspec.msgpack.encode(details) if details else None
        return all_users.on.encode(), all_users.off.encode(), self.flag_id, packed


@dataclass(slots=True)
class DayUsers:
    """The users of an environment on a day.

    `users` are those for whom all flags were evaluated, and `flags` were the same for all of these, on or off. `single`
    are those for whom single flags were.
    """

    users: Sketch = field(default_factory=Sketch)
    flags: dict[str, bool] = field(default_factory=dict)
    ids: dict[str, UUID] = field(default_factory=dict)
    single: Sketch = field(default_factory=Sketch)
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
        users, single = (
            _decode_users(each, tables.environment_users, name) if each is not None else Sketch()
            for each in (row.users, row.single_users)
        )
        ids = {key: UUID(bytes=each) for key, each in _decode_flags(row.flag_ids, name, dict[str, bytes]).items()}
        size = sum(len(each or b"") for each in (row.users, row.flags, row.flag_ids, row.single_users))
        found[row.day] = DayUsers(users, _decode_flags(row.flags, name, dict[str, bool]), ids, single, size)
    return found


async def find_flag_users(
    connection: AsyncConnection, number: int, days: Collection[int], keys: Collection[str]
) -> dict[tuple[int, str], KeyUsers]:
    """The users of flags on some days, by day and key; flags without users of their own are left out."""
    found = {}
    for row in await connection.execute(_flags_query, {"number": number, "days": days, "keys": keys}):
        _check(row.version)
        found[row.day, row.flag_key] = KeyUsers.of_row(row, (number, row.day, row.flag_key))
    return found


async def store_day(connection: AsyncConnection, number: int, day: int, users: DayUsers) -> int:
    """Store the users of an environment on a day. Return by how many bytes they grew."""
    ids = {key: users.ids[key].bytes for key in users.flags if key in users.ids}
    columns = {
        "users": users.users.encode(),
        "flags": _encode_flags(users.flags),
        "flag_ids": _encode_flags(ids),
        "single_users": users.single.encode(),
    }
    row = {"environment": number, "day": day, "version": VERSION, **columns}
    await connection.execute(_store_day_statement(connection), row)
    return sum(map(len, columns.values())) - users.stored_size


async def store_flag_users(
    connection: AsyncConnection, number: int, day: int, flags: Mapping[str, KeyUsers], turns: Turns
) -> int:
    """Store the users of flags on a day. Return by how many bytes they grew."""
    grown, rows = 0, []
    for key, users in flags.items():
        encoded = users.encode()
        if encoded != users.stored:
            grown += _size(encoded) - _size(users.stored)
            rows.append({"flag_key": key, **dict(zip(_written[1:], encoded, strict=True))})
        await turns.give()
    shared = {"environment": number, "day": day, "version": VERSION}
    for start in range(0, len(rows), ROWS_AT_ONCE):
        some = [{**shared, **row} for row in rows[start : start + ROWS_AT_ONCE]]
        await connection.execute(_store_flags_statement(connection), some)
    return grown


def _check(version: int) -> None:
    if version != VERSION:
        raise ValueError(f"users of version {version} are unknown")


def _size(columns: Iterable[object]) -> int:
    return sum(len(each) for each in columns if isinstance(each, bytes))


def _encode_flags(flags: Mapping[str, bool | bytes]) -> bytes:
    return compress(msgspec.msgpack.encode(flags), level=1)


def _decode_flags(stored: bytes | None, name: tuple[int, int], kind: type[dict[str, Value]]) -> dict[str, Value]:
    try:
        return msgspec.msgpack.decode(decompress(stored), type=kind) if stored is not None else {}
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
