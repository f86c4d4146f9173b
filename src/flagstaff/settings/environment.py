"""Reads settings from environment variables, and secrets also from files.

Each setting is a field of a dataclass, whose metadata says how its text is parsed. An error is one line that shows no
secret.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

PREFIX = "FLAGSTAFF_"
SECRET_FILE_MAX_BYTES = 64 * 1024

Field = dataclasses.Field[Any]


class SettingsError(Exception):
    """A setting is invalid. The message is one line: which variable is wrong, why, and what is accepted."""


def read_settings(settings: Sequence[Field], environ: Mapping[str, str]) -> dict[str, Any]:
    """Read and check every setting; an empty variable counts as unset. Raises SettingsError."""
    given = {name: text.strip() for name, text in environ.items() if text.strip()}
    read: dict[str, Any] = {}
    for setting in settings:
        read[setting.name] = _value(setting, given, read)
    _refuse_unknown_names(settings, given)
    return read


def variable_of(setting: Field) -> str:
    """The variable that a setting is read from."""
    return setting.metadata["variable"] or PREFIX + setting.name.upper()


def is_secret(setting: Field) -> bool:
    """Return whether a setting can also be read from a file, and is never shown."""
    return not setting.repr


def _value(setting: Field, given: Mapping[str, str], read: Mapping[str, Any]) -> object:
    variable, text = _find(setting, given)
    if text is None:
        default = setting.metadata["default"]
        if default is None:
            return None
        text = default.format_map(_placeholders(read))
    try:
        value = setting.metadata["parse"](text)
    except ValueError as error:
        raise SettingsError(f"{variable} {error}.") from None
    make = setting.metadata["make"]
    return make(value, variable_of(setting)) if make else value


def _find(setting: Field, given: Mapping[str, str]) -> tuple[str, str | None]:
    """The variable that a setting is read from, and its text, if any."""
    variable = variable_of(setting)
    file = f"{variable}_FILE"
    if is_secret(setting) and file in given:
        if variable in given:
            raise SettingsError(f"{variable} and {file} are both set; set only one of them.")
        return file, _read_secret(file, Path(given[file]))
    if variable not in given and setting.metadata["alias"] in given:
        variable = setting.metadata["alias"]
    return variable, given.get(variable)


def _read_secret(variable: str, path: Path) -> str:
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(SECRET_FILE_MAX_BYTES).strip()
    except UnicodeDecodeError:
        raise SettingsError(f"{variable} names {str(path)!r}, which is not UTF-8 text.") from None
    except OSError as error:
        raise SettingsError(f"{variable} names {str(path)!r}, which cannot be read: {error.strerror}.") from None
    if not text:
        raise SettingsError(f"{variable} names {str(path)!r}, which is empty.")
    return text


def _placeholders(read: Mapping[str, Any]) -> Mapping[str, Any]:
    """The values that a default may refer to: earlier settings, with hosts in the form used in URLs and addresses."""
    placeholders = dict(read)
    if ":" in read.get("host", ""):
        placeholders["host"] = f"[{read['host']}]"
    if "public_url" in read:
        placeholders["public_host"] = _mail_domain(urlsplit(read["public_url"]).hostname or "")
    return placeholders


def _mail_domain(host: str) -> str:
    try:
        ip_address(host)
    except ValueError:
        return host
    return "localhost"


def _refuse_unknown_names(settings: Sequence[Field], given: Mapping[str, str]) -> None:
    known = {variable_of(setting) for setting in settings}
    known |= {f"{variable_of(setting)}_FILE" for setting in settings if is_secret(setting)}
    for name in sorted(given):
        if name.startswith(PREFIX) and name not in known:
            # Compare without the prefix, which would make any two names similar.
            close = get_close_matches(name.removeprefix(PREFIX), [other.removeprefix(PREFIX) for other in known], n=1)
            advice = f"did you mean {PREFIX}{close[0]}?" if close else "`flagstaff serve --help` lists all settings."
            raise SettingsError(f"{name} is not a setting of Flagstaff; {advice}")
