"""Releases; in the history, what was observed for them."""

import sqlalchemy as sa

from flagstaff.database.tables.columns import HISTORY, Moment, json_list, metadata

# Releases of flags. `due_at` is when an unfinished one is to be looked at next, and `mark` the number of the last
# change of the flag that it knows.
releases = sa.Table(
    "releases",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.ForeignKey("projects.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("environment_id", sa.ForeignKey("environments.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("flag_id", sa.ForeignKey("flags.id", ondelete="CASCADE"), nullable=False),
    sa.Column("name", sa.Text),
    json_list("steps"),
    json_list("guards"),
    json_list("thresholds"),
    sa.Column("false_alarm_rate", sa.Float, nullable=False),
    sa.Column("when_late", sa.Text, nullable=False),
    sa.Column("split_action", sa.Text, nullable=False, server_default="pause"),
    sa.Column("counts", sa.Text, nullable=False, server_default="all"),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("reason", sa.Text),
    sa.Column("author_id", sa.Uuid),
    sa.Column("author_email", sa.Text),
    sa.Column("token_id", sa.Uuid),
    sa.Column("token_name", sa.Text),
    sa.Column("lost_authority", sa.Boolean, nullable=False, server_default=sa.false()),
    json_list("applied"),
    json_list("alarms"),
    sa.Column("counts_from", Moment),
    sa.Column("due_at", Moment),
    sa.Column("paused_at", Moment),
    sa.Column("ended_at", Moment),
    sa.Column("unwatched_since", Moment),
    sa.Column("mark", sa.BigInteger, nullable=False),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("updated_at", Moment, nullable=False),
    sa.Index(None, "flag_id", "created_at"),
    sa.Index(None, "state", "due_at"),
)

# This table and the next two are empty: only development builds before 1.0 have used them.
observed_releases = sa.Table(
    "observed_releases",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("release_id", sa.Uuid, nullable=False, unique=True),
    sa.Column("environment_id", sa.Uuid, nullable=False),
    sa.Column("version", sa.BigInteger, nullable=False),
    sa.Column("holder", sa.Text, nullable=False),
    sa.Column("held_until", Moment, nullable=False),
    sa.Column("content", sa.LargeBinary, nullable=False),
    schema=HISTORY,
    sqlite_autoincrement=True,
)

exposures = sa.Table(
    "exposures",
    metadata,
    sa.Column("release", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("unit", sa.Text, primary_key=True),
    sa.Column("first_step", sa.SmallInteger, nullable=False),
    sa.Column("step", sa.SmallInteger, nullable=False),
    sa.Column("arm", sa.SmallInteger, nullable=False),
    sa.Column("at", sa.BigInteger, nullable=False),
    schema=HISTORY,
    sqlite_with_rowid=False,
)

user_events = sa.Table(
    "user_events",
    metadata,
    sa.Column("release", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("metric", sa.SmallInteger, primary_key=True, autoincrement=False),
    sa.Column("unit", sa.Text, primary_key=True),
    sa.Column("step", sa.SmallInteger, nullable=False),
    sa.Column("arm", sa.SmallInteger, nullable=False),
    sa.Column("events", sa.Integer, nullable=False),
    sa.Column("total", sa.Float, nullable=False),
    schema=HISTORY,
    sqlite_with_rowid=False,
)

# The counts of a release, and the positions up to which the history was read for it; see releases/observations.py.
# `version` rises with each write. The process that reads holds it until `held_until`.
counted_releases = sa.Table(
    "counted_releases",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("release_id", sa.Uuid, nullable=False, unique=True),
    sa.Column("environment_id", sa.Uuid, nullable=False),
    sa.Column("version", sa.BigInteger, nullable=False),
    sa.Column("holder", sa.Text, nullable=False),
    sa.Column("held_until", Moment, nullable=False),
    sa.Column("content", sa.LargeBinary, nullable=False),
    schema=HISTORY,
    sqlite_autoincrement=True,
)

# The users who were exposed to a release: when they first were in a step, and with which arm. `step` is the place of a
# stretch, a step in force or a part of its time. An arm of -1 stands for users that rules have left out, one of -2 for
# users seen in two arms, and one of -3 for users left out by their bucket.
step_exposures = sa.Table(
    "step_exposures",
    metadata,
    sa.Column("release", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("unit", sa.Text, primary_key=True),
    sa.Column("step", sa.SmallInteger, primary_key=True, autoincrement=False),
    sa.Column("arm", sa.SmallInteger, nullable=False),
    sa.Column("at", sa.BigInteger, nullable=False),
    schema=HISTORY,
    sqlite_with_rowid=False,
)

# The events of these users: how many of a metric were counted, and the sum of their values. `limits` is the place of
# the limits at which the user's number is cut off, or -1.
step_events = sa.Table(
    "step_events",
    metadata,
    sa.Column("release", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("metric", sa.SmallInteger, primary_key=True, autoincrement=False),
    sa.Column("unit", sa.Text, primary_key=True),
    sa.Column("step", sa.SmallInteger, primary_key=True, autoincrement=False),
    sa.Column("events", sa.Integer, nullable=False),
    sa.Column("total", sa.Float, nullable=False),
    sa.Column("limits", sa.SmallInteger, nullable=False),
    schema=HISTORY,
    sqlite_with_rowid=False,
)
