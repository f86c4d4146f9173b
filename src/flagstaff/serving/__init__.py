"""What applications ask: snapshots, keys and answers. No SQL, even indirectly."""
