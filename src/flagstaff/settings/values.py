"""Parsers for the texts of settings. Each returns the value, or raises a ValueError that says what is accepted.

Error messages never contain the value of a secret.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args

LogFormat = Literal["auto", "json", "console"]
Registration = Literal["open", "closed"]
CommonPasswords = Literal["auto", "accept", "refuse"]
HistoryAttributes = Literal["all", "used", "none"]
WhenCutOff = Literal["serve", "refuse"]
FetchMode = Literal["polling", "streaming"]

MAX_WORKERS = 128

_SECONDS = MappingProxyType({"second": 1, "minute": 60, "hour": 3_600, "day": 86_400})
_BYTES = MappingProxyType(
    {"": 1}
    | {f"{letter}B": 1000**power for power, letter in enumerate("KMGT", 1)}
    | {f"{letter}iB": 1024**power for power, letter in enumerate("KMGT", 1)}
)
_MIN_BYTES = 1_000_000
_SWITCH = MappingProxyType(
    {"on": True, "true": True, "yes": True, "1": True, "off": False, "false": False, "no": False, "0": False}
)
_INSTANCE_NAME = re.compile(r"[\w.:/@-]{1,200}", re.ASCII)


@dataclass(frozen=True, slots=True)
class RateLimit:
    """At most `count` requests in any `window_seconds`."""

    count: int
    window_seconds: int


def whole_number_parser(minimum: int, maximum: int) -> Callable[[str], int]:
    """A parser for whole numbers from `minimum` to `maximum`."""

    def parse(text: str) -> int:
        if not re.fullmatch("[0-9]{1,9}", text) or not minimum <= int(text) <= maximum:
            raise ValueError(f"must be a whole number from {minimum} to {maximum}, not {text!r}")
        return int(text)

    return parse


def minutes_parser(minimum: int, maximum: int) -> Callable[[str], timedelta | None]:
    """A parser for whole minutes from `minimum` to `maximum`, or None for off."""
    parse_number = whole_number_parser(minimum, maximum)

    def parse(text: str) -> timedelta | None:
        if text == "off":
            return None
        try:
            return timedelta(minutes=parse_number(text))
        except ValueError as error:
            raise ValueError(str(error).replace("must be", "must be off or", 1)) from None

    return parse


def parse_workers(text: str) -> int | Literal["auto"]:
    """A number of processes, or auto."""
    if text == "auto":
        return "auto"
    try:
        return whole_number_parser(1, MAX_WORKERS)(text)
    except ValueError:
        raise ValueError(f"must be a whole number from 1 to {MAX_WORKERS}, or auto, not {text!r}") from None


def parse_port(text: str) -> int:
    """A TCP port."""
    if text.startswith("tcp://"):
        raise ValueError(
            "was set by Kubernetes for a service named flagstaff; "
            "set enableServiceLinks: false in the pod, or give the service another name"
        )
    return whole_number_parser(0, 65_535)(text)


def parse_directory(text: str) -> Path:
    """A directory, which does not have to exist."""
    try:
        path = Path(text).expanduser()
    except RuntimeError:
        raise ValueError(f"must be a directory; the home directory in {text!r} is unknown") from None
    try:
        str(path.absolute()).encode()
    except UnicodeEncodeError:  # the name of a file is bytes, which Python then reads as lone surrogates
        raise ValueError("must be a directory whose whole path is in UTF-8") from None
    return path


def parse_instance_name(text: str) -> str:
    """A name that is sent in a header."""
    if not _INSTANCE_NAME.fullmatch(text):
        raise ValueError("must be at most 200 letters, digits and characters of ._:/@-")
    return text


def parse_secret_key(text: str) -> str:
    """The key that signs tokens."""
    if len(text) < 32:
        raise ValueError("must be at least 32 characters long; generate one with `openssl rand -base64 48`")
    return text


def parse_rate_limit(text: str) -> RateLimit | None:
    """A number of requests per unit of time, or None for off."""
    if text == "off":
        return None
    limit = re.fullmatch(r"([1-9][0-9]{0,8})/(second|minute|hour|day)", text)
    if not limit:
        raise ValueError(
            "must be off or a number from 1 to 999999999 per second, minute, hour or day, such as 200/minute, "
            f"not {text!r}"
        )
    return RateLimit(count=int(limit[1]), window_seconds=_SECONDS[limit[2]])


def parse_bytes(text: str) -> int | None:
    """A number of bytes, or None for off."""
    if text == "off":
        return None
    size = re.fullmatch(r"([0-9]{1,18}) ?((?:[KMGT]i?B)?)", text)
    number: int = int(size[1]) * _BYTES[size[2]] if size else 0
    if number < _MIN_BYTES:
        raise ValueError(f"must be off or at least 1MB, as in 10GB, 500MiB or 2000000000, not {text!r}")
    return number


def parse_history_bytes(text: str) -> int | Literal["auto"] | None:
    """A number of bytes, auto, or None for off."""
    return "auto" if text == "auto" else parse_bytes(text)


def parse_switch(text: str) -> bool:
    """On or off."""
    if text.lower() not in _SWITCH:
        raise ValueError(f"must be on or off, not {text!r}")
    return _SWITCH[text.lower()]


def choice_parser(choices: Any) -> Callable[[str], str]:
    """A parser of the words of a Literal."""
    *others, last = get_args(choices)

    def parse(text: str) -> str:
        if text not in get_args(choices):
            raise ValueError(f"must be {', '.join(others)} or {last}, not {text!r}")
        return text

    return parse
