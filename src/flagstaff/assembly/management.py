"""Builds what people manage: projects, flags and the rest of the management API."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NamedTuple

from flagstaff.assembly.foundation import Foundation, PeriodicTask
from flagstaff.assembly.serving import ServedState
from flagstaff.audit.event_streams import CHECKED_SECONDS, Events
from flagstaff.audit.followers_service import Followers
from flagstaff.audit.retention import ORDERS_SECONDS, PURGE_SECONDS, TrailRetention
from flagstaff.copying.clones_service import Clones
from flagstaff.copying.copies_service import Copies
from flagstaff.copying.copy_quotas import CopyQuotas
from flagstaff.copying.restores_service import Restores
from flagstaff.flags.condition_work_budgets import WorkBudgets
from flagstaff.flags.flags_service import Flags
from flagstaff.flags.targeting.rules_service import Rules
from flagstaff.flags.targeting.segments_service import Segments
from flagstaff.idempotency.idempotency_service import Idempotency
from flagstaff.insight.cleanup_service import Cleanup
from flagstaff.insight.explanations_service import Explanations
from flagstaff.insight.impacts_service import Impacts
from flagstaff.mail.mailer import Mailer
from flagstaff.projects.access import find_membership
from flagstaff.projects.environments_service import Environments
from flagstaff.projects.hidden_environments_service import REMOVED_EVERY_SECONDS, HiddenEnvironments
from flagstaff.projects.members.invitations_service import Invitations
from flagstaff.projects.sdk_keys_service import SdkKeys

_PURGE_SECONDS = 60.0


def build_projects(foundation: Foundation, mails: Mailer, passed_time: Callable[[], datetime]) -> SdkKeys:
    """Build invitations, SDK keys and idempotency keys; return the SDK keys, whose uses are written."""
    settings, database, now = foundation.settings, foundation.database, foundation.now
    sdk_keys = SdkKeys(database, now, settings)
    idempotency = Idempotency(database, now, find_membership)
    foundation.services += [Invitations(database, now, mails.send_invitation), sdk_keys, idempotency]
    foundation.periodic_tasks.append(
        PeriodicTask(
            "idempotency-purge",
            _PURGE_SECONDS,
            lambda: idempotency.purge(passed_time()),
            "deletes expired idempotency keys",
            by_one_worker=True,
        )
    )
    return sdk_keys


class ManagedFlags(NamedTuple):
    """The use cases of flags and rules, and what finds flags that may be removed."""

    flags: Flags
    rules: Rules
    cleanup: Cleanup


def build_flags(foundation: Foundation) -> ManagedFlags:
    """Build environments with their flags, rules and segments, and what copies, explains and restores them."""
    settings, database, now = foundation.settings, foundation.database, foundation.now
    environments = Environments(database, now, settings)
    work = WorkBudgets(settings.max_condition_work)
    flags = Flags(database, now, settings, work)
    rules = Rules(database, now, settings, work)
    segments = Segments(database, now, settings, work)
    hidden = HiddenEnvironments(database)
    foundation.periodic_tasks.append(
        PeriodicTask(
            "environment-removal",
            REMOVED_EVERY_SECONDS,
            hidden.remove_all,
            "removes the rows of deleted environments",
            by_one_worker=True,
        )
    )
    cleanup = Cleanup(database, now, timedelta(days=settings.history_retention_days))
    foundation.services += [
        environments,
        flags,
        rules,
        segments,
        Clones(database, now, environments, flags, rules, hidden),
        Copies(database, now, CopyQuotas(flags, rules)),
        Restores(database, now, flags, rules, segments),
        Explanations(database, now, work),
        Impacts(database, now, work),
        cleanup,
    ]
    return ManagedFlags(flags, rules, cleanup)


def build_audit(foundation: Foundation, served: ServedState, passed_time: Callable[[], datetime]) -> None:
    """Build the event streams for followers of the audit trail, and the service that deletes trails."""
    database, now = foundation.database, foundation.now
    events = Events(served.snapshots, served.streams, Followers(database, now), now)
    foundation.services.append(events)
    foundation.periodic_tasks.append(
        PeriodicTask(
            "followers-check",
            CHECKED_SECONDS,
            events.end_others,
            "ends the event streams of clients that have lost access",
        )
    )
    kept = timedelta(days=foundation.settings.deleted_project_trail_days)
    trails = TrailRetention(database, passed_time, kept)
    foundation.periodic_tasks += [
        PeriodicTask(
            "trail-purge",
            PURGE_SECONDS,
            trails.purge,
            "deletes the audit trails of deleted projects",
            by_one_worker=True,
        ),
        PeriodicTask("trail-orders", ORDERS_SECONDS, trails.purge_ordered, by_one_worker=True),
    ]
