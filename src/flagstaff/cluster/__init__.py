"""The instances and workers that serve from one database: leases, and how each learns of changes."""
