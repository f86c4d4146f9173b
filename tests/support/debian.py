"""Programs that tests run: installed ones, or Debian's, which are installed if possible (with root and apt)."""

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

_INSTALL_SECONDS = 600
_SEARCH_PATH = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/usr/local/sbin"))


def find_or_install(names: Sequence[str], package: str) -> str | None:
    """Return the path of the first program found, or None if there is none and `package` cannot be installed."""
    return find(names) or _install(names, package)


def leave_out(why: str) -> None:
    """Skip the test, or fail it with CI=true, where every test counts."""
    if os.environ.get("CI") == "true":
        pytest.fail(why)
    pytest.skip(why)


def find(names: Sequence[str]) -> str | None:
    """Return the path of the first program found, or None."""
    return next((path for name in names if (path := shutil.which(name, path=_SEARCH_PATH))), None)


def _install(names: Sequence[str], package: str) -> str | None:
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return None
    with (Path(tempfile.gettempdir()) / "flagstaff-apt.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests run in several processes
        if found := find(names):
            return found
        environ = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for command in (["update"], ["install", "--yes", "--no-install-recommends", package]):
            whole = ["apt-get", "--quiet", *command]
            subprocess.run(whole, env=environ, check=False, capture_output=True, timeout=_INSTALL_SECONDS)
        return find(names)
