"""Snapshots of projects as they are in the database: reads and compiles what has changed."""
