"""The recorded evaluations.

The history has no foreign keys to the configuration, which lives in another file with SQLite and may lose an
environment at any time. Its own numbers stand for environments and layouts, to keep rows small.
"""

import sqlalchemy as sa

from flagstaff.database.tables.columns import HISTORY, Moment, metadata, version_column

recorded_environments = sa.Table(
    "recorded_environments",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("environment_id", sa.Uuid, nullable=False, unique=True),
    sa.Column("kept_from", sa.Integer, nullable=False, server_default="0"),  # counts before this minute are ignored
    # The last segment whose users were counted; see history/store/distinct_users/user_rollups.py.
    sa.Column("counted_segment", sa.BigInteger, nullable=False, server_default="0"),
    schema=HISTORY,
    sqlite_autoincrement=True,
)

layouts = sa.Table(
    "layouts",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("environment", sa.Integer, nullable=False),
    sa.Column("digest", sa.LargeBinary, nullable=False),
    sa.Column("content", sa.LargeBinary, nullable=False),
    sa.Column("last_used_at", Moment, nullable=False),
    version_column(),
    sa.UniqueConstraint("environment", "digest"),
    schema=HISTORY,
    sqlite_autoincrement=True,
)

# Some hundred evaluations each; see history/store/segments.py.
segments = sa.Table(
    "segments",
    metadata,
    sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=True),
    sa.Column("environment", sa.Integer, nullable=False),
    sa.Column("layout_id", sa.Integer, nullable=False),
    sa.Column("first_time", sa.BigInteger, nullable=False),
    sa.Column("last_time", sa.BigInteger, nullable=False),
    sa.Column("size", sa.Integer, nullable=False),
    sa.Column("user_hashes", sa.LargeBinary, nullable=False),
    sa.Column("email_hashes", sa.LargeBinary, nullable=False),
    sa.Column("content", sa.LargeBinary, nullable=False),
    version_column(),
    sa.Index(None, "environment", "last_time", "id"),
    sa.Index(None, "environment", "id"),
    schema=HISTORY,
    sqlite_autoincrement=True,
)

# The recently written batches, each a version 7 UUID, so that a repeated batch is recognised.
batches = sa.Table(
    "batches",
    metadata,
    sa.Column("id", sa.LargeBinary, primary_key=True),
    schema=HISTORY,
    sqlite_with_rowid=False,
)

# The instance that sends the history to another database, and its block; see history/store/export_batches.py.
deliveries = sa.Table(
    "deliveries",
    metadata,
    sa.Column("sink", sa.Text, primary_key=True),
    sa.Column("holder", sa.Text, nullable=False),
    sa.Column("held_until", Moment, nullable=False),
    sa.Column("token", sa.Text),
    sa.Column("ends", sa.Text),
    schema=HISTORY,
    sqlite_with_rowid=False,
)

# Up to where the history of each environment was sent.
delivered = sa.Table(
    "delivered",
    metadata,
    sa.Column("environment_id", sa.Uuid, primary_key=True),
    sa.Column("position", sa.Text, nullable=False),
    schema=HISTORY,
    sqlite_with_rowid=False,
)

# The segment of events up to which those of each environment were sent to another database.
delivered_events = sa.Table(
    "delivered_events",
    metadata,
    sa.Column("environment_id", sa.Uuid, primary_key=True),
    sa.Column("segment", sa.BigInteger, nullable=False),
    schema=HISTORY,
    sqlite_with_rowid=False,
)

# The counts that batches have added by minute (counted from 1970) and layout, until it is rolled up; see
# history/store/summaries.py. `bytes` is the size of the minute's segments and new layouts.
summaries = sa.Table(
    "summaries",
    metadata,
    sa.Column("environment", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("minute", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("layout_id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("evaluations", sa.BigInteger, nullable=False),
    sa.Column("counts", sa.LargeBinary, nullable=False),
    version_column(),
    sa.Column("bytes", sa.BigInteger, nullable=False, server_default="0"),
    schema=HISTORY,
    sqlite_with_rowid=False,
)

# The count of each outcome of each flag: a row for each hour (`span` 60) and one for each day (1440), which starts at a
# minute counted from 1970; see history/store/rollups.py. `counts` has all flags that had the key in the span: that of
# `flag_id`, and those in `others`; see history/store/flag_counts.py.
flag_counts = sa.Table(
    "flag_counts",
    metadata,
    sa.Column("environment", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("span", sa.SmallInteger, primary_key=True, autoincrement=False),
    sa.Column("start", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("flag_key", sa.Text, primary_key=True),
    sa.Column("version", sa.SmallInteger, nullable=False),
    sa.Column("counts", sa.LargeBinary, nullable=False),
    sa.Column("flag_id", sa.Uuid),  # NULL in rows of earlier releases
    sa.Column("others", sa.LargeBinary),
    schema=HISTORY,
    sqlite_with_rowid=False,
)

# The distinct users of each day, counted from 1970: those of an environment, with the flags that were the same for all
# of them, and those of each other flag; see history/store/distinct_users/user_rows.py.
environment_users = sa.Table(
    "environment_users",
    metadata,
    sa.Column("environment", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("day", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("version", sa.SmallInteger, nullable=False),
    sa.Column("users", sa.LargeBinary, nullable=False),
    sa.Column("flags", sa.LargeBinary, nullable=False),
    sa.Column("flag_ids", sa.LargeBinary),  # of `flags`; NULL in rows of earlier releases, as are all of these columns
    sa.Column("single_users", sa.LargeBinary),  # those for whom single flags were evaluated
    schema=HISTORY,
    sqlite_with_rowid=False,
)

flag_users = sa.Table(
    "flag_users",
    metadata,
    sa.Column("environment", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("day", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("flag_key", sa.Text, primary_key=True),
    sa.Column("version", sa.SmallInteger, nullable=False),
    sa.Column("on_users", sa.LargeBinary, nullable=False),
    sa.Column("off_users", sa.LargeBinary, nullable=False),
    sa.Column("flag_id", sa.Uuid),
    sa.Column("details", sa.LargeBinary),
    schema=HISTORY,
    sqlite_with_rowid=False,
)

# The size of each hour (counted from 1970) of an environment's history.
recorded_bytes = sa.Table(
    "recorded_bytes",
    metadata,
    sa.Column("environment", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("hour", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("bytes", sa.BigInteger, nullable=False),
    schema=HISTORY,
    sqlite_with_rowid=False,
)
