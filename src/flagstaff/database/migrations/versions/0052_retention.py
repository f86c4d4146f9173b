"""For how long projects and environments keep their history, if shorter than the instance does."""

import sqlalchemy as sa
from alembic import op

revision = "0052"
down_revision = "0051"

_TABLES = ("projects", "environments")
_DAYS = "history_retention_days"


def upgrade() -> None:
    """Add the days. All keep their history as before."""
    for table in _TABLES:
        op.add_column(table, sa.Column(_DAYS, sa.Integer))


def losses(connection: sa.Connection) -> list[str]:
    """Describe what a downgrade would drop."""
    lost = []
    for name in _TABLES:
        table = sa.table(name, sa.column(_DAYS, sa.Integer))
        chosen = sa.select(sa.func.count()).select_from(table).where(table.c[_DAYS].is_not(None))
        if count := connection.execute(chosen).scalar_one():
            lost.append(f"for how long {count} {name} keep their history: it is kept as long as the instance's then")
    return lost


def downgrade() -> None:
    """Drop the days."""
    for table in _TABLES:
        op.drop_column(table, _DAYS)
