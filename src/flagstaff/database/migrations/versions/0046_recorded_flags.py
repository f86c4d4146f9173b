"""The flags of the counts of each hour and day, by id."""

import sqlalchemy as sa
from alembic import op

revision = "0046"
down_revision = "0045"

_HISTORY = "history"
_COLUMNS = {"flag_id": sa.Uuid, "others": sa.LargeBinary}
_counts = sa.table("flag_counts", sa.column("others"), schema=_HISTORY)


def upgrade() -> None:
    """Leave the columns empty in rows that exist: for these, the time of a flag's creation tells whose they are."""
    for name, kind in _COLUMNS.items():
        op.add_column("flag_counts", sa.Column(name, kind), schema=_HISTORY)


def losses(connection: sa.Connection) -> list[str]:
    """Return what a downgrade would drop."""
    counted = sa.select(sa.func.count()).select_from(_counts).where(_counts.c.others.is_not(None))
    number = connection.execute(counted).scalar_one()
    return [f"the parts of different flags in {number} counts of one key"] if number else []


def downgrade() -> None:
    """Drop the columns. The counts of flags that had one key in the same hour or day are then one."""
    with op.batch_alter_table("flag_counts", schema=_HISTORY) as table:
        for name in _COLUMNS:
            table.drop_column(name)
