"""Keys: how environments and flags are named in code, and the SDK key that names a project at runtime."""

import re
import secrets

from flagstaff.domain.errors import invalid_field

KEY_MAX_LENGTH = 128
ENVIRONMENT_KEY_PATTERN = "^[a-z0-9_-]+$"
FLAG_KEY_PATTERN = "^[a-z][a-z0-9_-]*$"
SDK_KEY_PREFIX = "sdk_"

_environment_key = re.compile(ENVIRONMENT_KEY_PATTERN[1:-1])
_flag_key = re.compile(FLAG_KEY_PATTERN[1:-1])


def check_environment_key(value: str) -> str:
    """An environment's key; raises ValueError unless it is 1 to 128 of a-z, 0-9, `_` and `-`."""
    if not _environment_key.fullmatch(value):
        raise ValueError("must consist of lowercase letters a-z, digits, _ and -")
    return _bounded(value)


def check_flag_key(value: str) -> str:
    """A flag's key; raises ValueError unless it is an environment-style key that starts with a letter."""
    if not _flag_key.fullmatch(value):
        raise ValueError("must start with a lowercase letter and consist of a-z, 0-9, _ and -")
    return _bounded(value)


def new_sdk_key() -> str:
    """A fresh SDK key with 256 random bits: `sdk_` and 43 URL-safe characters."""
    return SDK_KEY_PREFIX + secrets.token_urlsafe(32)


def _bounded(value: str) -> str:
    if len(value) > KEY_MAX_LENGTH:
        raise ValueError(f"must be at most {KEY_MAX_LENGTH} characters long")
    return value


def require_same_key(present: str, given: str | None) -> None:
    """Refuse to change a key: code out there asks for the present one. None stands for a key that was not given.

    Raises:
        Error: INVALID, naming the field.
    """
    if given is not None and given != present:
        raise invalid_field("key", f"cannot be changed; it is {present}")
