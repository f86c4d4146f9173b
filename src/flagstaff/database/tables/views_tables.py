"""Saved views and pinned charts of projects, and the favourites of accounts."""

import sqlalchemy as sa

from flagstaff.database.tables.columns import Moment, metadata

# Filters of the list of flags, by which all members of a project can look.
saved_views = sa.Table(
    "saved_views",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.ForeignKey("projects.id", ondelete="CASCADE"), nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("search", sa.JSON(none_as_null=True), nullable=False),
    sa.Column("creator_id", sa.ForeignKey("accounts.id", ondelete="SET NULL"), index=True),
    sa.Column("created_at", Moment, nullable=False),
    sa.UniqueConstraint("project_id", "name"),
)

# Views of the history's chart, which all members of a project see on its home.
pinned_charts = sa.Table(
    "pinned_charts",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.ForeignKey("projects.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("environment_id", sa.ForeignKey("environments.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("flag_id", sa.ForeignKey("flags.id", ondelete="CASCADE"), index=True),
    sa.Column("period", sa.Text, nullable=False),
    sa.Column("split", sa.Text, nullable=False),
    sa.Column("scale", sa.Text, nullable=False),
    sa.Column("compare_before", sa.Boolean, nullable=False),
    sa.Column("compare_environment_id", sa.ForeignKey("environments.id", ondelete="SET NULL"), index=True),
    sa.Column("created_at", Moment, nullable=False),
)

# The flags that an account wants to see first, by their keys, so that they are the same in all environments.
favourites = sa.Table(
    "favourites",
    metadata,
    sa.Column("account_id", sa.ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("project_id", sa.ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True, index=True),
    sa.Column("flag_key", sa.Text, primary_key=True),
    sa.Column("created_at", Moment, nullable=False),
)
