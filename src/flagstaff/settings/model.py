"""One frozen object with every setting. What is not right stops the start with one clear line, without a secret."""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from ipaddress import ip_address
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from flagstaff.settings import values
from flagstaff.settings.values import IPNetwork, LogFormat, RateLimit, Registration, SmtpServer

PREFIX = "FLAGSTAFF_"
SECRET_FILE_MAX_BYTES = 64 * 1024

Field = dataclasses.Field[Any]


class SettingsError(Exception):
    """One clear line: which variable is wrong, why, and what is accepted."""


class SettingRow(NamedTuple):
    """A setting as the reference shows it."""

    variable: str
    default: str
    meaning: str


def _read_by(
    parse: Callable[[str], object], default: str | None, meaning: str, *, variable: str = "", alias: str = ""
) -> dict[str, Any]:
    """A setting that `parse` reads from its variable, or else from `default`, which may name earlier settings."""
    return {"parse": parse, "default": default, "meaning": meaning, "variable": variable, "alias": alias}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What an operator can choose. Field `x_y` is the variable FLAGSTAFF_X_Y.

    Fields without a repr are secrets; FLAGSTAFF_X_Y_FILE may name a file that holds one.
    """

    host: str = field(
        metadata=_read_by(values.parse_host, "127.0.0.1", "The address to listen on; 0.0.0.0 for every network.")
    )
    port: int = field(
        metadata=_read_by(
            values.parse_port, "8000", "The port to listen on; 0 for any free one. Also PORT.", alias="PORT"
        )
    )
    data_dir: Path = field(
        metadata=_read_by(
            values.parse_directory,
            "./flagstaff-data",
            "Holds the SQLite files, the secret key, and mails while there is no SMTP.",
        )
    )
    database_url: str | None = field(
        repr=False,
        metadata=_read_by(
            values.parse_database_url,
            None,
            "postgresql://user:password@host/name; unset: SQLite in the data directory. Also DATABASE_URL.",
            alias="DATABASE_URL",
        ),
    )
    secret_key: str | None = field(
        repr=False,
        metadata=_read_by(
            values.parse_secret_key,
            None,
            "Signs tokens, at least 32 characters; unset: made once and kept in the data directory. "
            "Required with PostgreSQL when several instances run.",
        ),
    )
    public_url: str = field(
        metadata=_read_by(
            values.parse_public_url, "http://{host}:{port}", "The address that people open; links lead there."
        )
    )
    smtp: SmtpServer | None = field(
        repr=False,
        metadata=_read_by(
            values.parse_smtp,
            None,
            "smtp://, smtps:// or smtp+starttls://user:password@host:port; "
            "unset: each mail becomes a file in the data directory.",
            variable="FLAGSTAFF_SMTP_URL",
        ),
    )
    mail_from: str = field(
        metadata=_read_by(values.parse_mail_from, "Flagstaff <flagstaff@{public_host}>", "The sender of every mail.")
    )
    evaluate_rate_limit: RateLimit | None = field(
        metadata=_read_by(
            values.parse_rate_limit,
            "200/minute",
            "Evaluations from one address: a number per second, minute, hour or day, or off.",
        )
    )
    register_rate_limit: RateLimit | None = field(
        metadata=_read_by(values.parse_rate_limit, "60/minute", "Registrations from one address.")
    )
    login_rate_limit: RateLimit | None = field(
        metadata=_read_by(values.parse_rate_limit, "60/minute", "Logins from one address.")
    )
    login_failure_rate_limit: RateLimit | None = field(
        metadata=_read_by(values.parse_rate_limit, "10/minute", "Failed logins to one account from one address.")
    )
    account_failure_rate_limit: RateLimit | None = field(
        metadata=_read_by(
            values.parse_rate_limit,
            "100/hour",
            "Failed logins to one account from all addresses together; beyond it only addresses that have logged in "
            "to the account before may try.",
        )
    )
    reset_rate_limit: RateLimit | None = field(
        metadata=_read_by(values.parse_rate_limit, "60/minute", "Password resets from one address.")
    )
    registration: Registration = field(
        metadata=_read_by(
            values.choice_parser(Registration),
            "open",
            "open: anybody who reaches the server can create an account; closed: only `flagstaff users create` can.",
        )
    )
    trusted_proxies: tuple[IPNetwork, ...] = field(
        metadata=_read_by(
            values.parse_networks, "", "Networks, separated by commas, whose X-Forwarded-For is believed."
        )
    )
    cors_origins: tuple[str, ...] = field(
        metadata=_read_by(
            values.parse_origins, "", "Origins, separated by commas, whose pages may call /api and /auth."
        )
    )
    history_retention_days: int = field(
        metadata=_read_by(
            values.whole_number_parser(1, 36_500), "90", "For how many days the evaluation history is kept."
        )
    )
    valkey_url: str | None = field(
        repr=False,
        metadata=_read_by(
            values.parse_valkey_url,
            None,
            "valkey://host:port; meant to share rate limits among processes. Read and checked, but not used yet.",
        ),
    )
    access_log: bool = field(metadata=_read_by(values.parse_switch, "on", "Whether each request is logged."))
    log_format: LogFormat = field(
        metadata=_read_by(
            values.choice_parser(LogFormat), "auto", "json, console, or auto: console on a terminal, else json."
        )
    )
    evaluate_lane: bool = field(
        metadata=_read_by(values.parse_switch, "on", "Whether evaluations take the fast lane of the server.")
    )

    @classmethod
    def load(cls, environ: Mapping[str, str]) -> "Settings":
        """Read and check every setting; an empty variable counts as unset. Raises SettingsError."""
        given = {name: text.strip() for name, text in environ.items() if text.strip()}
        read: dict[str, Any] = {}
        for setting in dataclasses.fields(cls):
            read[setting.name] = _value(setting, given, read)
        _refuse_unknown_names(given)
        return cls(**read)

    @classmethod
    def rows(cls) -> list[SettingRow]:
        """Every variable with its default and its meaning, for the reference and the command's help."""
        return [
            SettingRow(_variable(setting), setting.metadata["default"] or "none", setting.metadata["meaning"])
            for setting in dataclasses.fields(cls)
        ]


