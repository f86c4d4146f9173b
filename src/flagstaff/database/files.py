"""Files that are to survive a power failure."""

import os
from pathlib import Path


def sync_directory(path: Path) -> None:
    """Make the names in a directory durable: those of files that were created, renamed or deleted. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
