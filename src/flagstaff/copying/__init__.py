"""Comparing environments, copying flags between them, and restoring changes."""
