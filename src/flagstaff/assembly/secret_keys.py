"""Refuses to replace a lost secret key in silence, and builds the watch over the key of a server that runs."""

import structlog

from flagstaff.assembly.cluster import Cluster
from flagstaff.assembly.foundation import Foundation, PeriodicTask
from flagstaff.cluster.secret_keys import LOOK_SECONDS, KeyWatch
from flagstaff.database.data_directory import DataDirectory
from flagstaff.database.database import Database
from flagstaff.database.postgresql_sessions import require_sessions
from flagstaff.database.situations import LOST_KEY
from flagstaff.database.sqlite.files import inspect_files
from flagstaff.identity.administration.instance_store import needs_secret_key
from flagstaff.settings import Settings
from flagstaff.values.errors import Code, Error

log = structlog.get_logger(__name__)


async def require_secret_key(settings: Settings, *, may_be_new: bool = False) -> None:
    """Return if the secret key is there, or may be made: the database is new, or has nothing that needs the lost one.

    Raises:
        Error: CONFLICT when the key is lost, unless it `may_be_new`, or when the database cannot be used; UNAVAILABLE
            when it cannot be reached.
    """
    directory = DataDirectory(settings.data_dir)
    if settings.secret_key is not None or directory.has_secret_key() or not await _is_needed(settings):
        return
    if not may_be_new:
        raise Error(Code.CONFLICT, LOST_KEY.message)
    log.warning("secret_key_replaced", advice="everyone has to log in again")


async def _is_needed(settings: Settings) -> bool:
    if settings.database_url is None:
        found = inspect_files(settings.data_dir)
        found.require_configuration()
        if found.are_new:
            return False
    else:
        await require_sessions(settings.database_url, for_writes=True)
    database = Database(settings.database_url, settings.data_dir)
    try:
        return await needs_secret_key(database)
    finally:
        await database.close()


def build_key_watch(foundation: Foundation, cluster: Cluster) -> KeyWatch:
    """The watch over the secret key, which looks every few seconds."""
    settings = foundation.settings
    watch = KeyWatch(
        foundation.secret_key,
        foundation.directory.find_secret_key if settings.secret_key is None else None,
        cluster.list_instances if settings.database_url is not None else None,
    )
    watch.export_metrics(foundation.metrics)
    foundation.periodic_tasks.append(PeriodicTask("signing-key", LOOK_SECONDS, watch.look))
    return watch
