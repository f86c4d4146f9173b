"""docs/reference/events.json: a message of each type, created by the code that creates messages."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from flagstaff.audit.dashboard_links import change_page
from flagstaff.audit.deleted_projects import TrailDeletion
from flagstaff.changes.changes import DELETED_ACCOUNT, Actor, NumberedChange, ReleaseName, Scope, change_of
from flagstaff.comments.comments import Comment
from flagstaff.flags.flags import Flag, Rule, RuleType
from flagstaff.flags.targeting.segments import Segment
from flagstaff.hooks.messages import Event, NamedProject, compose
from flagstaff.hooks.notices import PROJECT_NOTICES, Notice, NoticeType
from flagstaff.hooks.previews_service import Previewed
from flagstaff.hooks.webhooks import INSTANCE_EVENTS, TEST_EVENT, Disabled, Format, Webhook
from flagstaff.identity.accounts.accounts import Account
from flagstaff.identity.administration.instance import InstanceSettings
from flagstaff.identity.sessions.sessions import Session
from flagstaff.metrics.metrics import Better, Kind, Metric
from flagstaff.people.erasures import RequestedErasure
from flagstaff.permissions.members import Member, Role
from flagstaff.permissions.permissions import Permission
from flagstaff.projects.access_tokens.access_tokens import AccessToken
from flagstaff.projects.members.invitations import Invitation
from flagstaff.projects.projects import Environment, EnvironmentOrder, Project
from flagstaff.projects.sdk_keys import KeyKind, SdkKey
from flagstaff.releases.plans import Action as ReleaseAction
from flagstaff.releases.plans import Guard, Step
from flagstaff.releases.releases import ReleaseRecord, State
from flagstaff.views.pinned_charts import PinnedChart
from flagstaff.views.saved_views import SavedView

SAMPLES = Path(__file__).parents[2] / "docs/reference/events.json"
PUBLIC_URL = "https://flags.example.com"
AT, LATER = datetime(2026, 11, 26, 9, tzinfo=UTC), datetime(2026, 11, 26, 10, 30, tzinfo=UTC)
_PROJECT_ID, _ENVIRONMENT_ID, _FLAG_ID, _ACCOUNT_ID, _ID = (
    UUID(f"01a1fb68-78d6-72a0-9594-0000000000{number:02}") for number in range(1, 6)
)
PROJECT = Project(_PROJECT_ID, _ACCOUNT_ID, "Shop", None, None, AT, AT)
_NAMED = NamedProject(PROJECT.id, PROJECT.name)
ENVIRONMENT = Environment(_ENVIRONMENT_ID, _PROJECT_ID, "Production", "production", AT, critical=True)
FLAG = Flag(
    _FLAG_ID,
    _PROJECT_ID,
    _ENVIRONMENT_ID,
    "New checkout",
    "new-checkout",
    "Two steps",
    enabled=False,
    rollout_percentage=25,
    created_at=AT,
    updated_at=AT,
    tags=("payments",),
    owner="ada@example.com",
)
ACCOUNT = Account(_ACCOUNT_ID, "ada@example.com", "", AT)
ACTOR = Actor(_ACCOUNT_ID, "ada@example.com")
_BY_RELEASE, _BY_GUARD = (
    Actor(_ACCOUNT_ID, "ada@example.com", release=ReleaseName(_ID, "Checkout for everybody", guard))
    for guard in (None, "checkout-error")
)
_OF_ITSELF = (
    *("release.step_applied", "release.step_skipped", "release.paused", "release.failed", "release.done"),
    *("release.unwatched", "release.watched"),
)
RESOURCES: dict[str, Any] = {
    "project": PROJECT,
    "environment": ENVIRONMENT,
    "flag": FLAG,
    "rule": Rule(_ID, _FLAG_ID, RuleType.EMAIL_DOMAIN, "example.com", 10, enabled=True, created_at=AT, updated_at=AT),
    "segment": Segment(_ID, _PROJECT_ID, "beta", "Beta testers", None, (), AT, AT),
    "metric": Metric(
        _ID, _PROJECT_ID, "checkout-error", "Checkout errors", None, Kind.BINARY, Better.DOWN, None, AT, AT
    ),
    "release": ReleaseRecord(_ID, "Checkout for everybody", State.RUNNING, None, 0, is_late=False),
    "comment": Comment(
        _ID, _PROJECT_ID, _ENVIRONMENT_ID, _FLAG_ID, None, None, _ID, "grace@example.com", "Not recorded", AT, AT
    ),
    "view": SavedView(_ID, _PROJECT_ID, "Payments", {"tag": "payments"}, AT),
    "pinned_chart": PinnedChart(
        _ID,
        _PROJECT_ID,
        "Checkout",
        _ENVIRONMENT_ID,
        _FLAG_ID,
        "new-checkout",
        "day",
        "result",
        "count",
        compare_before=True,
        compare_environment_id=None,
        created_at=AT,
    ),
    "sdk_key": SdkKey(
        _ID,
        _PROJECT_ID,
        _ENVIRONMENT_ID,
        "production",
        "Checkout service",
        KeyKind.SERVER,
        "x7Qw",
        _ACCOUNT_ID,
        "ada@example.com",
        AT,
        None,
    ),
    "member": Member(_PROJECT_ID, _ID, "grace@example.com", Role.EDITOR, {}, AT),
    "invitation": Invitation(
        _ID, _PROJECT_ID, "grace@example.com", Role.EDITOR, {}, _ACCOUNT_ID, AT, LATER, sent_at=AT
    ),
    "token": AccessToken(
        _ID,
        _ACCOUNT_ID,
        "ada@example.com",
        _PROJECT_ID,
        "Deployments",
        (Permission.FLAGS_TOGGLE,),
        None,
        AT,
        None,
        None,
    ),
    "erasure": RequestedErasure(_ID, _PROJECT_ID, {"user_id": "5f0c8a1e2b9d4c7f8e6a3b1d9c2f4e70"}),
    "webhook": Webhook(
        _ID,
        _PROJECT_ID,
        "https://hooks.example.com/flags",
        ("flag.*",),
        None,
        None,
        Format.STANDARD,
        "The deploy bot",
        enabled=True,
        disabled_reason=None,
        owner_id=None,
        created_at=AT,
        updated_at=AT,
    ),
    "account": ACCOUNT,
    "instance": InstanceSettings(
        "open", is_default=True, demands_second_factor=False, demands_second_factor_is_default=True
    ),
}
_OF_INSTANCE = {
    "instance.webhook_previewed": Previewed(_ID, ("flag.*",), None, None, Format.STANDARD, examined=120),
    "instance.trail_deleted": TrailDeletion(_PROJECT_ID, AT),
}
_ENDINGS = ("deleted", "removed", "revoked")
_BEGINNINGS = (
    "created",
    "added",
    "joined",
    "registered",
    "token_created",
    "webhook_previewed",
    "trail_deleted",
    "requested",
)
_ALTERED: dict[str, dict[str, Any]] = {
    "flag.toggled": {"enabled": True},
    "flag.updated": {"rollout_percentage": 50},
    "flag.archived": {"archived_at": LATER},
    "rule.updated": {"priority": 20},
    "segment.updated": {"name": "Beta testers of 2026"},
    "environment.updated": {"name": "Live"},
    "project.updated": {"name": "Shop and app"},
    "metric.updated": {"name": "Errors at the checkout"},
    "release.created": {
        "state": State.SCHEDULED,
        "step": None,
        "steps": (Step({"enabled": True, "rollout_percentage": 5}, after_seconds=0),),
        "guards": (Guard("checkout-error", ReleaseAction.TURN_OFF),),
    },
    "release.step_applied": {"step": 1},
    "release.step_skipped": {"step": 1, "is_late": True},
    "release.paused": {"state": State.PAUSED, "reason": "ada@example.com turned the flag off."},
    "release.stopped": {
        "state": State.STOPPED,
        "reason": "Checkout errors: 31 of 1,020 users with the flag and 9 of 1,004 without it had it. The evidence is "
        "45.2, and the threshold is 20.",
    },
    "release.unwatched": {"unwatched_since": LATER},
    "release.cancelled": {"state": State.CANCELLED, "reason": "Cancelled by ada@example.com."},
    "release.failed": {"state": State.FAILED, "reason": "Step 2 could not be applied. The flag is archived."},
    "release.done": {"state": State.DONE, "step": 2},
    "view.updated": {"name": "All payments"},
    "pinned_chart.updated": {"name": "Checkout, by day"},
    "member.updated": {"role": Role.ADMIN},
    "webhook.updated": {"events": ("flag.*", "rule.*")},
    "webhook.disabled": {"enabled": False, "disabled_reason": Disabled.FAILED},
    "account.promoted": {"is_administrator": True},
    "account.deactivated": {"deactivated_at": LATER},
    "instance.updated": {"registration": "closed", "is_default": False},
}
_NOTICES: dict[NoticeType, dict[str, Any]] = {
    NoticeType.FLAG_STALE: {
        "count": 1,
        "flags": [
            {
                "key": "new-checkout",
                "name": "New checkout",
                "tags": ["payments"],
                "owner": "ada@example.com",
                "reasons": ["on_for_everyone"],
            }
        ],
    },
    NoticeType.FLAG_MISSING: {
        "count": 1,
        "flags": [{"key": "new-chekout", "asked_by": {"web": 815}, "archived": False}],
    },
    NoticeType.INSTANCE_LAGGING: {"instance": "eu-1:8000", "seconds": 12, "changes": 3},
    NoticeType.INSTANCE_RECOVERED: {"instance": "eu-1:8000"},
    NoticeType.HISTORY_BEHIND: {"instance": "eu-1:8000", "waiting": 61200},
    NoticeType.HISTORY_RECOVERED: {"instance": "eu-1:8000"},
}


def samples() -> str:
    """Return an object that has a message of each type, each on a line of its own."""
    messages = ((kind, compose(event_of(kind), Format.STANDARD)) for kind in (*INSTANCE_EVENTS, TEST_EVENT))
    lines = (f'"{kind}": {json.dumps(json.loads(body), ensure_ascii=False)}' for kind, body in messages)
    return "{\n" + ",\n".join(lines) + "\n}\n"


def event_of(kind: str) -> Event:
    """Return the contents of a message of this type, with invented values."""
    if kind == TEST_EVENT:
        return Event(AT, f"{PUBLIC_URL}/projects/{_PROJECT_ID}")
    if kind in set(NoticeType):
        return _notice_of(NoticeType(kind))
    resource, _, verb = kind.partition(".")
    after: Any = RESOURCES[resource]
    if kind == "account.session_ended":
        after = Session(_ID, _ACCOUNT_ID, "Firefox on Linux", "192.0.2.1", AT, AT, LATER)
    if kind in ("account.token_created", "account.token_deleted"):
        after = replace(RESOURCES["token"], project_id=None)
    after = _OF_INSTANCE.get(kind, after)
    if kind == "account.deleted":
        after = replace(after, email=DELETED_ACCOUNT)
    before = after
    if kind == "environment.reordered":
        before = EnvironmentOrder(_PROJECT_ID, ("production", "staging"))
        after = EnvironmentOrder(_PROJECT_ID, ("staging", "production"))
    if verb not in (*_ENDINGS, *_BEGINNINGS) and "updated_at" in after.__dataclass_fields__:
        after = replace(after, updated_at=LATER)
    after = replace(after, **_ALTERED.get(kind, {}))
    is_in_none = resource in ("account", "instance")
    is_of_flag = resource in ("flag", "rule", "release", "comment")
    is_placed = (is_of_flag or resource in ("environment", "sdk_key")) and kind != "environment.reordered"
    scope = Scope(
        None if is_in_none else _PROJECT_ID,
        _ENVIRONMENT_ID if is_placed else None,
        _FLAG_ID if is_of_flag else None,
        FLAG.key if is_of_flag else None,
    )
    is_new, is_over = verb in _BEGINNINGS, verb in (*_ENDINGS, "session_ended", "token_deleted")
    actor = _BY_RELEASE if kind in _OF_ITSELF else ACTOR
    if kind == "release.stopped":
        actor = _BY_GUARD
    change = change_of(actor, kind, LATER, scope, before=None if is_new else before, after=None if is_over else after)
    environment = ENVIRONMENT if is_placed else None
    return Event(
        LATER,
        change_page(PUBLIC_URL, kind, scope, environment if kind != "environment.deleted" else None),
        changes=[NumberedChange(815, change)],
        project=None if is_in_none else _NAMED,
        environment=environment,
        revision=42 if change.affects_evaluations else None,
    )


def _notice_of(kind: NoticeType) -> Event:
    is_of_project = kind in PROJECT_NOTICES
    page = "cleanup" if kind is NoticeType.FLAG_STALE else "applications"
    link = f"/projects/{_PROJECT_ID}/environments/{_ENVIRONMENT_ID}/{page}" if is_of_project else "/admin/instances"
    notice = Notice(
        1,
        kind,
        _PROJECT_ID if is_of_project else None,
        _ENVIRONMENT_ID if is_of_project else None,
        LATER,
        _NOTICES[kind],
    )
    return Event(
        LATER,
        f"{PUBLIC_URL}{link}",
        notice=notice,
        project=_NAMED if is_of_project else None,
        environment=ENVIRONMENT if is_of_project else None,
    )


if __name__ == "__main__":
    SAMPLES.write_text(samples(), "utf-8")
