"""SQLite: the driver, its two files, and turns at its one writer."""
