"""In the history: applications that evaluate flags themselves, callers, and what applications report."""

import sqlalchemy as sa

from flagstaff.database.tables.columns import HISTORY, Moment, metadata

# The instances of applications that evaluate flags themselves; see history/store/connections.py.
connections = sa.Table(
    "connections",
    metadata,
    sa.Column("environment_id", sa.Uuid, primary_key=True),
    sa.Column("application", sa.Text, primary_key=True),
    sa.Column("identity", sa.Text, primary_key=True),
    sa.Column("instance", sa.Text, nullable=False),
    sa.Column("sdk", sa.Text, nullable=False),
    sa.Column("interval_milliseconds", sa.BigInteger),
    sa.Column("revision", sa.BigInteger, nullable=False),
    sa.Column("seen_at", Moment, nullable=False, index=True),
    sa.Column("streams", sa.Boolean, nullable=False),
    schema=HISTORY,
    sqlite_with_rowid=False,
)

# Callers, which ask for flags; see history/store/callers.py. The id is a digest of the caller, and the zero id stands
# for the project's own key. `slot` is the last five minutes with a request, counted from 1970; it has the requests in
# these and in those before.
callers = sa.Table(
    "callers",
    metadata,
    sa.Column("id", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("environment_id", sa.Uuid, nullable=False, index=True),
    sa.Column("key_id", sa.Uuid, nullable=False),
    sa.Column("protocol", sa.Text, nullable=False),
    sa.Column("user_agent", sa.Text, nullable=False),
    sa.Column("network", sa.Text, nullable=False),
    sa.Column("first_at", Moment, nullable=False),
    sa.Column("last_at", Moment, nullable=False, index=True),
    sa.Column("slot", sa.Integer, nullable=False),
    sa.Column("in_slot", sa.BigInteger, nullable=False),
    sa.Column("before_slot", sa.BigInteger, nullable=False),
    schema=HISTORY,
    sqlite_with_rowid=False,
)

# The requests of a caller in an hour, which is counted from 1970.
caller_hours = sa.Table(
    "caller_hours",
    metadata,
    sa.Column("caller", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("hour", sa.Integer, primary_key=True, autoincrement=False, index=True),
    sa.Column("requests", sa.BigInteger, nullable=False),
    schema=HISTORY,
    sqlite_with_rowid=False,
)

# Reported counts: how often each result of a flag occurred in an hour, which is counted from 1970. The
# result is "yes", "no" or "variant:" with a variant's key; see history/store/reported_counts.py.
reported_counts = sa.Table(
    "reported_counts",
    metadata,
    sa.Column("environment_id", sa.Uuid, primary_key=True),
    sa.Column("hour", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("flag_key", sa.Text, primary_key=True),
    sa.Column("application", sa.Text, primary_key=True),
    sa.Column("sdk", sa.Text, primary_key=True),
    sa.Column("result", sa.Text, primary_key=True),
    sa.Column("count", sa.BigInteger, nullable=False),
    sa.Column("reported_at", Moment, nullable=False),
    schema=HISTORY,
    sqlite_with_rowid=False,
)

# The windows of time that were reported lately, so that a repeated report is recognised.
reported_windows = sa.Table(
    "reported_windows",
    metadata,
    sa.Column("window", sa.LargeBinary, primary_key=True),
    sa.Column("reported_at", Moment, nullable=False, index=True),
    schema=HISTORY,
    sqlite_with_rowid=False,
)

# The number of counts of an hour that were not stored because its environment already had as many as are kept.
dropped_reports = sa.Table(
    "dropped_reports",
    metadata,
    sa.Column("environment_id", sa.Uuid, primary_key=True),
    sa.Column("hour", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("counts", sa.BigInteger, nullable=False),
    schema=HISTORY,
    sqlite_with_rowid=False,
)

# The series of the request metrics that applications report. `labels` is a JSON object, sorted by its keys.
request_series = sa.Table(
    "request_series",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("environment_id", sa.Uuid, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("labels", sa.Text, nullable=False),
    sa.Column("help", sa.Text, nullable=False),
    sa.Column("seen_at", Moment, nullable=False),
    sa.UniqueConstraint(
        "environment_id", "name", "kind", "labels", name="request_series_environment_id_name_kind_labels_unique"
    ),
    schema=HISTORY,
    sqlite_autoincrement=True,
)

# The values of a series in a minute, which is counted from 1970; see metrics/request_metrics.py for the bounds.
request_samples = sa.Table(
    "request_samples",
    metadata,
    sa.Column("series", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("minute", sa.Integer, primary_key=True, autoincrement=False, index=True),
    sa.Column("bound", sa.Text, primary_key=True),
    sa.Column("amount", sa.Float, nullable=False),
    sa.Column("times", sa.BigInteger, nullable=False),
    schema=HISTORY,
    sqlite_with_rowid=False,
)
