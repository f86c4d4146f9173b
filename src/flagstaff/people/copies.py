"""Erases users from the copies of the history in ClickHouse, from each table on its own."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from flagstaff.database.database import Database
from flagstaff.history.erased_users import Subject
from flagstaff.history.store import export_batches
from flagstaff.people.erasures import Erasure

EraseCopy = Callable[[UUID, Subject, datetime], Awaitable[None]]
"""Erases a user of a project up to a moment from a table; raises an exception with the reason."""


@dataclass(slots=True)
class _Progress:
    """The blocks that were on their way to each table when an erasure came to them, and where it is done."""

    tokens: Mapping[str, str]
    erased: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Copies:
    """The tables that the settings name, by the name under which blocks are sent to each."""

    database: Database
    erase_from: Mapping[str, EraseCopy]
    _progress: dict[UUID, _Progress] = field(default_factory=dict, init=False)

    async def erase(self, erasure: Erasure, subject: Subject) -> str | None:
        """Erase a user from each table once no block can be on its way to it that was read before.

        Return why that was not possible everywhere; the next call leaves out the tables where it was.
        """
        async with self.database.read_history() as connection:
            tokens = await export_batches.find_tokens(connection)
        progress = self._progress.setdefault(erasure.id, _Progress(tokens))
        problems = []
        for sink, erase in self.erase_from.items():
            if sink in progress.erased:
                continue
            if sink in tokens and tokens[sink] == progress.tokens.get(sink):
                problems.append("A block for ClickHouse is on its way. It goes on when that has arrived.")
                continue
            try:
                await erase(erasure.project_id, subject, erasure.until)
                progress.erased.add(sink)
            except Exception as error:  # noqa: BLE001 -- whatever it is, the next table can be erased from
                problems.append(f"ClickHouse: {error}")
        if problems:
            return " ".join(dict.fromkeys(problems))
        del self._progress[erasure.id]
        return None
