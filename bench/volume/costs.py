"""What a stretch of work costs: time, the processor time of this process and of PostgreSQL, log and table bytes."""

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flagstaff.database.database import Database
from tests.support.processes import children_of

_TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
_POSTMASTER = "SELECT pg_backend_pid()"
_LOG = "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint"
_SEGMENTS = """
    SELECT coalesce(sum(pg_relation_size(relid)), 0)::bigint, coalesce(sum(pg_indexes_size(relid)), 0)::bigint,
        coalesce(sum(pg_total_relation_size(relid)), 0)::bigint
    FROM pg_partition_tree('history.segments') WHERE isleaf
"""
_OTHERS = """
    SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class
    WHERE relnamespace = 'history'::regnamespace AND relkind = 'r' AND relname NOT LIKE 'segments%'
"""


@dataclass(frozen=True, slots=True)
class Reading:
    """The meters at a moment."""

    elapsed: float
    own: float
    server: float
    log: int

    def __sub__(self, before: "Reading") -> "Reading":
        return Reading(
            self.elapsed - before.elapsed, self.own - before.own, self.server - before.server, self.log - before.log
        )


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes of the segments, of which the rows, the indexes and what is stored beside the rows; and of the rest."""

    rows: int
    indexes: int
    total: int
    others: int


async def ask(database: Database, query: str) -> Any:
    """The first row of a query's result."""
    async with database.read_history() as connection:
        return (await connection.exec_driver_sql(query)).one()


async def find_postmaster(database: Database) -> int:
    """The process of a PostgreSQL server on this machine that starts the others."""
    (backend,) = await ask(database, _POSTMASTER)
    return int(_fields(backend)[1])


async def read_meters(database: Database, postmaster: int) -> Reading:
    """Read all meters. The server's time includes the processes that it has ended."""
    (log,) = await ask(database, _LOG)
    server = _seconds_of_ended(postmaster) + sum(map(_seconds, children_of(postmaster)))
    return Reading(time.perf_counter(), time.process_time(), server, int(log))


async def read_sizes(database: Database) -> Sizes:
    """The bytes on disk."""
    rows, indexes, total = await ask(database, _SEGMENTS)
    (others,) = await ask(database, _OTHERS)
    return Sizes(rows, indexes, total, others)


def _fields(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _seconds(pid: int) -> float:
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
    except FileNotFoundError:
        return 0.0  # it has just ended


def _seconds_of_ended(pid: int) -> float:
    return sum(map(int, _fields(pid)[13:15])) / _TICKS_A_SECOND
