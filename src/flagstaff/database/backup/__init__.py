"""Whole databases in a portable form: read from a database, kept in a file, written to another database."""
