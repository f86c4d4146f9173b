"""Erasures of users of the applications, in the history."""

import sqlalchemy as sa

from flagstaff.database.tables.columns import HISTORY, Moment, metadata

# The erasures of users that owners have asked for; see people/erasures.py. `sealed` has the ids until it is done, and
# the counts are of what was erased. The process that erases holds it until `held_until`.
erasures = sa.Table(
    "erasures",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.Uuid, nullable=False, index=True),
    sa.Column("digests", sa.JSON(none_as_null=True), nullable=False),
    sa.Column("sealed", sa.LargeBinary),
    sa.Column("until", sa.BigInteger, nullable=False),
    sa.Column("requested_at", Moment, nullable=False),
    sa.Column("finished_at", Moment),
    sa.Column("stage", sa.Text, nullable=False),
    sa.Column("problem", sa.Text),
    sa.Column("evaluations", sa.BigInteger, nullable=False),
    sa.Column("events", sa.BigInteger, nullable=False),
    sa.Column("release_users", sa.BigInteger, nullable=False),
    sa.Column("changes", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("holder", sa.Text, nullable=False),
    sa.Column("held_until", Moment, nullable=False),
    schema=HISTORY,
    sqlite_with_rowid=False,
)

# The users of whom nothing is stored that happened up to a time, in microseconds since 1970: batches may arrive later
# that waited on a disk. See history/store/erased_users.py.
erased_users = sa.Table(
    "erased_users",
    metadata,
    sa.Column("environment", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("digest", sa.LargeBinary, primary_key=True),
    sa.Column("until", sa.BigInteger, nullable=False),
    schema=HISTORY,
    sqlite_with_rowid=False,
)

# Zeros in place of what was in free pages of SQLite's file, for a moment; see database/freed_pages.py.
freed_pages = sa.Table(
    "freed_pages",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("zeros", sa.LargeBinary, nullable=False),
    schema=HISTORY,
)
