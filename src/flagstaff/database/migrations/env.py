"""Run by Alembic for every command: the migrations, on the connection from migrate.py."""

from alembic import context

from flagstaff.database import tables

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=tables.metadata, include_schemas=True)
context.run_migrations()  # inside migrate.py's transaction
