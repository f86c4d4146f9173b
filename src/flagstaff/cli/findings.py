"""What an examination finds: one line for each thing looked at, and what to do about it."""

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """How a thing is."""

    OK = "OK"
    WARN = "WARN"  # works, but probably not as meant
    FAIL = "FAIL"  # does not work


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report; `advice` is empty when there is nothing to do."""

    check: str
    status: Status
    found: str
    advice: str = ""


def ok(check: str, found: str) -> Finding:
    """All is well."""
    return Finding(check, Status.OK, found)


def warn(check: str, found: str, advice: str) -> Finding:
    """Something works, but probably not as meant."""
    return Finding(check, Status.WARN, found, advice)


def fail(check: str, found: str, advice: str) -> Finding:
    """Something does not work."""
    return Finding(check, Status.FAIL, found, advice)
