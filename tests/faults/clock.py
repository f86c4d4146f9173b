"""Finds libfaketime, which moves the wall clock of a process."""

import os
import shutil
import subprocess
from pathlib import Path

_FOLDERS = ("/usr/lib", "/usr/local/lib")


def find_faketime() -> Path | None:
    """Return the library, which is installed if possible (with root and apt), or None."""
    found = _find()
    if found is None and os.geteuid() == 0 and shutil.which("apt-get"):
        for command in (["update"], ["install", "--yes", "--no-install-recommends", "libfaketime"]):
            environ = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
            subprocess.run(["apt-get", "--quiet", *command], env=environ, check=False, capture_output=True)
        found = _find()
    return found


def _find() -> Path | None:
    return next((path for folder in _FOLDERS for path in Path(folder).glob("**/faketime/libfaketimeMT.so.1")), None)
