"""Remembers what a process has found out about its database: damage, missing tables, refused writes."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import structlog

from flagstaff.database import driver_errors
from flagstaff.database.situations import Situation, find_file_situation, full_disk
from flagstaff.database.sqlite.files import (
    CONFIGURATION_FILE,
    HISTORY_FILE,
    inspect_files,
    paths_of,
    unusable_history,
)
from flagstaff.telemetry.metrics import Metrics
from flagstaff.values.errors import Code, Error, unavailable

CONFIGURATION, HISTORY = "configuration", "history"
FILES = {CONFIGURATION: CONFIGURATION_FILE, HISTORY: HISTORY_FILE}
"""SQLite's file of each store."""
_RESTORE = (
    "Stop the server, move the SQLite files to another folder, and restore a backup: flagstaff restore FILE. Until "
    "then, evaluations are answered."
)

log = structlog.get_logger(__name__)


class StoreHealth:
    """The state of both stores, the configuration and the history.

    Damage is remembered until the process ends, because what was read without an error says nothing about the rest. A
    store that refuses writes takes them again as soon as one succeeds, and one that lacks tables is complete as soon as
    all are found. `log_bytes` is how much of the write-ahead log of each of SQLite's files is not in the file yet.
    """

    def __init__(self, *, is_postgresql: bool, directory: Path) -> None:
        """`directory` contains SQLite's files."""
        self._is_postgresql = is_postgresql
        self._directory = directory
        self._missing: str | None = None
        self._damaged: dict[str, str] = {}
        self._refusing: dict[str, str] = {}
        self._incomplete: dict[str, str] = {}
        self._replaced: set[str] = set()
        self.log_bytes = {} if is_postgresql else dict.fromkeys(FILES, 0)

    @property
    def up(self) -> dict[str, bool]:
        """The state of each store: True while it is there and not known to be damaged."""
        down = {*self._damaged, *self._incomplete, *self._replaced, *({HISTORY} if self._missing else ())}
        return {store: store not in down for store in (CONFIGURATION, HISTORY)}

    @property
    def is_refusing_writes(self) -> bool:
        """True if the last write to one of the stores was refused, as by a full disk."""
        return bool(self._refusing)

    def export_metrics(self, metrics: Metrics) -> None:
        """Export the state of each store."""
        metrics.add_labelled_gauge(
            "store_up", "Whether the store exists and is undamaged: 1 or 0.", "store", lambda: self.up, min
        )
        metrics.add_labelled_gauge(
            "log_bytes",
            "Bytes of the write-ahead log of a SQLite file that are not in the file yet.",
            "store",
            lambda: self.log_bytes,
            max,
        )
        metrics.add_gauge(
            "writes_refused",
            "Whether the database refused the last write: 1 or 0.",
            lambda: self.is_refusing_writes,
            max,
        )

    def problems(self) -> dict[str, str]:
        """Return the problem of each store, and what to do about it."""
        missing = {HISTORY: self._missing} if self._missing else {}
        return {**self._refusing, **self._incomplete, **self._damaged, **missing}

    def look_for_history(self, data_directory: Path) -> None:
        """Find out whether SQLite's history is there, before it is used for the first time."""
        if self._is_postgresql:
            return
        self._missing = inspect_files(data_directory).history_problem
        if self._missing is not None:
            log.error("history_unusable", reason=self._missing)

    @contextmanager
    def watching(self, store: str, *, writes: bool = False) -> Iterator[None]:
        """Note what the errors of the database say about a store, around work with it, and what a write's success says.

        Raises the errors of `translated_errors`. Raises Error UNAVAILABLE at once for a store that is missing.
        """
        if store == HISTORY and self._missing is not None:
            raise unavailable(self._missing)
        try:
            yield
        except Error as error:
            message = self._record(store, error.__cause__, writes=writes) if error.code is Code.UNAVAILABLE else None
            if message is None:
                raise
            raise unavailable(message) from error.__cause__
        if writes and self._refusing.pop(store, None) is not None:
            log.info("writes_accepted", store=store)

    def _record(self, store: str, cause: BaseException | None, *, writes: bool) -> str | None:
        """Return a more exact message than that the database cannot be reached; None if this error allows none."""
        reason = str(getattr(cause, "orig", None) or cause).partition("\n")[0]
        if driver_errors.is_damage(cause):
            return self._record_damage(store, reason)
        if driver_errors.lacks_tables(cause):
            return self._record_absence(store, reason)
        situation = driver_errors.find_situation(cause) or self._find_file_situation(store)
        if writes and (driver_errors.refuses_writes(cause) or situation):
            return self._record_rejection(store, reason, cause, situation)
        return situation.message if situation else None

    def _record_damage(self, store: str, reason: str) -> str:
        if self._is_postgresql:
            message = f"PostgreSQL has found damaged data ({reason}). Look at its log, and restore a backup."
        elif store == HISTORY:
            message = unusable_history(f"{HISTORY_FILE} is damaged ({reason})")
        else:
            message = f"{CONFIGURATION_FILE} is damaged ({reason}). {_RESTORE}"
        if store not in self._damaged:
            log.error("database_damaged", store=store, reason=message)
        self._damaged[store] = message
        return message

    def record_tables(self, missing: Mapping[str, Sequence[str]]) -> None:
        """Note which tables of each store are not there, after all were looked for."""
        for store in (CONFIGURATION, HISTORY):
            if names := missing.get(store):
                self._record_absence(
                    store, f"{names[0]} does not exist" if len(names) == 1 else f"{len(names)} of them"
                )
            elif self._incomplete.pop(store, None) is not None:
                log.info("database_complete", store=store)

    def record_replacement(self, store: str, problem: str | None) -> None:
        """Note whether one of a store's files was deleted or replaced, after all were looked at."""
        if problem is None:
            if store in self._replaced:
                log.info("database_file_returned", store=store)
            self._replaced.discard(store)
        elif store not in self._replaced:
            log.error("database_file_replaced", store=store, reason=problem)
            self._replaced.add(store)

    def _record_absence(self, store: str, reason: str) -> str:
        message = f"The database lacks tables of the {store}: {reason}. Restore a backup"
        if store == HISTORY and not self._is_postgresql:
            message += (
                f", or stop the server, move {HISTORY_FILE} to another folder, and begin a new, empty history: "
                "flagstaff history new. Until then, evaluations are answered and kept on disk"
            )
        elif store == HISTORY:
            message += (
                ", or begin a new, empty history: flagstaff history new. Until then, evaluations are answered and kept "
                "on disk"
            )
        message += "."
        if store not in self._incomplete:
            log.error("database_incomplete", store=store, reason=message)
        self._incomplete[store] = message
        return message

    def _find_file_situation(self, store: str) -> Situation | None:
        return None if self._is_postgresql else find_file_situation(*paths_of(self._directory / FILES[store]))

    def _record_rejection(
        self, store: str, reason: str, cause: BaseException | None, situation: Situation | None
    ) -> str:
        place = "PostgreSQL" if self._is_postgresql else FILES[store]
        if driver_errors.is_full_disk(cause):  # or a quota is reached
            situation = full_disk(place)
        if situation:
            message = f"{situation.message} Evaluations are answered meanwhile."
        else:
            message = (
                f"{place} cannot be written: {reason}. Nothing was changed. Check its disk: free space, or restore the "
                "permission to write. Evaluations are answered meanwhile."
            )
        if store not in self._refusing:
            log.error("writes_refused", store=store, reason=message)
        self._refusing[store] = message
        return message
