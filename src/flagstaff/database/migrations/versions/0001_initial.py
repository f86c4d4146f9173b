"""Accounts, projects, environments, flags, rules and the audit trail."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the configuration's tables."""
    _create_accounts()
    _create_projects()
    _create_flags()
    _create_changes()


def downgrade() -> None:
    """Drop them."""
    for table in ("changes", "rules", "flags", "environments", "projects", "password_resets", "accounts"):
        op.drop_table(table)


def _create_accounts() -> None:
    op.create_table(
        "accounts",
        sa.Column("id", sa.Uuid, nullable=False),
        sa.Column("email", sa.Text, nullable=False),
        sa.Column("email_identity", sa.Text, nullable=False),
        sa.Column("password_hash", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="accounts_primary"),
        sa.UniqueConstraint("email_identity", name="accounts_email_identity_unique"),
    )
    op.create_table(
        "password_resets",
        sa.Column("token_hash", sa.LargeBinary, nullable=False),
        sa.Column("account_id", sa.Uuid, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
        sa.Column("spent_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("token_hash", name="password_resets_primary"),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name="password_resets_account_id_reference", ondelete="CASCADE"
        ),
    )
    op.create_index("password_resets_account_id_index", "password_resets", ["account_id"])


def _create_projects() -> None:
    op.create_table(
        "projects",
        sa.Column("id", sa.Uuid, nullable=False),
        sa.Column("owner_id", sa.Uuid, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("description", sa.Text),
        sa.Column("sdk_key", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="projects_primary"),
        sa.UniqueConstraint("sdk_key", name="projects_sdk_key_unique"),
        sa.ForeignKeyConstraint(["owner_id"], ["accounts.id"], name="projects_owner_id_reference", ondelete="CASCADE"),
    )
    op.create_index("projects_owner_id_index", "projects", ["owner_id"])
    op.create_table(
        "environments",
        sa.Column("id", sa.Uuid, nullable=False),
        sa.Column("project_id", sa.Uuid, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="environments_primary"),
        sa.UniqueConstraint("project_id", "key", name="environments_project_id_key_unique"),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name="environments_project_id_reference", ondelete="CASCADE"
        ),
    )


def _create_flags() -> None:
    op.create_table(
        "flags",
        sa.Column("id", sa.Uuid, nullable=False),
        sa.Column("environment_id", sa.Uuid, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("description", sa.Text),
        sa.Column("enabled", sa.Boolean, nullable=False),
        sa.Column("rollout_percentage", sa.SmallInteger, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="flags_primary"),
        sa.UniqueConstraint("environment_id", "key", name="flags_environment_id_key_unique"),
        sa.ForeignKeyConstraint(
            ["environment_id"], ["environments.id"], name="flags_environment_id_reference", ondelete="CASCADE"
        ),
    )
    op.create_table(
        "rules",
        sa.Column("id", sa.Uuid, nullable=False),
        sa.Column("flag_id", sa.Uuid, nullable=False),
        sa.Column("rule_type", sa.Text, nullable=False),
        sa.Column("rule_value", sa.Text, nullable=False),
        sa.Column("priority", sa.Integer, nullable=False),
        sa.Column("enabled", sa.Boolean, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="rules_primary"),
        sa.ForeignKeyConstraint(["flag_id"], ["flags.id"], name="rules_flag_id_reference", ondelete="CASCADE"),
    )
    op.create_index("rules_flag_id_index", "rules", ["flag_id"])


def _create_changes() -> None:
    op.create_table(
        "changes",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), autoincrement=True, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("actor_id", sa.Uuid),
        sa.Column("actor_email", sa.Text),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("resource_id", sa.Uuid, nullable=False),
        sa.Column("project_id", sa.Uuid),
        sa.Column("environment_id", sa.Uuid),
        sa.Column("flag_id", sa.Uuid),
        sa.Column("before", sa.JSON),
        sa.Column("after", sa.JSON),
        sa.PrimaryKeyConstraint("id", name="changes_primary"),
    )
    for column in ("environment_id", "project_id", "flag_id"):
        op.create_index(f"changes_{column}_id_index", "changes", [column, "id"])
