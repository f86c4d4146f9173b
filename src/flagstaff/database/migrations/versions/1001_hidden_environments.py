"""Environments without a project, which nobody sees while their rows are written or removed in short transactions."""

import sqlalchemy as sa
from alembic import op

from flagstaff.database import initial_schema

revision = "1001"
down_revision = "1000"

# SQLite enforces no foreign keys here, so what refers to these environments is named, from the ends of the references.
_DELETIONS = """
DELETE FROM changes WHERE environment_id IN
    (SELECT id FROM environments WHERE project_id IS NULL AND built_until IS NOT NULL);
DELETE FROM rules WHERE flag_id IN
    (SELECT flags.id FROM flags JOIN environments ON environments.id = environment_id WHERE project_id IS NULL);
DELETE FROM comments WHERE flag_id IN
    (SELECT flags.id FROM flags JOIN environments ON environments.id = environment_id WHERE project_id IS NULL);
DELETE FROM releases WHERE environment_id IN (SELECT id FROM environments WHERE project_id IS NULL);
DELETE FROM flags WHERE environment_id IN (SELECT id FROM environments WHERE project_id IS NULL);
DELETE FROM environments WHERE project_id IS NULL
"""


def upgrade() -> None:
    """Let an environment have no project."""
    initial_schema.run_statements(op.get_bind(), revision)


def downgrade() -> None:
    """Delete what is hidden, as the server would have done."""
    for statement in _DELETIONS.split(";"):
        op.execute(statement)
    with op.batch_alter_table("environments") as environments:
        environments.alter_column("project_id", existing_type=sa.Uuid(), nullable=False)
        environments.drop_column("built_until")
