"""Tells whether this process can do its work, as a whole and by part: evaluations, writes and the history."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from flagstaff.database.database import Database
from flagstaff.database.health import CONFIGURATION, FILES, HISTORY
from flagstaff.database.schema_state import find_missing_tables, is_supported
from flagstaff.values.errors import Code, Error

DATABASE_SECONDS = 5.0  # a database that takes longer to answer hangs


@dataclass(frozen=True, slots=True)
class Readiness:
    """Checks the database, and what else is given: whether evaluations are answered, and sentences about problems.

    `find_warnings` returns sentences about what works now, but may not after the next start.
    """

    database: Database
    answers_evaluations: Callable[[], bool]
    other_problems: Callable[[], list[str]]
    find_warnings: Callable[[], list[str]]

    async def check(self) -> list[str]:
        """Return the warnings if everything works.

        Raises:
            Error: UNAVAILABLE with every problem and warning. Its extension `works` says what works nevertheless:
                `evaluations`, `writes`, which are changes through the management API, and `history`.
        """
        stores = await self._check_stores()
        problems = [*dict.fromkeys(stores.values()), *self.other_problems()]
        evaluates = self.answers_evaluations()
        if not evaluates:
            problems.append("Evaluations are refused, because changes may have been missed.")
        if problems:
            works = {
                "evaluations": evaluates,
                "writes": CONFIGURATION not in stores,
                "history": HISTORY not in stores,
            }
            detail = " ".join([*problems, *self.find_warnings()])
            raise Error(Code.UNAVAILABLE, detail, extensions={"works": works}, retry_after_seconds=5)
        return self.find_warnings()

    async def _check_stores(self) -> dict[str, str]:
        """Return the problems of the configuration and of the history."""
        replaced = self._replaced_files()
        if CONFIGURATION in replaced:  # nothing is read from it, unless a connection is open already
            return {**self.database.health.problems(), **replaced}
        try:
            async with asyncio.timeout(DATABASE_SECONDS):
                is_usable = await is_supported(self.database)
                missing = await find_missing_tables(self.database) if is_usable else {}
        except Error as error:
            return self._of_both(error.message)
        except TimeoutError:
            return self._of_both(f"The database has not answered for {DATABASE_SECONDS:g} seconds.")
        if not is_usable:
            message = "The database is not at a revision that this version can serve from. Run: flagstaff migrate"
            return self._of_both(message)
        self.database.health.record_tables(missing)
        return {**self.database.health.problems(), **replaced}

    def _of_both(self, message: str) -> dict[str, str]:
        return {**dict.fromkeys(FILES, message), **self._replaced_files()}

    def _replaced_files(self) -> dict[str, str]:
        replaced = {}
        for store, file in FILES.items():
            try:
                self.database.require_files(file)
            except Error as error:
                replaced[store] = error.message
        return replaced
