"""Removes a user from evaluations and events in ClickHouse, which are kept.

ClickHouse keeps the statements in its list of mutations, so they have the SHA-256 of the id and not the id.
"""

import hashlib
from datetime import datetime
from uuid import UUID

from flagstaff.history.clickhouse.client import ClickHouse
from flagstaff.history.erased_users import Subject


async def erase_evaluations(table: ClickHouse, project_id: UUID, subject: Subject, until: datetime) -> None:
    """Erase a user of a project from the table of evaluations up to a moment. Raises ClickHouseError."""
    given = (("user_id", subject.user_id), ("lowerUTF8(user_email)", subject.email))
    is_user = " OR ".join(_is(column, text) for column, text in given if text is not None)
    await table.update(
        "user_id = NULL, user_email = NULL, attributes = ''",
        f"{_until('evaluated_at', project_id, until)} AND ({is_user})",
    )


async def erase_events(table: ClickHouse, project_id: UUID, subject: Subject, until: datetime) -> None:
    """The same in the table of events."""
    is_user = " OR ".join(_is("identifier", each) for each in subject.units)
    await table.update(
        "identifier = ''", f"{_until('occurred_at', project_id, until)} AND attribute IS NULL AND ({is_user})"
    )


def _is(column: str, text: str) -> str:
    return f"lower(hex(SHA256({column}))) = '{hashlib.sha256(text.encode()).hexdigest()}'"


def _until(column: str, project_id: UUID, until: datetime) -> str:
    return f"project_id = '{project_id}' AND {column} <= '{until:%Y-%m-%d %H:%M:%S.%f}'"
