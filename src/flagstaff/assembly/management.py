"""Builds what people manage: projects, flags and the rest of the management API."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NamedTuple

from flagstaff.assembly.foundation import Foundation, PeriodicTask
from flagstaff.assembly.serving import ServedState
from flagstaff.audit.changes_service import Changes
from flagstaff.audit.events_routes import CHECKED_SECONDS, Events
from flagstaff.audit.followers_service import Followers
from flagstaff.copying.clones_service import Clones
from flagstaff.copying.comparisons_service import Comparisons
from flagstaff.copying.copies_service import Copies
from flagstaff.copying.restores_service import Restores
from flagstaff.flags.bulk_actions_service import BulkActions
from flagstaff.flags.condition_work_service import ConditionWork
from flagstaff.flags.flags_service import Flags
from flagstaff.flags.project_flags_service import ProjectFlags
from flagstaff.flags.targeting.rules_service import Rules
from flagstaff.flags.targeting.segments_service import Segments
from flagstaff.flags.work_budgets import WorkBudgets
from flagstaff.insight.causes_service import CauseFinder
from flagstaff.insight.cleanup_service import Cleanup
from flagstaff.insight.explanations_service import Explanations
from flagstaff.insight.impacts_service import Impacts
from flagstaff.insight.playground_service import Playground
from flagstaff.mail.mails import Mails
from flagstaff.projects.environments_service import Environments
from flagstaff.projects.idempotency_service import Idempotency
from flagstaff.projects.invitations_service import Invitations
from flagstaff.projects.members_service import Members
from flagstaff.projects.projects_service import Projects
from flagstaff.projects.sdk_keys_service import SdkKeys
from flagstaff.views.favourites_service import Favourites
from flagstaff.views.pinned_charts_service import PinnedCharts
from flagstaff.views.saved_views_service import SavedViews

_PURGE_SECONDS = 60.0


def build_projects(foundation: Foundation, mails: Mails, passed_time: Callable[[], datetime]) -> SdkKeys:
    """Projects, their members, SDK keys, views and pinned charts; returns the keys, whose uses are written."""
    settings, database, now = foundation.settings, foundation.database, foundation.now
    sdk_keys = SdkKeys(database, now, settings)
    idempotency = Idempotency(database, now)
    foundation.services += [
        Projects(database, now, settings),
        Members(database, now, settings),
        Invitations(database, now, mails.send_invitation),
        sdk_keys,
        idempotency,
        Favourites(database, now),
        SavedViews(database, now, settings),
        PinnedCharts(database, now),
    ]
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
    """Environments with their flags, rules and segments, and what copies, explains and restores them."""
    settings, database, now = foundation.settings, foundation.database, foundation.now
    environments = Environments(database, now, settings)
    work = WorkBudgets(settings.max_condition_work)
    flags = Flags(database, now, settings, work)
    rules = Rules(database, now, settings, work)
    segments = Segments(database, now, settings, work)
    cleanup = Cleanup(database, now, timedelta(days=settings.history_retention_days))
    foundation.services += [
        environments,
        flags,
        rules,
        segments,
        ProjectFlags(database),
        BulkActions(database, now),
        ConditionWork(database, settings),
        Clones(database, now, environments, flags, rules),
        Comparisons(database),
        Copies(database, now, flags, rules),
        Restores(database, now, flags, rules, segments),
        CauseFinder(database),
        Explanations(database, now, work),
        Playground(database, now),
        Impacts(database, now, work),
        cleanup,
    ]
    return ManagedFlags(flags, rules, cleanup)


def build_audit(foundation: Foundation, served: ServedState) -> None:
    """The audit trail, and the streams of events of those who follow it."""
    database, now = foundation.database, foundation.now
    events = Events(served.snapshots, served.streams, Followers(database, now), now)
    foundation.services += [Changes(database, now), events]
    foundation.periodic_tasks.append(
        PeriodicTask(
            "followers-check",
            CHECKED_SECONDS,
            events.end_others,
            "ends the event streams of those who may not follow",
        )
    )
