"""Keys: environments and flags are identified by keys in code, and a project by its SDK key at runtime."""

import re
import secrets

from flagstaff.values.errors import invalid_field

KEY_MAX_LENGTH = 128
ENVIRONMENT_KEY_PATTERN = "^[a-z0-9_-]+$"
FLAG_KEY_PATTERN = "^[a-z][a-z0-9_-]*$"
SDK_KEY_PREFIX = "sdk_"

_environment_key = re.compile(ENVIRONMENT_KEY_PATTERN[1:-1])
_flag_key = re.compile(FLAG_KEY_PATTERN[1:-1])
_sdk_key = re.compile(f"{SDK_KEY_PREFIX}[A-Za-z0-9_-]{{43}}")


def check_environment_key(value: str) -> str:
    """Return an environment's key; raise ValueError unless it is 1 to 128 of a-z, 0-9, `_` and `-`."""
    if not _environment_key.fullmatch(value):
        raise ValueError("must consist of lowercase letters a-z, digits, _ and -")
    return _bounded(value)


def check_flag_key(value: str) -> str:
    """Return a flag's key; raise ValueError unless it is valid for an environment and starts with a letter."""
    if not _flag_key.fullmatch(value):
        raise ValueError("must start with a lowercase letter and consist of a-z, 0-9, _ and -")
    return _bounded(value)


def is_flag_key(value: str) -> bool:
    """Return whether a flag can have this key."""
    return len(value) <= KEY_MAX_LENGTH and _flag_key.fullmatch(value) is not None


def new_sdk_key() -> str:
    """A new SDK key with 256 random bits: `sdk_` and 43 URL-safe characters."""
    return SDK_KEY_PREFIX + secrets.token_urlsafe(32)


def is_sdk_key(text: str) -> bool:
    """Return whether a text has the form of a project's SDK key."""
    return _sdk_key.fullmatch(text) is not None


def _bounded(value: str) -> str:
    if len(value) > KEY_MAX_LENGTH:
        raise ValueError(f"must be at most {KEY_MAX_LENGTH} characters long")
    return value


def require_same_key(present: str, given: str | None) -> None:
    """Refuse to change a key, because code refers to it. None means that no key was given.

    Raises:
        Error: INVALID, with the field's name.
    """
    if given is not None and given != present:
        raise invalid_field("key", f"cannot be changed; it is {present}")
