"""Pages of the ids of events, eight bytes for each; earlier ids keep their rows until they are forgotten.

The previous release adds a row for each id while it serves beside this one, or after a way back. The trigger leaves out
a row whose id is in a page, as if it were in the table, so that no event counts twice.
"""

import sqlalchemy as sa
from alembic import op

from flagstaff.database import initial_schema

revision = "1003"
down_revision = "1002"

_HISTORY = "history"


def upgrade() -> None:
    """Create them."""
    initial_schema.run_statements(op.get_bind(), revision)


def losses(connection: sa.Connection) -> list[str]:
    """Describe what a downgrade would drop."""
    generations = sa.table("event_id_generations", sa.column("ids", sa.BigInteger), schema=_HISTORY)
    count = connection.scalar(sa.select(sa.func.sum(generations.c.ids)))
    return [f"{count} ids of events, whose repetitions then count again"] if count else []


def downgrade() -> None:
    """Drop them."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP TRIGGER event_ids_in_pages ON history.event_ids")
        op.execute("DROP FUNCTION history.skip_id_in_pages()")
    else:
        op.execute("DROP TRIGGER history.event_ids_in_pages")
    for table in ("event_id_pages", "event_id_generations"):
        op.drop_table(table, schema=_HISTORY)
