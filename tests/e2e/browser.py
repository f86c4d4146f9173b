"""The browser for these tests: the machine's Chromium, or Debian's, installed if possible (as root, with apt)."""

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

_NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_or_install() -> str | None:
    """The path of a Chromium; None if there is none and it cannot be installed."""
    return debian.find_or_install(_NAMES, "chromium")
