"""The only package that uses SQL: one set of queries for SQLite and PostgreSQL."""
