"""Erasures: requests to remove one user from all records, and how far each has come."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

CONFIRMATION = timedelta(minutes=10)
"""How long a confirmation can be used."""
CLOCKS_APART = timedelta(seconds=10)
"""Evaluations up to so long after the request are erased as well: another instance's clock may be ahead."""


class Stage(StrEnum):
    """The work under way: first in the history, then in its copy, and at last in what was freed on the disk."""

    HISTORY = "history"
    CLICKHOUSE = "clickhouse"
    FREED_SPACE = "freed_space"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Erasure:
    """An erasure: the keyed digests of the user's id and email, and how much was erased so far.

    `problem` is why it does not go on, if the last attempt has failed.
    """

    id: UUID
    project_id: UUID
    digests: Mapping[str, str]
    requested_at: datetime
    until: datetime
    stage: Stage = Stage.HISTORY
    problem: str | None = None
    finished_at: datetime | None = None
    evaluations: int = 0
    events: int = 0
    release_users: int = 0
    changes: int = 0


@dataclass(frozen=True, slots=True)
class RequestedErasure:
    """An erasure as the audit trail has it."""

    id: UUID
    project_id: UUID
    digests: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Remains:
    """Data that an erasure does not reach, and how long it stays."""

    what: str
    until: str


REMAINS = (
    Remains("counts by flag, and evaluations and events as those of nobody", "as long as the history keeps them"),
    Remains(
        "numbers of distinct users, as sketches, which hold no ids but may hold 32-bit hashes",
        "as long as the history keeps them",
    ),
    Remains("sums of releases, which hold no ids", "until the release is deleted"),
    Remains("digests of the ids that applications gave events", "7 days"),
    Remains(
        "events by which users are told apart with an attribute, such as a device", "as long as the history keeps them"
    ),
    Remains(
        "rules and segments that name the user now",
        "until you change them; that change is recorded with the user, so erase the user again afterwards",
    ),
    Remains(
        "batches that wait on the disk of an instance that cannot reach the database",
        "until it writes them: then they are stored without the user",
    ),
    Remains("backups", "until you delete them; after restoring one, erase the user again"),
    Remains("exported files, histories that were kept aside, and logs of proxies", "until you delete them"),
    Remains(
        "with PostgreSQL, old versions of rows in its files and its write-ahead log",
        "until it has vacuumed and used the space again",
    ),
    Remains(
        "with SQLite, replaced states of rules and segments, in free pages of flagstaff.sqlite and in its log",
        "until it uses the space again",
    ),
    Remains(
        "with SQLite, remains of rows that an earlier release deleted, in pages that are in use",
        "until the server is stopped and flagstaff history compact is run",
    ),
)
"""What an erasure does not reach."""
