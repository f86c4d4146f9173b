"""The owners of webhooks of the whole instance, and the projects that share the contents of changes with these."""

import sqlalchemy as sa
from alembic import op

revision = "0043"
down_revision = "0042"

_webhooks = sa.table("webhooks", sa.column("id"), sa.column("project_id"), sa.column("owner_id"))
_changes = sa.table("changes", sa.column("resource_id"), sa.column("action", sa.Text), sa.column("actor_id"))
_projects = sa.table("projects", sa.column("shares_contents", sa.Boolean))


def upgrade() -> None:
    """Make whoever created a webhook of the instance its owner. No project shares its contents."""
    shares = sa.Column("shares_contents", sa.Boolean, nullable=False, server_default=sa.false())
    op.add_column("projects", shares)
    op.add_column("webhooks", sa.Column("owner_id", sa.Uuid))
    creator = (
        sa.select(_changes.c.actor_id)
        .where(_changes.c.resource_id == _webhooks.c.id, _changes.c.action == "webhook.created")
        .limit(1)
        .scalar_subquery()
    )
    op.execute(sa.update(_webhooks).where(_webhooks.c.project_id.is_(None)).values(owner_id=creator))


def losses(connection: sa.Connection) -> list[str]:
    """Describe what a downgrade would drop."""
    sharing = connection.execute(
        sa.select(sa.func.count()).where(_projects.c.shares_contents).select_from(_projects)
    ).scalar_one()
    owned = connection.execute(
        sa.select(sa.func.count()).where(_webhooks.c.project_id.is_(None)).select_from(_webhooks)
    ).scalar_one()
    lost = []
    if sharing:
        lost.append(f"the agreement of {sharing} projects: webhooks of the instance have contents of all projects then")
    if owned:
        lost.append(f"the owners of {owned} webhooks of the instance, which go on without an administrator then")
    return lost


def downgrade() -> None:
    """Drop both."""
    op.drop_column("webhooks", "owner_id")
    op.drop_column("projects", "shares_contents")
