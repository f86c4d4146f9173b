"""The instance's administrators, accounts that are deactivated, and settings that are changed while it runs."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"

_accounts = sa.table("accounts", *map(sa.column, ("is_administrator", "deactivated_at")))


def upgrade() -> None:
    """Add the columns and the table. No existing account becomes an administrator."""
    is_administrator = sa.Column("is_administrator", sa.Boolean, nullable=False, server_default=sa.false())
    op.add_column("accounts", is_administrator)
    op.add_column("accounts", sa.Column("deactivated_at", sa.BigInteger))
    op.create_table(
        "instance_settings",
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("name", name="instance_settings_primary"),
    )


def losses(connection: sa.Connection) -> list[str]:
    """Return what a downgrade would drop: earlier releases let deactivated accounts log in."""
    deactivated = sa.select(sa.func.count()).select_from(_accounts).where(_accounts.c.deactivated_at.is_not(None))
    number = connection.execute(deactivated).scalar_one()
    return [f"the deactivation of {number} accounts"] if number else []


def downgrade() -> None:
    """Drop them."""
    op.drop_table("instance_settings")
    op.drop_column("accounts", "deactivated_at")
    op.drop_column("accounts", "is_administrator")
