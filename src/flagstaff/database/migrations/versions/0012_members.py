"""Members of projects, and their roles."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

_projects = sa.table("projects", *map(sa.column, ("id", "owner_id", "created_at")))
_members = sa.table("members", *map(sa.column, ("project_id", "account_id", "role", "created_at")))


def upgrade() -> None:
    """Create the tables. The account that made a project becomes its owner."""
    op.create_table(
        "members",
        sa.Column("project_id", sa.Uuid, nullable=False),
        sa.Column("account_id", sa.Uuid, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "account_id", name="members_primary"),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name="members_project_id_reference", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name="members_account_id_reference", ondelete="CASCADE"
        ),
    )
    op.create_index("members_account_id_index", "members", ["account_id"])
    op.create_table(
        "environment_roles",
        sa.Column("project_id", sa.Uuid, nullable=False),
        sa.Column("account_id", sa.Uuid, nullable=False),
        sa.Column("environment_id", sa.Uuid, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "account_id", "environment_id", name="environment_roles_primary"),
        sa.ForeignKeyConstraint(
            ["project_id", "account_id"],
            ["members.project_id", "members.account_id"],
            name="environment_roles_project_id_reference",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["environment_id"],
            ["environments.id"],
            name="environment_roles_environment_id_reference",
            ondelete="CASCADE",
        ),
    )
    op.create_index("environment_roles_environment_id_index", "environment_roles", ["environment_id"])
    owners = sa.select(_projects.c.id, _projects.c.owner_id, sa.literal("owner"), _projects.c.created_at)
    op.execute(_members.insert().from_select(["project_id", "account_id", "role", "created_at"], owners))


def losses(connection: sa.Connection) -> list[str]:
    """Return what a downgrade would drop: everyone but the accounts to which earlier revisions show the projects."""
    others = (
        sa.select(sa.func.count())
        .select_from(_members.join(_projects, _projects.c.id == _members.c.project_id))
        .where(_members.c.account_id != _projects.c.owner_id)
    )
    number = connection.execute(others).scalar_one()
    return [f"{number} members of projects"] if number else []


def downgrade() -> None:
    """Drop the tables. Each project is visible only to its `owner_id` again."""
    op.drop_table("environment_roles")
    op.drop_table("members")
