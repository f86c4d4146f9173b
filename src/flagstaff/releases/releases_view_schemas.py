"""Releases in responses."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from flagstaff.api.actor_schemas import TokenNameOut
from flagstaff.api.entity_tags import TaggedOut
from flagstaff.api.schemas import Moment, Uuid
from flagstaff.http.response_models import ResponseModel
from flagstaff.metrics.request_metrics import MeasureName
from flagstaff.releases.plans import NAMED_RULES
from flagstaff.releases.releases import Release
from flagstaff.releases.releases_schemas import ActionName, CountsName, WhenLateName
from flagstaff.releases.steps_schemas import Changes
from flagstaff.values.moments import format_moment

StateName = Literal["scheduled", "running", "paused", "done", "stopped", "cancelled", "failed"]


class ArmOut(ResponseModel):
    """A group that a step divides users into."""

    name: str = Field(description="`off` and `on` of a rollout, or a variant. The first one is the control.")
    share: float


class AppliedOut(ResponseModel):
    """A step that was applied, or skipped."""

    step: int
    at: Moment
    due_at: Moment
    late: bool
    skipped: bool
    folded: list[int] = Field(description="The earlier steps whose times had passed as well.")
    arms: list[ArmOut] | None


class AlarmOut(ResponseModel):
    """A guard or a threshold that has acted, or without either, a split that is not as asked."""

    metric: str | None = Field(description="The metric of a guard.")
    request_metric: str | None = Field(description="The request metric of a threshold, whose value is the evidence.")
    place: int | None = Field(description="The place of the threshold, from 0 on.")
    action: ActionName | None
    at: Moment
    evidence: float
    threshold: float
    words: str


class StepOut(ResponseModel):
    """A step."""

    at: Moment | None = None
    after_seconds: int | None = None
    changes: Changes
    least_users: int | None = None


class GuardOut(ResponseModel):
    """A guard."""

    metric: str
    action: ActionName
    tolerates: float
    tolerates_amount: float


class ThresholdOut(ResponseModel):
    """A threshold."""

    request_metric: str
    measure: MeasureName
    labels: dict[str, str]
    above: float | None
    below: float | None
    minutes: int
    action: ActionName


class ReleaseAuthor(ResponseModel):
    """The account for which the release acts: it made it, or has resumed it after its author had lost the right."""

    id: Uuid | None
    email: str | None
    token: TokenNameOut | None = Field(description="The access token that the account used, if any.")


class ReleaseOut(TaggedOut):
    """A release of a flag."""

    id: Uuid
    project_id: Uuid
    environment_id: Uuid
    flag_id: Uuid
    name: str | None
    steps: list[StepOut]
    guards: list[GuardOut]
    thresholds: list[ThresholdOut]
    false_alarm_rate: float
    when_late: WhenLateName
    split_action: ActionName
    counts: CountsName
    state: StateName
    reason: str | None = Field(description="Why it is paused, stopped, cancelled or failed.")
    author: ReleaseAuthor
    applied: list[AppliedOut]
    alarms: list[AlarmOut]
    next_step: int | None
    due_at: Moment | None = Field(description="When the next step is due, or after the last, when watching ends.")
    ended_at: Moment | None
    unwatched_since: Moment | None = Field(
        description="Since when it cannot be counted, or one of its guards or thresholds judged, if for a minute."
    )
    created_at: Moment
    updated_at: Moment


def _view_changes(changes: Mapping[str, Any]) -> Mapping[str, Any]:
    """Changes as a request has them: the value that a new rule of the type `attributes` does not have is left out."""
    if NAMED_RULES not in changes:
        return changes
    edits = [
        {name: value for name, value in edit.items() if "id" in edit or (name, value) != ("rule_value", None)}
        for edit in changes[NAMED_RULES]
    ]
    return {**changes, NAMED_RULES: edits}


def view_release(release: Release) -> dict[str, Any]:
    """A release as responses have it."""
    step = release.next_step
    due_at = release.due_of(step) if release.due_at is not None and step is not None else release.due_at
    return {
        "id": release.id,
        "project_id": release.project_id,
        "environment_id": release.environment_id,
        "flag_id": release.flag_id,
        "name": release.name,
        "steps": [
            {
                "at": each.at and format_moment(each.at),
                "after_seconds": each.after_seconds,
                "changes": _view_changes(each.changes),
                "least_users": each.least_users,
            }
            for each in release.steps
        ],
        "guards": [
            {
                "metric": each.metric,
                "action": each.action,
                "tolerates": each.tolerates,
                "tolerates_amount": each.tolerates_amount,
            }
            for each in release.guards
        ],
        "thresholds": [
            {
                "request_metric": each.request_metric,
                "measure": each.measure,
                "labels": dict(each.labels),
                "above": each.above,
                "below": each.below,
                "minutes": each.minutes,
                "action": each.action,
            }
            for each in release.thresholds
        ],
        "false_alarm_rate": release.false_alarm_rate,
        "when_late": release.when_late,
        "split_action": release.split_action,
        "counts": release.counts,
        "state": release.state,
        "reason": release.reason,
        "author": {
            "id": release.author_id,
            "email": release.author_email,
            "token": release.token_id and {"id": release.token_id, "name": release.token_name},
        },
        "applied": [
            {
                "step": each.step,
                "at": format_moment(each.at),
                "due_at": format_moment(each.due_at),
                "late": each.is_late,
                "skipped": each.is_skipped,
                "folded": each.skipped,
                "arms": each.arms
                and [
                    {"name": name, "share": share}
                    for name, share in zip(each.arms.names, each.arms.shares, strict=True)
                ],
            }
            for each in release.applied
        ],
        "alarms": [
            {
                "metric": each.metric,
                "request_metric": each.request_metric,
                "place": each.place,
                "action": each.action,
                "at": format_moment(each.at),
                "evidence": each.evidence,
                "threshold": each.threshold,
                "words": each.words,
            }
            for each in release.alarms
        ],
        "next_step": release.next_step if release.is_open else None,
        "due_at": due_at and format_moment(due_at),
        "ended_at": release.ended_at and format_moment(release.ended_at),
        "unwatched_since": release.unwatched_since and format_moment(release.unwatched_since),
        "created_at": format_moment(release.created_at),
        "updated_at": format_moment(release.updated_at),
    }
