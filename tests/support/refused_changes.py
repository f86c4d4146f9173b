"""Changes of the audit trail that the database refuses to rewrite, as if it ran out of memory or of time for them."""

import sqlalchemy as sa

from flagstaff.database.database import Database

_SQLITE = """
CREATE TRIGGER refuse BEFORE UPDATE ON changes WHEN OLD.id = {number} BEGIN SELECT RAISE(ABORT, 'refused'); END
"""
_POSTGRESQL = (
    """
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
    AS 'BEGIN RAISE EXCEPTION $$refused$$ USING ERRCODE = $$53200$$; END'
    """,
    """
    CREATE TRIGGER refuse BEFORE UPDATE ON changes FOR EACH ROW WHEN (OLD.id = {number}) EXECUTE FUNCTION refuse()
    """,
)


async def refuse_to_rewrite(database: Database, number: int) -> None:
    """Let each update of a change fail, until `allow_to_rewrite`."""
    async with database.transaction() as transaction:
        for each in _POSTGRESQL if database.is_postgresql else (_SQLITE,):
            await transaction.connection.execute(sa.text(each.format(number=number)))


async def allow_to_rewrite(database: Database) -> None:
    """End what `refuse_to_rewrite` has begun."""
    table = " ON changes" if database.is_postgresql else ""
    async with database.transaction() as transaction:
        await transaction.connection.execute(sa.text(f"DROP TRIGGER refuse{table}"))
