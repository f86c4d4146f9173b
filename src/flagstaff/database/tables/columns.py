"""The columns and conversions that tables share.

Ids are UUIDs; times are whole microseconds since 1970 (UTC), so that both databases order and compare them alike.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_MICROSECOND = timedelta(microseconds=1)


def microseconds(at: datetime) -> int:
    """Whole microseconds since 1970."""
    return (at - _EPOCH) // _MICROSECOND


def moment(value: int) -> datetime:
    """The moment, in UTC, `value` microseconds after 1970."""
    return _EPOCH + timedelta(microseconds=value)


class Moment(TypeDecorator[datetime]):
    """An aware datetime kept as a BIGINT of microseconds."""

    impl = sa.BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:  # noqa: ARG002
        return None if value is None else microseconds(value)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        return None if value is None else moment(value)


def json_list(name: str) -> sa.Column[Any]:
    """A list as JSON text, in the serialisation of Python's json module. Older releases write none: it is empty."""
    return sa.Column(name, sa.JSON(none_as_null=True), nullable=False, server_default="[]")


def revision_column() -> sa.Column[Any]:
    """The column of database/revisions_store.py."""
    return sa.Column("revision", sa.BigInteger, nullable=False, server_default="0")


def row_of(table: sa.Table, resource: object) -> dict[str, Any]:
    """A resource of the domain as a table's row: the attributes that are named like its columns.

    A column for which it has none gets its default.
    """
    return {each.name: getattr(resource, each.name) for each in table.columns if hasattr(resource, each.name)}


metadata = sa.MetaData(
    naming_convention={
        "ix": "%(table_name)s_%(column_0_N_name)s_index",
        "uq": "%(table_name)s_%(column_0_N_name)s_unique",
        "fk": "%(table_name)s_%(column_0_name)s_reference",
        "pk": "%(table_name)s_primary",
    }
)


def member_columns() -> tuple[sa.Column[Any], sa.Column[Any], sa.ForeignKeyConstraint]:
    """The columns that name a member. What a member has ends with the membership."""
    return (
        sa.Column("project_id", sa.Uuid, nullable=False),
        sa.Column("account_id", sa.Uuid, nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id", "account_id"], ["members.project_id", "members.account_id"], ondelete="CASCADE"
        ),
    )


HISTORY = "history"
"""The schema of what is recorded. With SQLite, it is a file of its own."""


def version_column() -> sa.Column[int]:
    """The version of a row's content. Rows keep the version they were written in; readers support every version."""
    return sa.Column("version", sa.SmallInteger, nullable=False, server_default="1")
