"""Evaluations in memory, until the recorder collects them."""

import secrets
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from time import time_ns
from typing import Any

from flagstaff.evaluation.history.records import BATCH_IDS, RecordBatch, RecordGroup
from flagstaff.evaluation.snapshot import EnvironmentSnapshot

BATCH_GROUPS = 1000  # the store lists them all in one statement, which databases limit

_FIELDS = 5  # of a record
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Buffer:
    """Collects evaluations, grouped by snapshot.

    `has_all` says that the recorded attributes are all that the requests had.
    """

    may_drop = True  # an evaluation is answered whatever happens to its record

    def __init__(self, *, has_all: bool = False) -> None:
        self._has_all = has_all
        # The fields of all records in one list: a tuple for each would double the cost of `record`.
        self._fields: defaultdict[EnvironmentSnapshot, list[Any]] = defaultdict(list)
        self._attributes: defaultdict[EnvironmentSnapshot, list[bytes]] = defaultdict(list)

    @property
    def records(self) -> int:
        """The number of records."""
        return sum(map(len, self._fields.values())) // _FIELDS

    def record(
        self,
        snapshot: EnvironmentSnapshot,
        user_id: str | None,
        user_email: str | None,
        recorded: bytes,
        attributes: bytes | None = None,
        at: datetime | None = None,
        place: int | None = None,
    ) -> None:
        """Record one evaluation. Every evaluate call runs this.

        `attributes` are given for all evaluations of a snapshot or for none; `at` is the time that rules looked at.
        `place` is that of the flag in the snapshot's layout if only one was evaluated.
        """
        time = time_ns() if at is None else (at - _EPOCH) // _MICROSECOND * 1000
        self._fields[snapshot].extend((time, user_id, user_email, recorded, place))
        if attributes is not None:
            self._attributes[snapshot].append(attributes)

    def take(self) -> list[RecordBatch]:
        """Remove all records and return them in batches."""
        taken, self._fields = self._fields, defaultdict(list)
        attributes, self._attributes = self._attributes, defaultdict(list)
        groups = [self._group(snapshot, fields, attributes.get(snapshot)) for snapshot, fields in taken.items()]
        parts = (groups[start : start + BATCH_GROUPS] for start in range(0, len(groups), BATCH_GROUPS))
        return [RecordBatch(secrets.randbelow(BATCH_IDS), part) for part in parts]

    def _group(self, snapshot: EnvironmentSnapshot, fields: list[Any], attributes: list[bytes] | None) -> RecordGroup:
        times, users, emails, recorded, places = (fields[start::_FIELDS] for start in range(_FIELDS))
        return RecordGroup(
            environment_id=snapshot.environment_id,
            layout=snapshot.layout,
            times=times,
            users=users,
            emails=emails,
            recorded=recorded,
            attributes=attributes,
            has_all=self._has_all,
            flags=None if places.count(None) == len(places) else places,
        )
