"""A revision after the newest, as the next release may have one: columns of flags and environments."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from flagstaff.database import migration_scripts, schema_state
from flagstaff.database.schema_state import SCRIPTS, known_revisions

_SCRIPT = '''
"""Colours of flags and environments."""

import sqlalchemy as sa
from alembic import op

revision = "{revision}"
down_revision = "{before}"
_flags = sa.table("flags", sa.column("colour"))


def upgrade():
    for table in ("flags", "environments"):
        op.add_column(table, sa.Column("colour", sa.Text))
    {and_then}


def losses(connection):
    query = sa.select(sa.func.count()).select_from(_flags).where(_flags.c.colour.is_not(None))
    coloured = connection.execute(query).scalar_one()
    return [f"the colours of {{coloured}} flags"] if coloured else []


def downgrade():
    for table in ("environments", "flags"):
        op.drop_column(table, "colour")
'''


@contextmanager
def next_revision(folder: Path, and_then: str = "pass", *, contracts: bool = False) -> Iterator[str]:
    """Let this version have one more revision; yield it.

    Its upgrade ends with the statement `and_then`. If it contracts, no version before it can serve from the database.
    """
    before = known_revisions()[-1]
    revision = str(int(before) + 1)
    scripts = folder / "migrations"
    shutil.copytree(SCRIPTS, scripts, ignore=shutil.ignore_patterns("__pycache__"))
    script = _SCRIPT.format(revision=revision, before=before, and_then=and_then)
    if contracts:
        script += f'\n\noldest_supported = "{revision}"\n'
    (scripts / "versions" / f"{revision}_colours.py").write_text(script)
    try:
        with pytest.MonkeyPatch.context() as patch:
            for module in (schema_state, migration_scripts):
                patch.setattr(module, "SCRIPTS", scripts)
            known_revisions.cache_clear()
            yield revision
    finally:  # also after a failure: other tests have the same cache
        known_revisions.cache_clear()
