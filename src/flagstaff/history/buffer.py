"""Evaluations in memory, until the recorder collects them."""

import secrets
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from time import time_ns
from typing import Any
from uuid import UUID

from flagstaff.evaluation.history.records import BATCH_IDS, RecordBatch, RecordGroup
from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from flagstaff.projects.record_origins import Origin, Origins
from flagstaff.projects.sdk_keys import KeyKind

BATCH_GROUPS = 1000  # the store lists them all in one statement, which databases limit

_FIELDS = 7  # of a record
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Buffer:
    """Collects evaluations, grouped by snapshot.

    `has_all` says that the recorded attributes are all that the requests had, and `instance` is the name of this one.
    """

    may_drop = True  # an evaluation is answered whatever happens to its record

    def __init__(self, *, has_all: bool = False, instance: str = "") -> None:
        self._has_all = has_all
        self._instance = instance
        # The fields of all records in one list: a tuple for each would double the cost of `record`.
        self._fields: defaultdict[EnvironmentSnapshot, list[Any]] = defaultdict(list)
        self._attributes: defaultdict[EnvironmentSnapshot, list[bytes]] = defaultdict(list)

    @property
    def records(self) -> int:
        """The number of records."""
        return sum(map(len, self._fields.values())) // _FIELDS

    def record(  # noqa: PLR0913, PLR0917 - a tuple of some would be one more object for the garbage collector
        self,
        snapshot: EnvironmentSnapshot,
        user_id: str | None,
        user_email: str | None,
        recorded: bytes,
        attributes: bytes | None = None,
        at: datetime | None = None,
        place: int | None = None,
        key_id: UUID | None = None,
        protocol: str = "",
    ) -> None:
        """Record one evaluation. Every evaluate call runs this.

        `attributes` are given for all evaluations of a snapshot or for none; `at` is the time that rules looked at.
        `place` is the flag's place in the snapshot's layout if only one flag was evaluated. `key_id` is the SDK key's
        id.
        """
        time = time_ns() if at is None else (at - _EPOCH) // _MICROSECOND * 1000
        self._fields[snapshot].extend((time, user_id, user_email, recorded, place, key_id, protocol))
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
        times, users, emails, recorded, places, keys, protocols = (fields[start::_FIELDS] for start in range(_FIELDS))
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
            origins=self._origins(snapshot, keys, protocols),
        )

    def _origins(self, snapshot: EnvironmentSnapshot, keys: list[UUID | None], protocols: list[str]) -> Origins:
        """The origins of evaluations. Ids of keys are told apart as objects, because Python hashes them slowly."""
        revision = snapshot.revision
        if keys.count(keys[0]) == len(keys) and protocols.count(protocols[0]) == len(protocols):
            origin = Origin(revision, keys[0], str(protocols[0]), self._instance)
            return Origins([origin], (), _kinds(snapshot, [origin]))
        pairs = [*zip(map(id, keys), map(id, protocols), strict=True)]
        known = dict(zip(pairs, zip(keys, protocols, strict=True), strict=True))
        numbers = {pair: number for number, pair in enumerate(known)}
        origins = [Origin(revision, key_id, str(protocol), self._instance) for key_id, protocol in known.values()]
        return Origins(origins, [numbers[pair] for pair in pairs], _kinds(snapshot, origins))


def _kinds(snapshot: EnvironmentSnapshot, origins: Sequence[Origin]) -> list[KeyKind | None]:
    """The kinds of the keys of origins: the project's own key, which has no id, is for servers."""
    kinds: dict[UUID | None, KeyKind] = {key.key_id: key.kind for key in snapshot.sdk_keys.values()}
    kinds[None] = KeyKind.SERVER
    return [kinds.get(origin.key_id) for origin in origins]
