"""The migrations as Alembic reads them. Alembic takes 12 MB of memory, so only what migrates imports this module."""

import sqlalchemy as sa
from alembic.config import Config
from alembic.script import ScriptDirectory

from flagstaff.database.schema_state import SCRIPTS, VERSION, has_mark, known_revisions, present_revision


def configuration() -> Config:
    """Return Alembic's configuration, without a database."""
    made = Config()
    made.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    return made


def scripts() -> ScriptDirectory:
    """Return the migrations."""
    return ScriptDirectory.from_config(configuration())


def named_oldest_supported() -> dict[str, str]:
    """Return, by each migration that takes something away, the first revision that no longer needs it."""
    modules = {script.revision: script.module for script in scripts().walk_revisions()}
    return {each: module.oldest_supported for each, module in modules.items() if hasattr(module, "oldest_supported")}


def record_oldest_supported(connection: sa.Connection) -> None:
    """Store it after a migration, in its transaction. The revision must be one that this version knows."""
    present = present_revision(connection)
    if present is None:
        return
    run = known_revisions()[: known_revisions().index(present) + 1]
    named = [oldest for revision, oldest in named_oldest_supported().items() if revision in run]
    if not has_mark(connection):
        connection.execute(sa.text("ALTER TABLE alembic_version ADD COLUMN oldest_supported TEXT"))
    connection.execute(VERSION.update().values(oldest_supported=max(named, default=None)))
