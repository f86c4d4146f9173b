"""The findings of an examination: one line for each check, with advice."""

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """The result of a check."""

    OK = "OK"
    WARN = "WARN"  # works, but probably not as intended
    FAIL = "FAIL"  # does not work


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report; `advice` is empty when there is nothing to do."""

    check: str
    status: Status
    found: str
    advice: str = ""


def ok(check: str, found: str) -> Finding:
    """Nothing to do."""
    return Finding(check, Status.OK, found)


def warn(check: str, found: str, advice: str) -> Finding:
    """Something works, but probably not as intended."""
    return Finding(check, Status.WARN, found, advice)


def fail(check: str, found: str, advice: str) -> Finding:
    """Something does not work."""
    return Finding(check, Status.FAIL, found, advice)
