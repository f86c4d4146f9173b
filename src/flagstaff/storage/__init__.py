"""The only package that speaks SQL: one set of queries for SQLite and PostgreSQL."""
