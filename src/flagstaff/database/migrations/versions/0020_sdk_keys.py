"""SDK keys of environments."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"

_keys = sa.table("sdk_keys")


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "sdk_keys",
        sa.Column("id", sa.Uuid, nullable=False),
        sa.Column("environment_id", sa.Uuid, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("key_hash", sa.LargeBinary, nullable=False),
        sa.Column("hint", sa.Text, nullable=False),
        sa.Column("creator_id", sa.Uuid),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.BigInteger),
        sa.Column("last_used_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("id", name="sdk_keys_primary"),
        sa.UniqueConstraint("key_hash", name="sdk_keys_key_hash_unique"),
        sa.ForeignKeyConstraint(
            ["environment_id"], ["environments.id"], name="sdk_keys_environment_id_reference", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["creator_id"], ["accounts.id"], name="sdk_keys_creator_id_reference", ondelete="SET NULL"
        ),
    )
    op.create_index("sdk_keys_environment_id_index", "sdk_keys", ["environment_id"])
    op.create_index("sdk_keys_creator_id_index", "sdk_keys", ["creator_id"])


def losses(connection: sa.Connection) -> list[str]:
    """Return what a downgrade would drop."""
    number = connection.execute(sa.select(sa.func.count()).select_from(_keys)).scalar_one()
    return [f"{number} SDK keys of environments"] if number else []


def downgrade() -> None:
    """Drop the table; the keys end."""
    op.drop_table("sdk_keys")
