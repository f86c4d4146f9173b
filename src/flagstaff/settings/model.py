"""All settings in one frozen object: each with its variable, its default and its meaning."""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

from flagstaff.settings import values
from flagstaff.settings.clickhouse import parse_clickhouse_table, parse_clickhouse_url
from flagstaff.settings.database_urls import parse_database_url
from flagstaff.settings.environment import SettingsError, read_settings, variable_of
from flagstaff.settings.providers import Provider, parse_providers
from flagstaff.settings.valkey import parse_valkey_url
from flagstaff.settings.values import (
    CommonPasswords,
    FetchMode,
    HistoryAttributes,
    IPNetwork,
    LogFormat,
    RateLimit,
    Registration,
    SmtpServer,
    WhenCutOff,
)
from flagstaff.settings.webhooks import Proxy, parse_ports, parse_proxy, parse_readable_file
from flagstaff.values.quotas import CharactersQuota, Quota, WorkQuota


class SettingRow(NamedTuple):
    """A setting as shown in the reference."""

    variable: str
    default: str
    meaning: str


def _read_by(
    parse: Callable[[str], object], default: str | None, meaning: str, *, variable: str = "", alias: str = ""
) -> dict[str, Any]:
    """The metadata of a setting: `parse` reads its variable, or `default`, which may refer to earlier settings."""
    return {"parse": parse, "default": default, "meaning": meaning, "variable": variable, "alias": alias}


_count = values.whole_number_parser(1, 1_000_000)
_amount = values.whole_number_parser(1, 100_000_000)


def _quota(resources: str, place: str, default: str, meaning: str = "") -> dict[str, Any]:
    """The metadata of a quota: how many resources a place may have."""
    metadata = _read_by(_count, default, meaning or f"The maximum number of {resources} per {place}.")
    return metadata | {"make": lambda maximum, variable: Quota(maximum, place, resources, variable)}


