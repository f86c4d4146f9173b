"""The instances of the service."""

import sqlalchemy as sa

from flagstaff.database.tables.columns import Moment, metadata

# The processes that serve from this database; see cluster/instances_store.py. No backup contains them.
instances = sa.Table(
    "instances",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("address", sa.Text, nullable=False),
    sa.Column("version", sa.Text, nullable=False),
    sa.Column("started_at", Moment, nullable=False),
    sa.Column("renewals", sa.BigInteger, nullable=False),
    sa.Column("is_leaving", sa.Boolean, nullable=False),
    sa.Column("expires_at", Moment, nullable=False),
    sa.Column("report", sa.Text),
    info={"transient": True},
)
