"""The browser for these tests: the machine's Chromium, or Debian's, installed if possible (as root, with apt)."""

import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
MISSING = "No Chromium was found and none could be installed, which takes root and apt: the browser tests are left out."

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_INSTALL_SECONDS = 600


def find_or_install() -> str | None:
    """The path of a Chromium; None if there is none and it cannot be installed."""
    return _find() or _install()


def _find() -> str | None:
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


def _install() -> str | None:
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return None
    with (Path(tempfile.gettempdir()) / "flagstaff-chromium.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests run in several processes
        if found := _find():
            return found
        environ = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for command in (["update"], ["install", "--yes", "--no-install-recommends", "chromium"]):
            whole = ["apt-get", "--quiet", *command]
            subprocess.run(whole, env=environ, check=False, capture_output=True, timeout=_INSTALL_SECONDS)
        return _find()
