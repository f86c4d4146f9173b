"""Files that are to survive a power failure, and what is known of a file."""

import os
from pathlib import Path


def find_status(path: Path) -> os.stat_result | None:
    """The status of a file; None if there is none, or if it cannot be looked at."""
    try:
        return path.stat()
    except OSError:
        return None


def sync_directory(path: Path) -> None:
    """Make the names in a directory durable: those of files that were created, renamed or deleted. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
