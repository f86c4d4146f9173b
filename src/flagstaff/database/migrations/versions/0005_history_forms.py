"""Versions of what the history stores, counts by flag, and the size of each hour."""

from collections import defaultdict
from collections.abc import Sequence
from hashlib import sha256
from itertools import chain
from struct import pack, unpack
from typing import Any
from uuid import UUID
from zlib import compress, decompress

import msgspec
import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

_HISTORY = "history"
_MICROSECONDS_AN_HOUR = 3600 * 10**6
_OUTCOMES = 7  # in the older form of a block

_layouts = sa.table(
    "layouts", *map(sa.column, ("id", "environment", "digest", "content", "last_used_at")), schema=_HISTORY
)
_summaries = sa.table(
    "summaries",
    *map(sa.column, ("environment", "minute", "layout_id", "evaluations", "counts", "version")),
    schema=_HISTORY,
)
_flag_counts = sa.table(
    "flag_counts", *map(sa.column, ("environment", "span", "start", "flag_key", "counts")), schema=_HISTORY
)


def upgrade() -> None:
    """Add the version to every row. The server moves counts to the new table later, a few at a time."""
    for table in ("layouts", "segments", "summaries"):
        _add_column(table, "version", sa.SmallInteger, "1")
    _add_column("summaries", "bytes", sa.BigInteger, "0")
    _add_column("recorded_environments", "kept_from", sa.Integer, "0")
    op.create_table(
        "flag_counts",
        sa.Column("environment", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("span", sa.SmallInteger, autoincrement=False, nullable=False),
        sa.Column("start", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("flag_key", sa.Text, nullable=False),
        sa.Column("version", sa.SmallInteger, nullable=False),
        sa.Column("counts", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("environment", "span", "start", "flag_key", name="flag_counts_primary"),
        schema=_HISTORY,
        sqlite_with_rowid=False,
    )
    op.create_table(
        "recorded_bytes",
        sa.Column("environment", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("hour", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("bytes", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("environment", "hour", name="recorded_bytes_primary"),
        schema=_HISTORY,
        sqlite_with_rowid=False,
    )
    _measure()


def downgrade() -> None:
    """Write every count in the older form, by minute and layout; then drop what that form does not have."""
    _turn_blocks()
    _unroll()
    op.drop_table("recorded_bytes", schema=_HISTORY)
    op.drop_table("flag_counts", schema=_HISTORY)
    op.drop_column("recorded_environments", "kept_from", schema=_HISTORY)
    op.drop_column("summaries", "bytes", schema=_HISTORY)
    for table in ("summaries", "segments", "layouts"):
        op.drop_column(table, "version", schema=_HISTORY)


def _add_column(table: str, name: str, kind: type[sa.types.TypeEngine[int]], default: str) -> None:
    # With a constant default neither database rewrites the rows.
    op.add_column(table, sa.Column(name, kind, nullable=False, server_default=default), schema=_HISTORY)


def _measure() -> None:
    """Store the size of each hour's segments."""
    op.execute(
        f"""
        INSERT INTO {_HISTORY}.recorded_bytes (environment, hour, bytes)
        SELECT environment, last_time / {_MICROSECONDS_AN_HOUR},
            sum(length(content) + length(user_hashes) + length(email_hashes))
        FROM {_HISTORY}.segments GROUP BY 1, 2
        """  # noqa: S608 - no part of it comes from outside
    )


def _turn_blocks() -> None:
    """Order blocks flag by flag again, not outcome by outcome."""
    connection, columns = op.get_bind(), _summaries.c
    key = (columns.environment, columns.minute, columns.layout_id)
    newer = sa.select(*key, columns.counts).where(columns.version == 2)
    widths: dict[int, int] = {}
    for *place, block in connection.execute(newer).all():
        layout_id = place[2]
        if layout_id not in widths:
            content = connection.execute(sa.select(_layouts.c.content).where(_layouts.c.id == layout_id)).scalar_one()
            widths[layout_id] = len(msgspec.msgpack.decode(decompress(content))["recorded"])
        width, stored = widths[layout_id], decompress(block)
        numbers = unpack(f"<{_OUTCOMES * width}Q", stored.ljust(_OUTCOMES * width * 8, b"\0"))
        counts = _block([*chain.from_iterable(numbers[flag::width] for flag in range(width))])
        connection.execute(_summaries.update().where(sa.tuple_(*key) == tuple(place)).values(counts=counts))


def _unroll() -> None:
    """Convert hours by flag to minutes by layout again, with a layout created for each hour."""
    connection, columns = op.get_bind(), _flag_counts.c
    hours = sa.select(columns.environment, columns.start).where(columns.span == 60).distinct()
    for environment, start in connection.execute(hours).all():
        of_hour = sa.and_(columns.environment == environment, columns.span == 60, columns.start == start)
        rows = connection.execute(sa.select(columns.flag_key, columns.counts).where(of_hour).order_by(columns.flag_key))
        places: dict[tuple[str, int], int] = {}
        minutes: defaultdict[int, dict[int, int]] = defaultdict(dict)
        for key, content in rows.all():
            for outcome, percentage, times in msgspec.msgpack.decode(content, strict=False):
                place = places.setdefault((key, percentage), len(places))
                for minute, count in times.items():
                    minutes[start + minute][place * _OUTCOMES + outcome] = count
        layout_id = _make_layout(connection, environment, start, list(places))
        for minute, counts in minutes.items():
            numbers = [counts.get(each, 0) for each in range(len(places) * _OUTCOMES)]
            values = {"environment": environment, "minute": minute, "layout_id": layout_id}
            connection.execute(_summaries.insert().values(**values, evaluations=0, counts=_block(numbers)))


def _make_layout(connection: sa.Connection, environment: int, start: int, flags: Sequence[tuple[str, int]]) -> int:
    recorded: list[dict[str, Any]] = [
        {"id": str(UUID(int=0)), "key": key, "rollout_percentage": percentage, "default": 0}
        for key, percentage in flags
    ]
    content = compress(msgspec.msgpack.encode({"recorded": recorded, "constant": []}))
    values = {
        "environment": environment,
        "digest": sha256(content + pack("<q", start)).digest()[:16],
        "content": content,
        "last_used_at": (start + 60) * 60 * 10**6,
    }
    layout_id: int = connection.execute(_layouts.insert().values(**values).returning(_layouts.c.id)).scalar_one()
    return layout_id


def _block(numbers: Sequence[int]) -> bytes:
    return compress(pack(f"<{len(numbers)}Q", *numbers).rstrip(b"\0"), level=1)
