"""The revision of each project and environment, by which applications tell whether they have its latest state."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"

_TABLES = ("projects", "environments")


def upgrade() -> None:
    """Add the columns; what exists is at revision 0 until its next change."""
    for table in _TABLES:
        op.add_column(table, sa.Column("revision", sa.BigInteger, nullable=False, server_default="0"))


def downgrade() -> None:
    """Drop them. Nothing is lost: revisions only tell states apart."""
    for table in _TABLES:
        op.drop_column(table, "revision")
