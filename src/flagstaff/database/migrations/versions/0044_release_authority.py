"""The access tokens with which releases act, and the releases whose authors have lost the right."""

import sqlalchemy as sa
from alembic import op

revision = "0044"
down_revision = "0043"

_releases = sa.table("releases", sa.column("token_id"), sa.column("state"))
_OPEN = ("scheduled", "running", "paused")


def upgrade() -> None:
    """Add the columns. The releases that exist act for their authors without a token."""
    op.add_column("releases", sa.Column("token_id", sa.Uuid))
    op.add_column("releases", sa.Column("token_name", sa.Text))
    lost = sa.Column("lost_authority", sa.Boolean, nullable=False, server_default=sa.false())
    op.add_column("releases", lost)


def losses(connection: sa.Connection) -> list[str]:
    """Describe what a downgrade would drop."""
    of_token = sa.select(sa.func.count()).where(_releases.c.token_id.is_not(None), _releases.c.state.in_(_OPEN))
    count = connection.execute(of_token).scalar_one()
    return [f"the access tokens of {count} open releases, which go on without these then"] if count else []


def downgrade() -> None:
    """Drop them."""
    for name in ("lost_authority", "token_name", "token_id"):
        op.drop_column("releases", name)
