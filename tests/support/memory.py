"""A folder in memory, for files that need not outlive the tests."""

import os
import shutil
from pathlib import Path

_MEMORY = Path("/dev/shm")
_MIN_FREE_BYTES = 2 * 1024**3


def roomy_memory() -> Path | None:
    """The folder: no write waits for a disk there. None if there is none or it is small."""
    if os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free >= _MIN_FREE_BYTES:
        return _MEMORY
    return None