def _quota_of_characters(parts: str, default: str, meaning: str) -> dict[str, Any]:
    """The metadata of a quota of the characters of parts of resources."""
    make = {"make": lambda maximum, variable: CharactersQuota(maximum, parts, variable)}
    return _read_by(_amount, default, meaning) | make


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings. Field `x_y` is read from the variable FLAGSTAFF_X_Y.

    Fields without a repr are secrets; they can also be read from the file that FLAGSTAFF_X_Y_FILE names.
    """

    host: str = field(
        metadata=_read_by(values.parse_host, "127.0.0.1", "The address to listen on; 0.0.0.0 for all networks.")
    )
    port: int = field(
        metadata=_read_by(
            values.parse_port, "8000", "The port to listen on; 0 for any free port. Also PORT.", alias="PORT"
        )
    )
    internal_port: int | None = field(
        metadata=_read_by(
            values.whole_number_parser(1, 65_535),
            None,
            "A port for /health, /ready, /metrics, /docs and /openapi.json, which are then not on FLAGSTAFF_PORT; if "
            "unset, they are.",
        )
    )
    workers: int | Literal["auto"] = field(
        metadata=_read_by(
            values.parse_workers,
            "1",
            "The number of processes that serve on the port, or auto: one for each processor core that the server may "
            "use. `flagstaff serve --workers` overrides it.",
        )
    )
    data_dir: Path = field(
        metadata=_read_by(
            values.parse_directory,
            "./flagstaff-data",
            "The directory for the SQLite files, the secret key, and mail if no SMTP server is set.",
        )
    )
    database_url: str | None = field(
        repr=False,
        metadata=_read_by(
            parse_database_url,
            None,
            "postgresql://user:password@host/name; if unset, SQLite in the data directory. Also DATABASE_URL.",
            alias="DATABASE_URL",
        ),
    )
    secret_key: str | None = field(
        repr=False,
        metadata=_read_by(
            values.parse_secret_key,
            None,
            "The key that signs tokens, at least 32 characters; if unset, generated once and kept in the data "
            "directory. Required if several instances run on PostgreSQL.",
        ),
    )
    instance_name: str | None = field(
        metadata=_read_by(
            values.parse_instance_name,
            None,
            "The name of this instance among the instances of one PostgreSQL; if unset, the machine's name and the "
            "port.",
        )
    )
    when_cut_off: WhenCutOff = field(
        metadata=_read_by(
            values.choice_parser(WhenCutOff),
            "serve",
            "How an instance answers evaluations while it may miss the others' changes, because it has lost PostgreSQL "
            "or was paused. serve: answers from memory with the header Flagstaff-Stale; refuse: answers "
            "503.",
        )
    )
    unload_after_seconds: int = field(
        metadata=_read_by(
            values.whole_number_parser(0, 31_536_000),
            "3600",
            "The minimum time for which a project stays in memory after the last request for its flags; the next "
            "request loads it again. 0: as long as the server runs.",
        )
    )
    drain_seconds: int = field(
        metadata=_read_by(
            values.whole_number_parser(0, 300),
            "1",
            "How long a server keeps serving after SIGTERM while /ready returns 503, so that load balancers send "
            "requests elsewhere. Choose a little more than they take to notice.",
        )
    )
    public_url: str = field(
        metadata=_read_by(
            values.parse_public_url,
            "http://{host}:{port}",
            "The URL at which users reach the server; used in links. If it has a path, such as "
            "https://example.com/flags, all paths begin with that.",
        )
    )
    smtp: SmtpServer | None = field(
        repr=False,
        metadata=_read_by(
            values.parse_smtp,
            None,
            "smtp://, smtps:// or smtp+starttls://user:password@host:port; "
            "if unset, each mail is written to a file in the data directory.",
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
            "Evaluations allowed from one address: a number per second, minute, hour or day, or off.",
        )
    )
    sdk_key_rate_limit: RateLimit | None = field(
        metadata=_read_by(
            values.parse_rate_limit,
            "off",
            "Requests allowed with one SDK key of an environment, besides the limit on evaluations from one address.",
        )
    )
    browser_rate_limit: RateLimit | None = field(
        metadata=_read_by(
            values.parse_rate_limit,
            "600/minute",
            "Requests with browser keys allowed from one address with OFREP and Unleash's protocols. Clients that "
            "fetch again what has changed have shares of their own.",
        )
    )
    event_rate_limit: RateLimit | None = field(
        metadata=_read_by(
            values.parse_rate_limit,
            "20000/minute",
            "Events of metrics allowed from one address; a request is accepted whole if one more is allowed.",
        )
    )
    report_rate_limit: RateLimit | None = field(
        metadata=_read_by(
            values.parse_rate_limit,
            "1200/minute",
            "Reports of applications that evaluate flags themselves allowed with one SDK key.",
        )
    )
    unleash_fetch_mode: FetchMode = field(
        metadata=_read_by(
            values.choice_parser(FetchMode),
            "polling",
            "How Unleash's SDK for Node.js learns of changes unless its options say so. polling: it polls; streaming: "
            "the server tells each client once to follow the stream, with the header fetch-mode. Choose it only if "
            "every proxy in between lets streams through.",
        )
    )
    register_rate_limit: RateLimit | None = field(
        metadata=_read_by(values.parse_rate_limit, "60/minute", "Registrations allowed from one address.")
    )
    login_rate_limit: RateLimit | None = field(
        metadata=_read_by(values.parse_rate_limit, "60/minute", "Logins allowed from one address.")
    )
    login_failure_rate_limit: RateLimit | None = field(
        metadata=_read_by(
            values.parse_rate_limit, "10/minute", "Failed logins allowed to one account from one address."
        )
    )
    account_failure_rate_limit: RateLimit | None = field(
        metadata=_read_by(
            values.parse_rate_limit,
            "100/hour",
            "Failed logins allowed to one account from all addresses together. Beyond the limit, only addresses that "
            "have logged in to the account before can try.",
        )
    )
    reset_rate_limit: RateLimit | None = field(
        metadata=_read_by(values.parse_rate_limit, "60/minute", "Password resets allowed from one address.")
    )
    session_idle_minutes: timedelta | None = field(
        metadata=_read_by(
            values.minutes_parser(5, 1440),
            "off",
            "After how many minutes without a request a session ends, at most six minutes late: from 5 to 1440, or "
            "off. A session ends after 24 hours in any case. A visible page of the dashboard sends requests.",
        )
    )
    valkey_url: str | None = field(
        repr=False,
        metadata=_read_by(
            parse_valkey_url,
            None,
            "valkey://user:password@host:6379/0, valkeys:// for TLS, or unix:///path: the server through which several "
            "instances share the rate limits; if unset, each instance limits on its own.",
        ),
    )
    max_connections: int = field(
        metadata=_read_by(
            values.whole_number_parser(1, 1_000_000),
            "10000",
            "The maximum number of open connections; lower if the limit on open files requires it.",
        )
    )
    max_connections_per_address: int = field(
        metadata=_read_by(
            values.whole_number_parser(1, 1_000_000),
            "1000",
            "The maximum number of open connections from one address (for IPv6, one /64). Trusted proxies are exempt.",
        )
    )
    api_rate_limit: RateLimit | None = field(
        metadata=_read_by(values.parse_rate_limit, "1200/minute", "Requests to /api allowed for one account.")
    )
    max_projects_per_account: Quota = field(metadata=_quota("projects", "account", "1000"))
    max_tokens_per_account: Quota = field(
        metadata=_quota("access tokens", "account", "100", "The maximum number of personal access tokens per account.")
    )
    max_tokens_per_project: Quota = field(metadata=_quota("access tokens", "project", "100"))
    max_sdk_keys_per_project: Quota = field(
        metadata=_quota(
            "SDK keys", "project", "200", "The maximum number of SDK keys of the environments of a project."
        )
    )
    max_environments_per_project: Quota = field(metadata=_quota("environments", "project", "100"))
    max_segments_per_project: Quota = field(metadata=_quota("segments", "project", "500"))
    max_metrics_per_project: Quota = field(metadata=_quota("metrics", "project", "200"))
    max_events: int = field(
        metadata=_read_by(
            values.whole_number_parser(1_000, 10_000_000_000),
            "20000000",
            "The maximum number of events of metrics that are kept, of all projects. The oldest are deleted first.",
        )
    )
    max_views_per_project: Quota = field(
        metadata=_quota("views", "project", "100", "The maximum number of saved views per project.")
    )
    max_webhooks_per_project: Quota = field(
        metadata=_quota(
            "webhooks", "project", "20", "The maximum number of webhooks per project, and of the whole instance."
        )
    )
    max_flags_per_environment: Quota = field(metadata=_quota("flags", "environment", "5000"))
    max_rules_per_flag: Quota = field(
        metadata=_quota("rules", "flag", "1000", "The maximum number of targeting rules per flag.")
    )
    max_rules_per_environment: Quota = field(
        metadata=_quota(
            "rules", "environment", "20000", "The number of targeting rules that the flags of an environment may have."
        )
    )
    max_condition_characters: CharactersQuota = field(
        metadata=_quota_of_characters(
            "conditions",
            "2000000",
            "The maximum number of characters of the conditions of an environment's rules, and of those of a project's "
            "segments.",
        )
    )
    max_condition_work: WorkQuota = field(
        metadata=_read_by(
            _amount,
            "1000",
            "The budget of conditions: how many microseconds those of an environment, or of a draft, may cost an "
            "evaluation at worst, as [computed](condition-budget.md) when they are saved.",
        )
        | {"make": WorkQuota}
    )
    max_variant_characters: CharactersQuota = field(
        metadata=_quota_of_characters(
            "variants", "1000000", "The maximum number of characters of the variants of an environment's flags."
        )
    )
    max_reported_counts_per_hour: int = field(
        metadata=_read_by(
            _count,
            "20000",
            "The maximum number of different counts (of a result of a flag in an application) that are stored from the "
            "reports of an environment's applications in an hour.",
        )
    )
    registration: Registration = field(
        metadata=_read_by(
            values.choice_parser(Registration),
            "open",
            "open: anyone who can reach the server can create an account; closed: only `flagstaff users create` and "
            "invitations can. Administrators can change it while the server runs.",
        )
    )
    common_passwords: CommonPasswords = field(
        metadata=_read_by(
            values.choice_parser(CommonPasswords),
            "auto",
            "Whether new passwords may be among the most common, or the account's email: accept, refuse, or auto: "
            "accept while only this machine can reach the server, which listens on loopback, has its public URL there "
            "and trusts no proxy.",
        )
    )
    oidc_providers: tuple[Provider, ...] = field(
        repr=False,
        metadata=_read_by(
            parse_providers, "[]", "A JSON list of OpenID Connect providers for single sign-on; see below."
        ),
    )
    demand_second_factor: bool = field(
        metadata=_read_by(
            values.parse_switch,
            "off",
            "Whether every account needs a second factor for everything except its own settings. Administrators can "
            "change it while the server runs.",
        )
    )
    trusted_proxies: tuple[IPNetwork, ...] = field(
        metadata=_read_by(
            values.parse_networks, "", "A comma-separated list of networks whose X-Forwarded-For header is trusted."
        )
    )
    webhook_networks: tuple[IPNetwork, ...] = field(
        metadata=_read_by(
            values.parse_networks,
            "",
            "A comma-separated list of networks that webhooks may reach besides public addresses, also over http.",
        )
    )
    webhook_ports: tuple[range, ...] = field(
        metadata=_read_by(
            parse_ports,
            "80,443,1024-65535",
            "A comma-separated list of the ports that webhooks may reach, and of ranges of them.",
        )
    )
    webhook_proxy: Proxy | None = field(
        repr=False,
        metadata=_read_by(
            parse_proxy,
            None,
            "http://user:password@host:3128 or https://…: the proxy through which messages to webhooks are sent. It "
            "resolves the names of receivers, and must refuse internal addresses.",
        ),
    )
    webhook_authorities: Path | None = field(
        metadata=_read_by(
            parse_readable_file,
            None,
            "A PEM file of authorities whose certificates of receivers are trusted, besides those that the machine "
            "trusts.",
        )
    )
    webhook_client_certificate: Path | None = field(
        metadata=_read_by(
            parse_readable_file,
            None,
            "A PEM file of the certificate that receivers are shown, with its key, if that has no file of its own.",
        )
    )
    webhook_client_key: Path | None = field(
        metadata=_read_by(parse_readable_file, None, "A PEM file of the key of FLAGSTAFF_WEBHOOK_CLIENT_CERTIFICATE.")
    )
    cors_origins: tuple[str, ...] = field(
        metadata=_read_by(
            values.parse_origins, "", "A comma-separated list of origins whose pages may call /api and /auth."
        )
    )
    history_retention_days: int = field(
        metadata=_read_by(
            values.whole_number_parser(1, 36_500), "90", "The number of days to keep the evaluation history."
        )
    )
    deleted_project_trail_days: int = field(
        metadata=_read_by(
            values.whole_number_parser(0, 36_500),
            "30",
            "The number of days to keep the audit trail of a project after its deletion.",
        )
    )
    history_max_bytes: int | Literal["auto"] | None = field(
        metadata=_read_by(
            values.parse_history_bytes,
            "auto",
            "The maximum size of the evaluation history, such as 10GB, or off. The oldest evaluations are deleted "
            "first. auto: with SQLite, a size that leaves 2 GB of the disk free, or a fifth of a small one; off with "
            "PostgreSQL, whose disk Flagstaff cannot see.",
        )
    )
    history_attributes: HistoryAttributes = field(
        metadata=_read_by(
            values.choice_parser(HistoryAttributes),
            "used",
            "The custom attributes to keep with each evaluation. used: those that an enabled rule, a segment or a "
            "stickiness uses; all: all attributes of the request; none: none.",
        )
    )
    clickhouse_url: str | None = field(
        repr=False,
        metadata=_read_by(
            parse_clickhouse_url,
            None,
            "https://user:password@host:8443 or http://…:8123: the ClickHouse server to which recorded evaluations are "
            "copied; if unset, none are.",
        ),
    )
    clickhouse_table: str = field(
        metadata=_read_by(
            parse_clickhouse_table,
            "flagstaff.evaluations",
            "The table in ClickHouse, with its database. `flagstaff clickhouse schema` prints how to create it.",
        )
    )
    clickhouse_events_table: str | None = field(
        metadata=_read_by(
            parse_clickhouse_table,
            None,
            "The table in ClickHouse for the events of metrics, such as flagstaff.events; if unset, none are copied.",
        )
    )
    access_log: bool = field(metadata=_read_by(values.parse_switch, "on", "Whether each request is logged."))
    log_format: LogFormat = field(
        metadata=_read_by(
            values.choice_parser(LogFormat), "auto", "json, console, or auto: console on a terminal, otherwise json."
        )
    )

    @classmethod
    def load(cls, environ: Mapping[str, str]) -> "Settings":
        """Read and check every setting; an empty variable counts as unset. Raises SettingsError."""
        settings = cls(**read_settings(dataclasses.fields(cls), environ))
        if settings.internal_port == settings.port:
            raise SettingsError("FLAGSTAFF_INTERNAL_PORT must be another port than FLAGSTAFF_PORT.")
        return settings

    @property
    def ports(self) -> tuple[int, ...]:
        """The ports to listen on: first the one for users, and then the internal one, if it is set."""
        return (self.port,) if self.internal_port is None else (self.port, self.internal_port)

    @property
    def path_prefix(self) -> str:
        """What all paths begin with, such as /flags; empty if the public URL has no path."""
        return urlsplit(self.public_url).path

    @property
    def is_local(self) -> bool:
        """True if only this machine can reach the server, as far as the settings say."""
        addresses = (self.host, urlsplit(self.public_url).hostname or "")
        return all(map(values.is_loopback, addresses)) and not self.trusted_proxies

    @property
    def accepts_common_passwords(self) -> bool:
        """True if a new password may be a common one."""
        return self.is_local if self.common_passwords == "auto" else self.common_passwords == "accept"

    def quotas(self) -> dict[str, int]:
        """The settings that limit how much of something there may be, by their variables."""
        named = ((each, getattr(self, each.name)) for each in dataclasses.fields(self) if each.name.startswith("max_"))
        return {variable_of(each): getattr(value, "maximum", value) for each, value in named}

    @classmethod
    def rows(cls) -> list[SettingRow]:
        """All variables with their defaults and meanings, for the reference and the command's help."""
        return [
            SettingRow(variable_of(setting), setting.metadata["default"] or "none", setting.metadata["meaning"])
            for setting in dataclasses.fields(cls)
        ]
