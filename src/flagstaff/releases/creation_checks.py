"""Checks of a release that is to be created: whether its steps could be applied now, and what it watches exists.

One of them is repeated when a step is applied, because the flag may have been changed since.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from flagstaff.changes.changes import Actor
from flagstaff.database.database import Connection
from flagstaff.flags.flags import Flag, Rule, RuleType
from flagstaff.flags.references import (
    require_given_conditions,
    require_prerequisites,
    require_segment,
    require_unused_variants,
    require_valid_value,
    require_variant,
)
from flagstaff.flags.targeting import rules_store
from flagstaff.flags.targeting.conditions_service import check_given_conditions
from flagstaff.metrics import metrics_store
from flagstaff.metrics.metrics import Kind
from flagstaff.metrics.request_metrics import MEASURES, RequestKind, Series
from flagstaff.permissions.permissions import Permission, require
from flagstaff.projects import environments_store
from flagstaff.projects.access import open_member
from flagstaff.releases.plans import AHEAD_MAX, NAMED_RULES, Guard, Step, Threshold, plan, read_rule
from flagstaff.releases.releases import Release, arms_of
from flagstaff.values.errors import Error, invalid_field


async def require_applicable(connection: Connection, flag: Flag, release: Release) -> None:
    """Refuse steps that could not be applied to the flag as it is, and guards that have nothing to compare.

    Raises:
        Error: INVALID or CONFLICT, with the place.
    """
    before, splits, divides = flag, False, False
    for place, (step, after) in enumerate(zip(release.steps, plan(flag, release.steps), strict=True)):
        splits_before, splits = splits, arms_of(after) is not None
        divides |= splits
        if step.least_users and not splits_before:
            raise invalid_field(
                f"steps.{place}.least_users",
                "can only follow a step that divides users: a rollout from 1 to 99 %, or variants with weights",
            )
        try:
            require_rollout(before, after)
            if after.prerequisites != before.prerequisites:
                await require_prerequisites(connection, after)
            if after.variants != before.variants:
                await require_unused_variants(connection, before, after)
            await _require_rules(connection, after, step)
        except Error as error:
            raise error.inside(f"steps.{place}.changes") from error
        before = after
    if release.guards and not divides:
        raise invalid_field(
            "guards",
            "have nothing to compare: no step divides users by a rollout from 1 to 99 % or by weights of variants",
        )


async def require_permissions(connection: Connection, actor: Actor, release: Release) -> None:
    """Refuse whoever could not make the changes of the steps; raises Error FORBIDDEN without `rules:write` for rules.

    The flag has been opened with the permission for its own changes.
    """
    if release.changes_rules:
        _, member = await open_member(connection, actor, release.project_id)
        environment = await environments_store.get_environment(connection, release.project_id, release.environment_id)
        require(member, Permission.RULES_WRITE, environment.key)


def require_rollout(before: Flag, after: Flag) -> None:
    """Refuse a step that ends a rollout with 0, which is no small percentage: it means everyone; raises Error INVALID.

    A person sees at once what such an update does. A step is applied when nobody looks.
    """
    if before.rollout_percentage and not after.rollout_percentage:
        raise invalid_field(
            "rollout_percentage",
            f"must not go from {before.rollout_percentage} to 0, which means everyone: to turn the flag off, set "
            "enabled to false instead; to turn it on for everyone, set 100; to turn it on for users whom a rule "
            "matches only, set fallthrough to off",
        )


async def require_metrics(connection: Connection, release: Release) -> None:
    """Refuse guards whose metric the project does not have, and those that can never act; raises Error INVALID."""
    known = await metrics_store.list_kinds(connection, release.project_id)
    for place, guard in enumerate(release.guards):
        if guard.metric not in known:
            raise invalid_field(f"guards.{place}.metric", "must be the key of a metric of this project")
        _require_tolerance(guard, known[guard.metric], f"guards.{place}")


def _require_tolerance(guard: Guard, kind: Kind, place: str) -> None:
    if kind is Kind.BINARY and guard.tolerates_amount:
        raise invalid_field(f"{place}.tolerates_amount", "can only be given for a count or a value")
    if kind is not Kind.BINARY and guard.tolerates >= 1:
        raise invalid_field(
            f"{place}.tolerates",
            "must be below 1 for a count or a value, because otherwise the guard could never act; tolerates_amount "
            "gives a difference in the metric's unit",
        )
    if guard.tolerates and guard.tolerates_amount:
        raise invalid_field(f"{place}.tolerates_amount", "cannot be given together with tolerates")


def require_reported(thresholds: Sequence[Threshold], series: Sequence[Series]) -> None:
    """Refuse thresholds on what nobody reports, or on a measure that its kind does not have; raises Error INVALID.

    A threshold that is misspelt would never act.
    """
    kinds: dict[str, set[RequestKind]] = {}
    for each in series:
        kinds.setdefault(each.name, set()).add(each.kind)
    for place, threshold in enumerate(thresholds):
        known = kinds.get(threshold.request_metric)
        if known is None:
            raise invalid_field(
                f"thresholds.{place}.request_metric",
                "must be a request metric that was reported in this environment in the last seven days",
            )
        if not any(threshold.measure in MEASURES[kind] for kind in known):
            measures = sorted({measure for kind in known for measure in MEASURES[kind]})
            raise invalid_field(
                f"thresholds.{place}.measure", f"must be one of {', '.join(measures)}, for this request metric"
            )


async def _require_rules(connection: Connection, flag: Flag, step: Step) -> None:
    """Refuse edits of rules that cannot be made now; raises Error INVALID or CONFLICT."""
    for place, edit in enumerate(step.changes.get(NAMED_RULES, ())):
        values = read_rule(edit)
        present = None
        if "id" in edit:
            present = await rules_store.find_rule(connection, flag.id, UUID(edit["id"]))
            if present is None:
                raise invalid_field(f"{NAMED_RULES}.{place}.id", "must be the id of a rule of this flag")
            rule = replace(present, **values)
        else:
            nobody = UUID(int=0)
            rule = Rule(
                id=nobody,
                flag_id=flag.id,
                created_at=flag.created_at,
                updated_at=flag.updated_at,
                **{"rule_type": RuleType.USER_ID, **values},
            )
        if edit.get("delete"):
            continue
        try:
            require_given_conditions(values, present)
            await check_given_conditions(rule.conditions)
            require_valid_value(rule)
            await require_segment(connection, flag.project_id, rule)
            require_variant(flag, rule)
        except Error as error:
            raise error.inside(f"{NAMED_RULES}.{place}") from error


def require_times(release: Release, clock: datetime) -> None:
    """Refuse times that are past, too far ahead or in another order than the steps; raises Error INVALID."""
    previous, earliest = None, clock
    for place, step in enumerate(release.steps):
        if step.at is None:
            earliest += timedelta(seconds=step.after_seconds or 0)
            continue
        if place and step.at < earliest:
            raise invalid_field(f"steps.{place}.at", "must not be before the previous step can begin")
        earliest = step.at
        if step.at <= clock:
            raise invalid_field(f"steps.{place}.at", "must be in the future")
        if step.at > clock + AHEAD_MAX:
            raise invalid_field(f"steps.{place}.at", "must be within a year")
        if previous is not None and step.at <= previous:
            raise invalid_field(f"steps.{place}.at", "must be after the previous step")
        previous = step.at
