"""Owners of flags, flags that stay, critical environments, saved views and favourites."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"

_flags = sa.table("flags", sa.column("owner"), sa.column("keep", sa.Boolean))
_environments = sa.table("environments", sa.column("key"), sa.column("critical", sa.Boolean))
_views = sa.table("saved_views")
_favourites = sa.table("favourites")


def upgrade() -> None:
    """Add columns, into which releases before write nothing, and two tables."""
    op.add_column("flags", sa.Column("owner", sa.Text))
    op.add_column("flags", sa.Column("keep", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("environments", sa.Column("critical", sa.Boolean))
    op.create_table(
        "saved_views",
        sa.Column("id", sa.Uuid, nullable=False),
        sa.Column("project_id", sa.Uuid, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("search", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("creator_id", sa.Uuid),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="saved_views_primary"),
        sa.UniqueConstraint("project_id", "name", name="saved_views_project_id_name_unique"),
        _reference("saved_views", "project_id", "projects", "CASCADE"),
        _reference("saved_views", "creator_id", "accounts", "SET NULL"),
    )
    op.create_index("saved_views_creator_id_index", "saved_views", ["creator_id"])
    op.create_table(
        "favourites",
        sa.Column("account_id", sa.Uuid, nullable=False),
        sa.Column("project_id", sa.Uuid, nullable=False),
        sa.Column("flag_key", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("account_id", "project_id", "flag_key", name="favourites_primary"),
        _reference("favourites", "account_id", "accounts", "CASCADE"),
        _reference("favourites", "project_id", "projects", "CASCADE"),
    )
    op.create_index("favourites_project_id_index", "favourites", ["project_id"])


def _reference(table: str, column: str, to: str, ondelete: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{to}.id"], name=f"{table}_{column}_reference", ondelete=ondelete)


def losses(connection: sa.Connection) -> list[str]:
    """Return what a downgrade would drop."""

    def count(table: sa.TableClause, *which: sa.ColumnElement[bool]) -> int:
        return connection.execute(sa.select(sa.func.count()).select_from(table).where(*which)).scalar_one()

    by_key = _environments.c.key.in_(["prod", "production"])
    counted = {
        "the owners of {} flags": count(_flags, _flags.c.owner.is_not(None)),
        "the marks of {} flags that are to be kept": count(_flags, _flags.c.keep),
        "what was said of {} environments, critical or not": count(_environments, _environments.c.critical != by_key),
        "{} saved views": count(_views),
        "{} favourites": count(_favourites),
    }
    return [text.format(number) for text, number in counted.items() if number]


def downgrade() -> None:
    """Drop them."""
    op.drop_table("favourites")
    op.drop_table("saved_views")
    op.drop_column("environments", "critical")
    for name in ("keep", "owner"):
        op.drop_column("flags", name)
