"""Where the server listens, what it keeps, and how users reach it: a part of the settings."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from flagstaff.settings import addresses, values
from flagstaff.settings.addresses import SmtpServer
from flagstaff.settings.database_urls import parse_database_url
from flagstaff.settings.declarations import setting
from flagstaff.settings.values import WhenCutOff


@dataclass(frozen=True, kw_only=True)
class ServerSettings:
    """A part of `Settings`."""

    host: str = setting(addresses.parse_host, "127.0.0.1", "The address to listen on; 0.0.0.0 for all networks.")
    port: int = setting(
        values.parse_port, "8000", "The port to listen on; 0 for any free port. Also PORT.", alias="PORT"
    )
    internal_port: int | None = setting(
        values.whole_number_parser(1, 65_535),
        None,
        "A port for /health, /ready, /metrics, /docs and /openapi.json, which are then not on FLAGSTAFF_PORT; if "
        "unset, they are.",
    )
    workers: int | Literal["auto"] = setting(
        values.parse_workers,
        "1",
        "The number of processes that serve on the port, or auto: one for each processor core that the server may "
        "use. `flagstaff serve --workers` overrides it.",
    )
    data_dir: Path = setting(
        values.parse_directory,
        "./flagstaff-data",
        "The directory for the SQLite files, the secret key, and mail if no SMTP server is set.",
    )
    database_url: str | None = setting(
        parse_database_url,
        None,
        "postgresql://user:password@host/name; if unset, SQLite in the data directory. Also DATABASE_URL.",
        alias="DATABASE_URL",
        is_secret=True,
    )
    secret_key: str | None = setting(
        values.parse_secret_key,
        None,
        "The key that signs tokens, at least 32 characters; if unset, generated once and kept in the data "
        "directory. Required if several instances run on PostgreSQL.",
        is_secret=True,
    )
    instance_name: str | None = setting(
        values.parse_instance_name,
        None,
        "The name of this instance among the instances of one PostgreSQL; if unset, the machine's name and the port.",
    )
    when_cut_off: WhenCutOff = setting(
        values.choice_parser(WhenCutOff),
        "serve",
        "How an instance answers evaluations while it may miss the others' changes, because it has lost PostgreSQL "
        "or was paused. serve: answers from memory with the header Flagstaff-Stale; refuse: answers "
        "503.",
    )
    unload_after_seconds: int = setting(
        values.whole_number_parser(0, 31_536_000),
        "3600",
        "The minimum time for which a project stays in memory after the last request for its flags; the next "
        "request loads it again. 0: as long as the server runs.",
    )
    snapshot_memory: int | None = setting(
        values.parse_bytes,
        "1GB",
        "The estimated memory that loaded environments may take in all workers, or off. Beyond it, the environments "
        "that were used least recently are unloaded; the next request loads them again.",
    )
    drain_seconds: int = setting(
        values.whole_number_parser(0, 300),
        "1",
        "How long a server keeps serving after SIGTERM while /ready returns 503, so that load balancers send "
        "requests elsewhere. Choose a little more than they take to notice.",
    )
    public_url: str = setting(
        addresses.parse_public_url,
        "http://{host}:{port}",
        "The URL at which users reach the server; used in links. If it has a path, such as "
        "https://example.com/flags, all paths begin with that.",
    )
    smtp: SmtpServer | None = setting(
        addresses.parse_smtp,
        None,
        "smtp://, smtps:// or smtp+starttls://user:password@host:port; "
        "if unset, each mail is written to a file in the data directory.",
        variable="FLAGSTAFF_SMTP_URL",
        is_secret=True,
    )
    mail_from: str = setting(
        addresses.parse_mail_from, "Flagstaff <flagstaff@{public_host}>", "The sender of every mail."
    )
