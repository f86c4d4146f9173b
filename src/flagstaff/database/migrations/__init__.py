"""Alembic migrations of both databases."""
