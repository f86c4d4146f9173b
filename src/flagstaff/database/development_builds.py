"""Databases that development builds before 1.0 have made. The last of their revisions is taken over, with all data.

No release had any of these revisions.
"""

import sqlalchemy as sa

from flagstaff.database.schema_state import FIRST, VERSION, known_revisions
from flagstaff.database.tables import metadata
from flagstaff.values.errors import Code, Error

LAST_REVISION = "0057"
UNREAD = ("history.observed_releases", "history.exposures", "history.user_events")
"""Tables that only builds before the last one have written to."""


def is_older(revision: str | None) -> bool:
    """Return whether it is a revision of a development build before the last one."""
    return revision is not None and revision < known_revisions()[0] and revision != LAST_REVISION


def require_no_older(revision: str | None) -> None:
    """Raise Error CONFLICT for such a revision."""
    if is_older(revision):
        raise Error(
            Code.CONFLICT,
            f"The data are at revision {revision}, which only development builds before 1.0 had: migrate them to "
            f"revision {LAST_REVISION} with the last of these builds first. Nothing was changed.",
        )


def taken_over(revision: str) -> str:
    """Return the revision that data of this revision are at in this version, which may not know it.

    Raises:
        Error: what `require_no_older` raises.
    """
    require_no_older(revision)
    return FIRST if revision == LAST_REVISION else revision


def take_over(connection: sa.Connection) -> None:
    """Bring a database at the last revision before 1.0 to the first revision of 1.0.

    Archived flags were stored as off, and their own states beside: a version that did not know archived flags would
    have served them otherwise. One that such a version had turned on was not archived any more.

    The users and counts of releases that ended before users were counted by step are deleted: nothing reads them.
    """
    for statement in (
        "UPDATE flags SET archived_at = NULL WHERE enabled AND archived_at IS NOT NULL",
        "UPDATE flags SET enabled = archived_enabled WHERE archived_at IS NOT NULL",
        "ALTER TABLE flags DROP COLUMN archived_enabled",
        "DROP TABLE IF EXISTS history.events",  # which was empty; a history that was begun anew has none
        "DROP TABLE ended_tokens",  # of sessions that have ended, which are deleted
    ):
        connection.exec_driver_sql(statement)
    for name in UNREAD:
        connection.execute(metadata.tables[name].delete())
    connection.execute(VERSION.update().values(version_num=FIRST, oldest_supported=FIRST))