def _variable(setting: Field) -> str:
    return setting.metadata["variable"] or PREFIX + setting.name.upper()


def _is_secret(setting: Field) -> bool:
    return not setting.repr


def _value(setting: Field, given: Mapping[str, str], read: Mapping[str, Any]) -> object:
    variable, text = _find(setting, given)
    if text is None:
        default = setting.metadata["default"]
        if default is None:
            return None
        text = default.format_map(_placeholders(read))
    try:
        return setting.metadata["parse"](text)
    except ValueError as error:
        raise SettingsError(f"{variable} {error}.") from None


def _find(setting: Field, given: Mapping[str, str]) -> tuple[str, str | None]:
    """The variable that gives a setting, and its text, if any."""
    variable = _variable(setting)
    file = f"{variable}_FILE"
    if _is_secret(setting) and file in given:
        if variable in given:
            raise SettingsError(f"{variable} and {file} are both set; keep one of them.")
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
    """What a default may name: the settings before it, hosts as URLs and mail addresses spell them."""
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


def _refuse_unknown_names(given: Mapping[str, str]) -> None:
    settings = dataclasses.fields(Settings)
    known = {_variable(setting) for setting in settings}
    known |= {f"{_variable(setting)}_FILE" for setting in settings if _is_secret(setting)}
    for name in sorted(given):
        if name.startswith(PREFIX) and name not in known:
            # Without the prefix, which would make any two names look alike.
            close = get_close_matches(name.removeprefix(PREFIX), [other.removeprefix(PREFIX) for other in known], n=1)
            advice = f"did you mean {PREFIX}{close[0]}?" if close else "`flagstaff serve --help` lists them all."
            raise SettingsError(f"{name} is not a setting of Flagstaff; {advice}")
