"""Brings the database to the revision of this version before anything is served from it."""

from contextlib import ExitStack

import structlog

from flagstaff.assembly.history import EVENTS_FOLDER, SPOOL_FOLDER
from flagstaff.assembly.secret_keys import require_secret_key
from flagstaff.database.data_directory import DataDirectory
from flagstaff.database.database import Database
from flagstaff.database.migrate import migrate
from flagstaff.database.postgresql_sessions import require_sessions
from flagstaff.database.schema_state import is_supported, require_encoding_of
from flagstaff.database.sqlite.files import inspect_files
from flagstaff.history.spool import gather_spools
from flagstaff.settings import Settings
from flagstaff.values.errors import Code, Error

log = structlog.get_logger(__name__)


async def prepare(settings: Settings, workers: int, *, accepts_new_key: bool = False) -> None:
    """Migrate the database, and collect the evaluations that former workers have left. Nothing may be serving.

    If there is no secret key, it is created, unless the database needs one that is lost and no new one is accepted.

    Raises:
        Error: what `require_secret_key` and `migrate` raise.
    """
    await require_secret_key(settings, may_be_new=accepts_new_key)
    database = Database(settings.database_url, settings.data_dir)
    try:
        await migrate_unless_supported(database, settings)
    finally:
        await database.close()
    if settings.secret_key is None:
        DataDirectory(settings.data_dir).secret_key()
    gather_spools_of(settings, workers)


async def migrate_unless_supported(database: Database, settings: Settings) -> None:
    """Migrate a database unless it can be served as it is, even without its history.

    Raises:
        Error: what `migrate` raises.
    """
    await _require_usable(settings)
    await require_encoding_of(database)
    if not await is_supported(database):
        await database.close()  # no other connection may have the files open
        done = await migrate(settings.database_url, settings.data_dir)
        if done:
            log.info("migrated", revision=done[-1], migrations=len(done))
        if done and settings.database_url is None:
            # Once more, which finds nothing to do, but leaves SQLite's files in WAL mode. If two workers changed the
            # mode at once, SQLite would refuse one of them without a wait.
            await migrate(None, settings.data_dir)


async def migrate_alone_unless_supported(database: Database, settings: Settings) -> None:
    """The same for a command, beside which a server may be running.

    Raises:
        Error: CONFLICT when the database must be migrated and a server may be using it; what `migrate` raises.
    """
    await _require_usable(settings)
    if not await is_supported(database):
        await database.close()  # no other connection may have the files open
        await _migrate_alone(settings)


def gather_spools_of(settings: Settings, workers: int) -> None:
    """Collect the evaluations and events that more workers than there are now have left."""
    try:
        for name in (SPOOL_FOLDER, EVENTS_FOLDER):
            gather_spools(settings.data_dir / name, workers)
    except OSError as error:
        log.warning("spool_failed", error=str(error))


async def _require_usable(settings: Settings) -> None:
    if settings.database_url is None:
        inspect_files(settings.data_dir).require_configuration()
    else:
        await require_sessions(settings.database_url, for_writes=True)


async def _migrate_alone(settings: Settings) -> None:
    state = "The database is not at the revision of this version of Flagstaff."
    if settings.database_url is not None:
        raise Error(Code.CONFLICT, f"{state} Stop every instance, then run: flagstaff migrate")
    with ExitStack() as stack:
        try:
            stack.enter_context(DataDirectory(settings.data_dir).locked())
        except Error as error:
            raise Error(error.code, f"{state} {error.message}") from error
        await migrate(None, settings.data_dir)
