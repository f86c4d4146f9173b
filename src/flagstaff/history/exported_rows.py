"""The values of exported evaluations and events, in the order of their columns in `exported_columns`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from flagstaff.evaluation.history.layout import Decision
from flagstaff.evaluation.history.records import RecordedEvaluation
from flagstaff.metrics.events import RecordedEvent
from flagstaff.projects.record_origins import Origin


@dataclass(frozen=True, slots=True)
class ExportedPlace:
    """An environment whose history is exported, with the names of its SDK keys."""

    project_id: UUID
    environment_id: UUID
    environment: str
    key_names: Mapping[UUID, str]


def evaluation_values(place: ExportedPlace, each: RecordedEvaluation) -> tuple[Any, ...]:
    """The values of an evaluation, in the order of `exported_columns.EVALUATIONS`."""
    return (
        place.project_id,
        place.environment_id,
        place.environment,
        each.id,
        each.evaluated_at,
        each.user_id,
        each.user_email,
        each.attributes,
        each.origin and each.origin.revision,
        *_origin_values(place, each.origin),
    )


def _origin_values(place: ExportedPlace, origin: Origin | None) -> tuple[Any, ...]:
    if origin is None:
        return None, None, None, None
    return origin.key_id, origin.key_name(place.key_names), origin.protocol, origin.instance


def event_values(place: ExportedPlace, each: RecordedEvent) -> tuple[Any, ...]:
    """The values of an event, in the order of `exported_columns.EVENTS`."""
    return (
        place.project_id,
        place.environment_id,
        place.environment,
        each.id,
        each.metric,
        each.occurred_at,
        each.identifier,
        each.attribute,
        each.key_kind,
        *_origin_values(place, each.origin),
        each.value,
    )


def flag_values(decision: Decision) -> tuple[Any, ...]:
    """The values of a flag's result, in the order of `exported_columns.FLAGS`."""
    return (
        decision.flag.id,
        decision.flag.key,
        decision.outcome.enabled,
        decision.reason,
        decision.rule_id,
        decision.bucket if decision.flag.says_more else None,
        decision.variant,
    )
