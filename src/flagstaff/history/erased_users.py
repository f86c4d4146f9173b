"""Users of applications whose records are erased: how requests name them, and how they are known afterwards.

Afterwards there are only digests, whose key is derived from the secret key: who reads the database cannot try ids.
"""

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from flagstaff.evaluation.history.records import RecordGroup
from flagstaff.metrics.events import EventRow

_DIGEST_BYTES = 16
_USER, _EMAIL, _UNIT = b"user", b"email", b"unit"
_NANOSECONDS = 1000  # in a microsecond


@dataclass(frozen=True, slots=True)
class Subject:
    """A user, by the id, the email or both. A record is the user's if it has one of them; emails ignore case."""

    user_id: str | None = None
    user_email: str | None = None

    @property
    def email(self) -> str | None:
        """The email as it is compared."""
        return self.user_email.lower() if self.user_email else None

    @property
    def units(self) -> tuple[str, ...]:
        """The texts that identify the user in events and releases; see `unit_of`."""
        return tuple(dict.fromkeys(each for each in (self.user_id, self.email) if each))

    def has_made(self, user: str | None, email: str | None) -> bool:
        """Return whether an evaluation for this id and email is the user's."""
        return (user is not None and user == self.user_id) or (bool(email) and email.lower() == self.email)  # type: ignore[union-attr]

    def encode(self) -> bytes:
        """As bytes, which `decode` reads."""
        return msgspec.json.encode([self.user_id, self.user_email])

    @classmethod
    def decode(cls, encoded: bytes) -> "Subject":
        """The subject that was encoded."""
        return cls(*msgspec.json.decode(encoded, type=tuple[str | None, str | None]))


class Digests:
    """Makes the digests by which erased users are known."""

    def __init__(self, secret_key: str) -> None:
        self._key = hmac.digest(secret_key.encode(), b"flagstaff erased users", hashlib.sha256)

    def of_subject(self, subject: Subject) -> tuple[bytes, ...]:
        """All digests of a subject's records."""
        found = [self._of(_UNIT, each) for each in subject.units]
        if subject.user_id is not None:
            found.append(self._of(_USER, subject.user_id))
        if subject.email is not None:
            found.append(self._of(_EMAIL, subject.email))
        return tuple(found)

    def shown(self, subject: Subject) -> dict[str, str]:
        """The digests that the audit trail shows, in hexadecimal, by the field of the request."""
        given = (("user_id", _USER, subject.user_id), ("user_email", _EMAIL, subject.email))
        return {name: self._of(kind, text).hex() for name, kind, text in given if text is not None}

    def is_erased(self, erased: Mapping[bytes, int], user: str | None, email: str | None, at: int) -> bool:
        """Return whether an evaluation at a time, in microseconds, is of a user who was erased up to a later one."""
        found = [self._of(_USER, user)] if user is not None else []
        if email:
            found.append(self._of(_EMAIL, email.lower()))
        return any(erased.get(each, -1) >= at for each in found)

    def without_erased(self, group: RecordGroup, erased: Mapping[bytes, int]) -> RecordGroup:
        """The group, with erased users removed from their evaluations; `erased` has digests and times."""
        latest = max(erased.values(), default=-1) * _NANOSECONDS
        gone = {
            place
            for place, at in enumerate(group.times)
            if at <= latest and self.is_erased(erased, group.users[place], group.emails[place], at // _NANOSECONDS)
        }
        if not gone:
            return group
        users, emails = (
            [None if place in gone else each for place, each in enumerate(column)]
            for column in (group.users, group.emails)
        )
        attributes = group.attributes
        if attributes is not None:
            attributes = [b"null" if place in gone else each for place, each in enumerate(attributes)]
        return replace(group, users=users, emails=emails, attributes=attributes)

    def events_without_erased(self, rows: Sequence[EventRow], erased: Mapping[bytes, int]) -> list[EventRow]:
        """The events, with erased users removed from theirs."""
        latest = max(erased.values(), default=-1)
        return [
            msgspec.structs.replace(row, unit=NOBODY)
            if row.at <= latest and erased.get(self._of(_UNIT, row.unit), -1) >= row.at
            else row
            for row in rows
        ]

    def _of(self, kind: bytes, text: str) -> bytes:
        encoded = kind + b"\0" + text.encode("utf-8", "surrogatepass")
        return hmac.digest(self._key, encoded, hashlib.sha256)[:_DIGEST_BYTES]


NOBODY = ""
"""The unit of an event whose user was erased. No user has it."""
