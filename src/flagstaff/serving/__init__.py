"""Answers for applications: snapshots, keys and evaluations. No SQL, even indirectly."""
