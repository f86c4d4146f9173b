"""The comments of members."""

import sqlalchemy as sa

from flagstaff.database.tables.columns import Moment, metadata

# Comments of members on a flag, a release or a change: one of the three is set. The environment and the change
# have no foreign keys, as in the trail.
comments = sa.Table(
    "comments",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.ForeignKey("projects.id", ondelete="CASCADE"), nullable=False),
    sa.Column("environment_id", sa.Uuid),
    sa.Column("flag_id", sa.ForeignKey("flags.id", ondelete="CASCADE")),
    sa.Column("release_id", sa.ForeignKey("releases.id", ondelete="CASCADE")),
    sa.Column("change", sa.BigInteger),
    sa.Column("author_id", sa.ForeignKey("accounts.id", ondelete="SET NULL")),
    sa.Column("author_email", sa.Text, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("updated_at", Moment, nullable=False),
    sa.Index(None, "flag_id", "created_at"),
    sa.Index(None, "release_id", "created_at"),
    sa.Index(None, "project_id", "change"),
    sa.Index(None, "author_id", "created_at"),
)
