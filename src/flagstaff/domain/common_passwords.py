"""The passwords that attackers try first: Django's list, in its order. Its licence stands beside it."""

import gzip
from functools import cache
from importlib.resources import files

_FILE = "common_passwords.txt.gz"


def is_common(password: str) -> bool:
    """Whether a password, in whatever case, is among the ten thousand most common."""
    return password.lower() in _load()


@cache
def _load() -> frozenset[str]:
    # At the first use, which takes some two milliseconds, and not at import.
    packed = files(__package__).joinpath(_FILE).read_bytes()
    return frozenset(gzip.decompress(packed).decode().splitlines())
