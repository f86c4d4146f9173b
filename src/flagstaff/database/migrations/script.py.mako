"""${message}."""

import sqlalchemy as sa
from alembic import op

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}


def upgrade() -> None:
    """Go one revision up."""
    ${upgrades if upgrades else "pass"}


def downgrade() -> None:
    """Go one revision down, keeping what the older version can hold."""
    ${downgrades if downgrades else "pass"}
