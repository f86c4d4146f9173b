"""How long the history is kept, and where it is copied: a part of the settings."""

from dataclasses import dataclass
from typing import Literal

from flagstaff.settings import values
from flagstaff.settings.clickhouse import parse_clickhouse_table, parse_clickhouse_url
from flagstaff.settings.declarations import setting
from flagstaff.settings.values import HistoryAttributes


@dataclass(frozen=True, kw_only=True)
class HistorySettings:
    """A part of `Settings`."""

    history_retention_days: int = setting(
        values.whole_number_parser(1, 36_500), "90", "The number of days to keep the evaluation history."
    )
    deleted_project_trail_days: int = setting(
        values.whole_number_parser(0, 36_500),
        "30",
        "The number of days to keep the audit trail of a project after its deletion.",
    )
    history_max_bytes: int | Literal["auto"] | None = setting(
        values.parse_history_bytes,
        "auto",
        "The maximum size of the evaluation history, such as 10GB, or off. The oldest evaluations are deleted "
        "first. auto: with SQLite, a size that leaves 2 GB of the disk free, or a fifth of a small one; off with "
        "PostgreSQL, whose disk Flagstaff cannot see.",
    )
    history_attributes: HistoryAttributes = setting(
        values.choice_parser(HistoryAttributes),
        "used",
        "The custom attributes to keep with each evaluation. used: those that an enabled rule, a segment or a "
        "stickiness uses; all: all attributes of the request; none: none.",
    )
    clickhouse_url: str | None = setting(
        parse_clickhouse_url,
        None,
        "https://user:password@host:8443 or http://…:8123: the ClickHouse server to which recorded evaluations are "
        "copied; if unset, none are.",
        is_secret=True,
    )
    clickhouse_table: str = setting(
        parse_clickhouse_table,
        "flagstaff.evaluations",
        "The table in ClickHouse, with its database. `flagstaff clickhouse schema` prints how to create it.",
    )
    clickhouse_events_table: str | None = setting(
        parse_clickhouse_table,
        None,
        "The table in ClickHouse for the events of metrics, such as flagstaff.events; if unset, none are copied.",
    )
