"""The origins of the pages that may use a browser's SDK key."""

import sqlalchemy as sa
from alembic import op

revision = "0042"
down_revision = "0041"

_sdk_keys = sa.table("sdk_keys", sa.column("allowed_origins", sa.JSON))


def upgrade() -> None:
    """Add the column. Pages of every origin may use the keys that exist, as before."""
    origins = sa.Column("allowed_origins", sa.JSON(none_as_null=True), nullable=False, server_default="[]")
    op.add_column("sdk_keys", origins)


def losses(connection: sa.Connection) -> list[str]:
    """Describe what a downgrade would drop."""
    limited = sa.select(sa.func.count()).where(sa.cast(_sdk_keys.c.allowed_origins, sa.Text) != "[]")
    count = connection.execute(limited).scalar_one()
    return [f"the allowed origins of {count} SDK keys, which pages of every origin can use then"] if count else []


def downgrade() -> None:
    """Drop it."""
    op.drop_column("sdk_keys", "allowed_origins")
