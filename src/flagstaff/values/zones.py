"""Time zones by their names in the IANA database, such as Europe/Berlin."""

import re
from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo

EXPECTED = "must be the name of a time zone, such as Europe/Berlin, America/New_York or UTC"
ZONE_MAX_LENGTH = 64
_NAME = re.compile(r"[A-Z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*", re.ASCII)


def parse_zone(name: str) -> tzinfo:
    """Return the time zone with a name; UTC is `datetime.UTC`.

    Raises:
        ValueError: what is expected, with examples.
    """
    if name == "UTC":
        return UTC
    if len(name) > ZONE_MAX_LENGTH or not _NAME.fullmatch(name):
        raise ValueError(EXPECTED)
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # OSError: the name of a folder, such as Europe
        raise ValueError(EXPECTED) from None


def check_zone(name: str) -> str:
    """Return the name of a time zone; raise a ValueError with what is expected."""
    parse_zone(name)
    return name
