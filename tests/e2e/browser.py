"""The browser for these tests: Debian's headless shell, installed if possible (as root, with apt), or another Chromium.

The headless shell has no windows or menus. It opens a page in half the processor time.
"""

from tests.support import debian

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
MISSING = "No Chromium was found and none could be installed, which takes root and apt: the browser tests are left out."

_HEADLESS_SHELL = "chromium-headless-shell"
_OTHERS = ("chromium", "chromium-browser", "google-chrome")


def find_or_install() -> str | None:
    """Return the path of a Chromium, or None if there is none and it cannot be installed."""
    return debian.find_or_install([_HEADLESS_SHELL], _HEADLESS_SHELL) or debian.find(_OTHERS)
