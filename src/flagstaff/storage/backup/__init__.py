"""Whole databases in a form that both kinds share: read from one, kept in a file, written to another."""
