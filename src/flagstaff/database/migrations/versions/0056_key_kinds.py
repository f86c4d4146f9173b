"""The kind of the SDK keys with which events were sent, and which of them count for a release."""

import sqlalchemy as sa
from alembic import op

revision = "0056"
down_revision = "0055"

_HISTORY = "history"


def upgrade() -> None:
    """Add both; the kind of earlier events is not known, and for earlier releases all keys count."""
    op.add_column("releases", sa.Column("counts", sa.Text, nullable=False, server_default="all"))
    op.add_column("event_segments", sa.Column("key_kind", sa.Text), schema=_HISTORY)


def losses(connection: sa.Connection) -> list[str]:
    """Describe what a downgrade would drop."""
    releases = sa.table("releases", sa.column("counts", sa.Text))
    narrowed = sa.select(sa.func.count()).select_from(releases).where(releases.c.counts != "all")
    count = connection.execute(narrowed).scalar_one()
    return [f"that {count} releases count only what server keys send"] if count else []


def downgrade() -> None:
    """Drop both: all keys count for all releases."""
    op.drop_column("releases", "counts")
    op.drop_column("event_segments", "key_kind", schema=_HISTORY)
