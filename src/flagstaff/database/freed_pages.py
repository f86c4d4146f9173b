"""Overwrites what was deleted from the history and still stands in free pages of SQLite's file, in short turns.

SQLite takes free pages before it makes its file longer. So zeros are stored until no page is free, and deleted again.
To rewrite the file with VACUUM would keep all others from writing for as long as that takes.
"""

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import tables

PAGES_AT_ONCE = 64
"""Pages in a turn of the writer, a quarter of a megabyte, which takes some milliseconds."""
_POINTER = 4  # bytes of a page that name the next one

_id = tables.freed_pages.c.id
_bytes = sa.func.sum(sa.func.length(tables.freed_pages.c.zeros))


async def count(connection: AsyncConnection) -> int:
    """The number of free pages."""
    return int((await connection.exec_driver_sql("PRAGMA freelist_count")).scalar_one())


async def stored_bytes(connection: AsyncConnection) -> int:
    """The bytes of zeros that are stored now, which will be free again."""
    return int((await connection.execute(sa.select(sa.func.coalesce(_bytes, 0)))).scalar_one())


async def fill(connection: AsyncConnection) -> bool:
    """Store zeros in some free pages; return False if there is none."""
    free = await count(connection)
    if free == 0:
        return False
    size = int((await connection.exec_driver_sql("PRAGMA page_size")).scalar_one())
    zeros = min(free, PAGES_AT_ONCE) * (size - _POINTER)
    await connection.exec_driver_sql("INSERT INTO freed_pages (zeros) VALUES (zeroblob(?))", (zeros,))
    return True


async def give_back(connection: AsyncConnection) -> bool:
    """Delete zeros that were stored; return False if there are none."""
    first = (await connection.execute(sa.select(sa.func.min(_id)))).scalar_one()
    if first is None:
        return False
    await connection.execute(tables.freed_pages.delete().where(_id == first))
    return True
