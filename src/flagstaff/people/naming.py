"""Decides whether a value that a rule or a segment compares is a user's."""

from collections.abc import Mapping, Sequence
from typing import Any

from flagstaff.changes.redaction import without_user
from flagstaff.history.erased_users import Subject


def names_user(subject: Subject, attribute: str, value: str) -> bool:
    """Return whether a value of a condition is a user's: the id only of `user_id`, an address of any attribute.

    The same text in another attribute, such as a shop's number or a plan, is about other users.
    """
    if attribute == "user_id" and value == subject.user_id:
        return True
    return (attribute == "user_email" or "@" in value) and value.lower() == subject.email


def attributes_naming(subject: Subject, state: Mapping[str, Any]) -> Sequence[str]:
    """The attributes with which a rule or a segment, as the audit trail has it, compares a value that is the user's."""
    found = set()

    def note(attribute: str, value: str) -> bool:
        if is_named := names_user(subject, attribute, value):
            found.add(attribute)
        return is_named

    without_user(state, note)
    return sorted(found)
