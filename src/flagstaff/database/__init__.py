"""The database of both kinds: engines, transactions, tables, migrations and backups."""
