"""Does erasures: in short turns of the database's writer, and again from the beginning of a stage after a kill.

Whatever is repeated finds nothing more to erase.
"""

from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

import structlog

from flagstaff.database.database import Connection, Database
from flagstaff.database.tables import microseconds
from flagstaff.history.erased_users import Subject
from flagstaff.history.store import batches, erased_users, erasing
from flagstaff.history.store.columns import UnknownVersionError
from flagstaff.identity.second_factors.sealing import Sealer
from flagstaff.people import erasures_store
from flagstaff.people.copies import Copies
from flagstaff.people.erasures import Stage
from flagstaff.people.erasures_store import Held
from flagstaff.people.trail import erase_from_trail
from flagstaff.projects import environments_store
from flagstaff.releases import observations_store
from flagstaff.values.errors import Code, Error

EVERY_SECONDS = 2.0
HOLD = timedelta(seconds=60)
RETRY = timedelta(seconds=60)
_FORGOTTEN_AT_ONCE = 500

log = structlog.get_logger(__name__)


class _StalledError(Exception):
    """Why an erasure cannot go on now."""


@dataclass(frozen=True, slots=True)
class Eraser:
    """Does all erasures, one after the other.

    `kept` is how long late records may arrive: as long as the history keeps any. `passed` returns the time that was
    seen to pass, by which everything is deleted by age.
    """

    database: Database
    now: Callable[[], datetime]
    sealer: Sealer
    kept: timedelta
    passed: Callable[[], datetime]
    copies: Copies
    _held_at: dict[UUID, datetime] = field(default_factory=dict, init=False)  # the time since which each is held
    _overwritten: set[UUID] = field(default_factory=set, init=False)  # erasures for which free pages were overwritten

    async def run_due(self) -> None:
        """Go on with what is not done. Free pages are overwritten when all others have been erased, once for all.

        The same happens to erasures that ClickHouse keeps back.
        """
        async with self.database.read_history() as connection:
            due = await erasures_store.find_due(connection, self.database.instance, self.now())
        failure: Exception | None = None
        for last in (Stage.FREED_SPACE, Stage.DONE):
            for erasure_id in due:
                try:
                    await self.run(erasure_id, last)
                except Exception as error:  # noqa: BLE001 - the others are done all the same
                    failure = failure or error
        await self._overwrite_for_kept_back(due)
        if failure is not None:
            raise failure

    async def purge(self) -> None:
        """Forget users whose late records would be too old to be kept, and their erasures."""
        before, more = self.passed() - self.kept, True
        while more:
            async with self.database.write_history() as connection:
                more = await erased_users.delete_erased_users(connection, microseconds(before), _FORGOTTEN_AT_ONCE)
        async with self.database.write_history() as connection:
            await erasures_store.delete_old(connection, before)

    async def run(self, erasure_id: UUID, last: Stage = Stage.DONE, *, at_once: bool = False) -> None:
        """Do an erasure until it enters a stage, unless it is done or another process does it.

        A failure is noted, and tried again later, or `at_once` if somebody asks for it. Raises Error UNAVAILABLE if it
        cannot be noted.
        """
        if erasure_id in self._held_at:  # another task of this process does it, which holds it in the same name
            return
        self._held_at[erasure_id] = now = self.now()
        try:
            async with self.database.write_history() as connection:
                held = await erasures_store.hold(
                    connection, erasure_id, self.database.instance, now, now + HOLD, at_once=at_once
                )
            if held is not None:
                await self._run_held(held, last)
        finally:
            del self._held_at[erasure_id]

    async def _run_held(self, held: Held, last: Stage) -> None:
        try:
            await self._run(held, last)
        except Exception as error:
            is_outage = isinstance(error, Error) and error.code is Code.UNAVAILABLE  # or a statement took too long
            is_expected = is_outage or isinstance(error, _StalledError | UnknownVersionError)
            log.warning("erasure_failed", erasure=str(held.erasure.id), exc_info=None if is_expected else error)
            problem = str(error) if is_expected else "An unexpected error; the log has it."
            async with self.database.write_history() as connection:
                await erasures_store.fail(connection, held, problem, self.now() + RETRY)

    async def _run(self, held: Held, last: Stage) -> None:
        erasure = held.erasure
        opened = self.sealer.open(held.sealed, erasure.id.bytes)
        if opened is None:
            raise _StalledError("The secret key is not the one with which this was requested. Request it again.")
        subject = Subject.decode(opened)
        if erasure.stage is Stage.HISTORY:
            await self._erase_history(held, subject)
            await self._erase_from_trail(held, subject)
            await self._enter(held, Stage.CLICKHOUSE)
        if erasure.stage is not Stage.FREED_SPACE:
            problem = await self.copies.erase(erasure, subject)
            if problem is not None:
                raise _StalledError(problem)
            await self._enter(held, Stage.FREED_SPACE)
        if last is Stage.FREED_SPACE:
            return
        await self._overwrite_freed(erasure.id)
        async with self.database.write_history() as connection:
            await erasures_store.finish(connection, held, self.now())
        self._overwritten.discard(erasure.id)
        log.info("erasure_done", erasure=str(erasure.id))

    async def _overwrite_for_kept_back(self, erasure_ids: Collection[UUID]) -> None:
        async with self.database.read_history() as connection:
            kept_back = await erasures_store.find_in_stages(connection, [Stage.CLICKHOUSE])
        for erasure_id in kept_back:
            if erasure_id in erasure_ids:
                with suppress(_StalledError):  # it is tried again with the erasure
                    await self._overwrite_freed(erasure_id)

    async def _overwrite_freed(self, erasure_id: UUID) -> None:
        """Overwrite free pages, once for all erasures that wait for it, and empty the log of what was there before.

        Each time writes all free pages to the log, which a reader may keep: so never while it keeps anything.
        """
        if erasure_id not in self._overwritten:
            await self._empty_log()
            async with self.database.read_history() as connection:
                waiting = await erasures_store.find_in_stages(connection, [Stage.CLICKHOUSE, Stage.FREED_SPACE])
            if not await self.database.overwrite_free_pages():
                raise _StalledError("More is deleted all the time. It goes on afterwards.")
            self._overwritten.clear()
            self._overwritten.update(waiting)
        await self._empty_log()

    async def _empty_log(self) -> None:
        if not await self.database.empty_history_log():
            raise _StalledError("Something still reads what was in the database before. It goes on afterwards.")

    async def _enter(self, held: Held, stage: Stage) -> None:
        async with self.database.write_history() as connection:
            _require(await erasures_store.enter(connection, held, stage))

    async def _hold_on(self, held: Held) -> None:
        """Hold an erasure longer if nothing that was written has done so for a while."""
        if self.now() - self._held_at[held.erasure.id] > HOLD / 4:
            async with self.database.write_history() as connection:
                await self._go_on(connection, held)

    async def _go_on(self, connection: Connection, held: Held, **more: int) -> None:
        now = self.now()
        _require(await erasures_store.go_on(connection, held, now + HOLD, **more))
        self._held_at[held.erasure.id] = now

    async def _erase_history(self, held: Held, subject: Subject) -> None:
        async with self.database.read() as connection:
            environments = await environments_store.list_environments(connection, held.erasure.project_id)
        for environment in environments:
            async with self.database.read_history() as connection:
                number = await batches.find_environment_number(connection, environment.id)
            if number is None:
                continue
            await self._erase_evaluations(held, number, subject)
            await self._erase_events(held, number, subject)
            await self._erase_from_releases(held, environment.id, subject)

    async def _erase_from_trail(self, held: Held, subject: Subject) -> None:
        async for turn in erase_from_trail(self.database, held.erasure.project_id, subject):
            async with self.database.write_history() as connection:
                await self._go_on(connection, held, changes=turn.altered)

    async def _erase_from_releases(self, held: Held, environment_id: UUID, subject: Subject) -> None:
        """Delete the user from what was counted for releases."""
        async with self.database.read_history() as connection:
            numbers = await observations_store.list_of_environment(connection, environment_id)
        for number in numbers:
            async with self.database.write_history() as connection:
                found = await observations_store.delete_units(connection, number, subject.units)
                await self._go_on(connection, held, release_users=found)

    async def _erase_evaluations(self, held: Held, number: int, subject: Subject) -> None:
        until, after = microseconds(held.erasure.until), 0
        while True:
            await self._hold_on(held)
            async with self.database.read_history() as connection:
                found = await erasing.find_segments(connection, number, subject, after=after, until=until)
            for start in range(0, len(found.ids), erasing.READ_AT_ONCE):
                left = list(found.ids[start : start + erasing.READ_AT_ONCE])
                while left:
                    async with self.database.read_history() as connection:
                        rewritten = await erasing.rewrite_segments(connection, number, left, subject, until)
                    if not rewritten:
                        await self._hold_on(held)
                        break
                    async with self.database.write_history() as connection:
                        done = await erasing.replace_segments(connection, number, rewritten)
                        records = sum(each.records for each in done)
                        await self._go_on(connection, held, evaluations=records)
                    ids = {each.id for each in done}
                    left = [each.id for each in rewritten if each.id not in ids]
            if found.next_after is None:
                return
            after = found.next_after

    async def _erase_events(self, held: Held, number: int, subject: Subject) -> None:
        until, after = microseconds(held.erasure.until), 0
        while True:
            await self._hold_on(held)
            async with self.database.read_history() as connection:
                found = await erasing.find_event_segments(connection, number, after=after)
                rewritten = await erasing.rewrite_event_segments(connection, found.ids, subject, until)
            if rewritten:
                async with self.database.write_history() as connection:
                    done = await erasing.replace_event_segments(connection, number, rewritten)
                    records = sum(each.records for each in done)
                    await self._go_on(connection, held, events=records)
                if len(done) < len(rewritten):
                    continue
            if found.next_after is None:
                return
            after = found.next_after


def _require(is_held: object) -> None:
    if not is_held:
        raise _StalledError("Another process goes on with it.")
