"""The order of a project's environments."""

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"

_LAST = 2_147_483_647
_environments = sa.table("environments", sa.column("project_id", sa.Uuid), sa.column("position", sa.Integer))


def upgrade() -> None:
    """Add the column. All environments share the last place, in which they are ordered by age, as before."""
    op.add_column("environments", sa.Column("position", sa.Integer, nullable=False, server_default=str(_LAST)))


def losses(connection: sa.Connection) -> list[str]:
    """Describe what a downgrade would drop."""
    ordered = sa.func.count(_environments.c.project_id.distinct())
    count = connection.execute(sa.select(ordered).where(_environments.c.position != _LAST)).scalar_one()
    return [f"the order of the environments of {count} projects"] if count else []


def downgrade() -> None:
    """Drop it."""
    op.drop_column("environments", "position")
