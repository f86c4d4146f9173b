"""The users of each flag of a key, of variants and rules, and those for whom single flags were evaluated."""

import sqlalchemy as sa
from alembic import op

revision = "0050"
down_revision = "0049"

_HISTORY = "history"
_COLUMNS = (
    ("flag_users", "flag_id", sa.Uuid()),
    ("flag_users", "details", sa.LargeBinary()),
    ("environment_users", "flag_ids", sa.LargeBinary()),
    ("environment_users", "single_users", sa.LargeBinary()),
)


def upgrade() -> None:
    """Leave the columns empty in rows that exist. Days that were counted before have no users of variants and rules."""
    for table, name, kind in _COLUMNS:
        column: sa.Column[object] = sa.Column(name, kind)
        op.add_column(table, column, schema=_HISTORY)


def losses(connection: sa.Connection) -> list[str]:
    """Return what a downgrade would drop."""
    users = sa.table("flag_users", sa.column("details"), schema=_HISTORY)
    counted = sa.select(sa.func.count()).select_from(users).where(users.c.details.is_not(None))
    number = connection.execute(counted).scalar_one()
    return [f"the users of variants, rules and single flags in {number} days of flags"] if number else []


def downgrade() -> None:
    """Drop the columns. The users of flags that had one key on a day are then one."""
    for table, name, _ in _COLUMNS:
        with op.batch_alter_table(table, schema=_HISTORY) as each:
            each.drop_column(name)
