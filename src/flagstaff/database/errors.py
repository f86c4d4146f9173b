"""Converts errors of the drivers into domain errors, by what they mean for the caller."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
import structlog

from flagstaff.database import dialect
from flagstaff.values.errors import Code, Error, not_found, unavailable

log = structlog.get_logger(__name__)


@contextmanager
def translated_errors() -> Iterator[None]:
    """Convert drivers' errors to domain errors: UNAVAILABLE for an outage, NOT_FOUND for a parent that was deleted."""
    try:
        yield
    except sa.exc.IntegrityError as error:
        if dialect.is_missing_parent(error):
            raise not_found("resource any more; it has been deleted") from error
        raise
    except dialect.raw_errors(sa.exc.SQLAlchemyError) as error:
        if not dialect.is_outage(error):
            raise
        log.warning("database_unavailable", error=type(error).__name__, detail=str(error).partition("\n")[0])
        raise unavailable() from error


@contextmanager
def unique_or(message: str, *columns: sa.Column[Any]) -> Iterator[None]:
    """Raise Error CONFLICT with this message if a statement violates the unique constraint of these columns.

    Other violations are raised as they are: they are no conflict that the caller could solve.
    """
    try:
        yield
    except sa.exc.IntegrityError as error:
        if not dialect.violates_unique(error, columns):
            raise
        raise Error(Code.CONFLICT, message) from error
