"""How much of each resource there may be: a part of the settings."""

from dataclasses import dataclass

from flagstaff.settings import values
from flagstaff.settings.declarations import amount, count, quota, quota_of_characters, setting
from flagstaff.values.quotas import CharactersQuota, Quota, WorkQuota


@dataclass(frozen=True, kw_only=True)
class QuotaSettings:
    """A part of `Settings`."""

    max_projects_per_account: Quota = quota("projects", "account", "1000")
    max_tokens_per_account: Quota = quota(
        "access tokens", "account", "100", "The maximum number of personal access tokens per account."
    )
    max_tokens_per_project: Quota = quota("access tokens", "project", "100")
    max_sdk_keys_per_project: Quota = quota(
        "SDK keys", "project", "200", "The maximum number of SDK keys of the environments of a project."
    )
    max_environments_per_project: Quota = quota("environments", "project", "100")
    max_segments_per_project: Quota = quota("segments", "project", "500")
    max_metrics_per_project: Quota = quota("metrics", "project", "200")
    max_events: int = setting(
        values.whole_number_parser(1_000, 10_000_000_000),
        "40000000",
        "The maximum number of events of metrics that are kept, of all projects. The oldest of the accounts with the "
        "most are deleted.",
    )
    max_events_per_project: int = setting(
        values.whole_number_parser(1_000, 100_000_000),
        "20000000",
        "The maximum number of events of metrics that are kept per project. The oldest are deleted.",
    )
    max_event_ids: int = setting(
        values.whole_number_parser(1_000, 100_000_000),
        "40000000",
        "The maximum number of ids of events that are remembered, of all projects, half of them for each kind of key. "
        "The oldest of the accounts with the most are forgotten.",
    )
    max_event_ids_per_project: int = setting(
        values.whole_number_parser(1_000, 100_000_000),
        "10000000",
        "The maximum number of ids of events that are remembered per project and kind of key, with which repetitions "
        "are recognised. The oldest are forgotten.",
    )
    max_watched_releases_per_environment: Quota = quota(
        "watched releases",
        "environment",
        "100",
        "The maximum number of releases per environment that have not ended, and have guards, thresholds or "
        "`least_users`.",
        remedy="Cancel",
    )
    max_watched_releases_per_project: Quota = quota(
        "watched releases", "project", "500", "The maximum number of such releases per project.", remedy="Cancel"
    )
    max_watched_releases: Quota = quota(
        "watched releases", "instance", "5000", "The maximum number of such releases of all projects.", remedy="Cancel"
    )
    max_views_per_project: Quota = quota("views", "project", "100", "The maximum number of saved views per project.")
    max_webhooks_per_project: Quota = quota(
        "webhooks", "project", "20", "The maximum number of webhooks per project, and of the whole instance."
    )
    max_flags_per_environment: Quota = quota("flags", "environment", "5000")
    max_rules_per_flag: Quota = quota("rules", "flag", "1000", "The maximum number of targeting rules per flag.")
    max_rules_per_environment: Quota = quota(
        "rules", "environment", "20000", "The number of targeting rules that the flags of an environment may have."
    )
    max_condition_characters: CharactersQuota = quota_of_characters(
        "conditions",
        "2000000",
        "The maximum number of characters of the conditions of an environment's rules, and of those of a project's "
        "segments.",
    )
    max_condition_work: WorkQuota = setting(
        amount,
        "1000",
        "The budget of conditions: how many microseconds those of an environment, or of a draft, may cost an "
        "evaluation at worst, as [computed](condition-budget.md) when they are saved.",
        make=WorkQuota,
    )
    max_variant_characters: CharactersQuota = quota_of_characters(
        "variants", "1000000", "The maximum number of characters of the variants of an environment's flags."
    )
    audit_bytes_per_hour: int | None = setting(
        values.parse_bytes,
        "64MiB",
        "The bytes of changes that an account may write in the audit trail in an hour, or off; four times as many in a "
        "project. What turns flags off is not counted.",
    )
    max_audit_bytes: int | None = setting(
        values.parse_bytes,
        "10GiB",
        "The bytes of changes that an account may write in the audit trail altogether, or off; four times as many in a "
        "project.",
    )
    max_reported_counts_per_hour: int = setting(
        count,
        "20000",
        "The maximum number of different counts (of a result of a flag in an application) that are stored from the "
        "reports of an environment's applications in an hour.",
    )
