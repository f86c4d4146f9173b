"""The passwords that attackers try first: Django's list, in its order. Its licence is in the same folder."""

import gzip
from functools import cache
from importlib.resources import files

_FILE = "common_passwords.txt.gz"


def is_common(password: str) -> bool:
    """Return whether a password is among the ten thousand most common, ignoring case."""
    return password.lower() in _load()


@cache
def _load() -> frozenset[str]:
    # On first use rather than at import, because it takes about two milliseconds.
    packed = files(__package__).joinpath(_FILE).read_bytes()
    return frozenset(gzip.decompress(packed).decode().splitlines())
