"""Metrics; in the history, their events."""

import sqlalchemy as sa

from flagstaff.database.tables.columns import HISTORY, Moment, metadata, version_column

# Metrics, for which applications report events of users.
metrics = sa.Table(
    "metrics",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.ForeignKey("projects.id", ondelete="CASCADE"), nullable=False),
    sa.Column("key", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("description", sa.Text),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("better", sa.Text, nullable=False),
    sa.Column("unit", sa.Text),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("updated_at", Moment, nullable=False),
    sa.UniqueConstraint("project_id", "key"),
)

# Events of metrics: some thousand at most in a row, in the order in which they were committed in an environment.
# `number` counts an environment's events up to the last of them, `last_at` is the latest time of these, `key_kind`
# the kind of the SDK keys with which they were sent, and `origins` these keys, the protocol and the instances; see
# history/store/event_segments.py.
event_segments = sa.Table(
    "event_segments",
    metadata,
    sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=True),
    sa.Column("environment", sa.Integer, nullable=False),
    sa.Column("number", sa.BigInteger, nullable=False),
    sa.Column("size", sa.Integer, nullable=False),
    sa.Column("last_at", sa.BigInteger, nullable=False),
    version_column(),
    sa.Column("content", sa.LargeBinary, nullable=False),
    sa.Column("key_kind", sa.Text),
    sa.Column("origins", sa.LargeBinary),
    sa.Index(None, "environment", "id"),
    sa.Index(None, "environment", "last_at"),
    schema=HISTORY,
    sqlite_autoincrement=True,
)

# The ids that clients gave events, so that a repetition counts once; the day is counted from 1970. Releases before
# revision 1003 write them; later ones only read them, and add ids to pages.
event_ids = sa.Table(
    "event_ids",
    metadata,
    sa.Column("environment", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("digest", sa.Text, primary_key=True),
    sa.Column("day", sa.Integer, nullable=False, index=True),
    schema=HISTORY,
    sqlite_with_rowid=False,
)

# Ids of events of an environment that came with one kind of SDK key, and how many; `day` is their last one, counted
# from 1970. See history/store/event_ids.py.
event_id_generations = sa.Table(
    "event_id_generations",
    metadata,
    sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=True),
    sa.Column("environment", sa.Integer, nullable=False, index=True),
    sa.Column("key_kind", sa.Text, nullable=False),
    sa.Column("day", sa.Integer, nullable=False),
    sa.Column("ids", sa.BigInteger, nullable=False),
    schema=HISTORY,
    sqlite_autoincrement=True,
)

# The digests of a generation's ids from `first` on, up to the next page: eight bytes each, in no order. `first` is
# hexadecimal, and empty for the first page.
event_id_pages = sa.Table(
    "event_id_pages",
    metadata,
    sa.Column("generation", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("first", sa.Text().with_variant(sa.Text(collation="C"), "postgresql"), primary_key=True),
    sa.Column("content", sa.LargeBinary, nullable=False),
    schema=HISTORY,
)

# The number of events that named a metric that their project does not have, by the day of the last one, counted from
# 1970.
unknown_metrics = sa.Table(
    "unknown_metrics",
    metadata,
    sa.Column("environment_id", sa.Uuid, primary_key=True),
    sa.Column("metric", sa.Text, primary_key=True),
    sa.Column("events", sa.BigInteger, nullable=False),
    sa.Column("last_at", Moment, nullable=False),
    schema=HISTORY,
    sqlite_with_rowid=False,
)
