"""Builds what the server notices by itself."""

from collections.abc import Collection, Mapping, Sequence
from time import monotonic
from typing import Any
from uuid import UUID

from flagstaff.applications.applications_service import ApplicationReports
from flagstaff.assembly.cluster import instance_name
from flagstaff.assembly.foundation import Foundation, PeriodicTask
from flagstaff.cluster.instances import LeaseState
from flagstaff.cluster.instances_service import PlacedInstance, ServingInstances
from flagstaff.history.recorder import EvaluationRecorder
from flagstaff.hooks.notices_service import BEHIND_SECONDS, LOOK_SECONDS, Lagging, Noticer, Recorded, Sources
from flagstaff.hooks.notices_store import Place
from flagstaff.hooks.sender import Sender
from flagstaff.insight.cleanup_service import Cleanup

_PURGE_SECONDS = 600.0
_STALE_DAYS = 30
_MISSING_DAYS = 1
_STALE_MAX = 1000
_MISSING_MAX = 200  # the most wanted ones: anybody with a browser key can ask for any


def build_notices(
    foundation: Foundation,
    instances: ServingInstances,
    reports: ApplicationReports,
    recorder: EvaluationRecorder,
    cleanup: Cleanup,
    sender: Sender,
) -> None:
    """Build the noticer of stale and missing flags, of instances that lag, and of a history that falls behind."""

    async def find_stale(place: Place) -> Mapping[str, Mapping[str, Any]]:
        found = await cleanup.list_stale(place.environment_id, _STALE_DAYS, _STALE_MAX)
        return {
            each.flag.key: {
                "name": each.flag.name,
                "tags": list(each.flag.tags),
                "owner": each.flag.owner,
                "reasons": list(each.reasons),
            }
            for each in found
        }

    async def find_missing(place: Place) -> Mapping[str, Mapping[str, Any]]:
        found = await reports.list_missing(place.environment_id, _MISSING_DAYS, _MISSING_MAX)
        return {each.key: {"asked_by": each.asked_by, "archived": each.is_archived} for each in found}

    async def list_asked() -> Collection[UUID]:
        return await reports.list_asked(_MISSING_DAYS)

    async def find_lagging() -> Sequence[Lagging]:
        return [lagging for each in await instances.find_instances() if (lagging := _describe(each))]

    def read_history() -> Recorded:
        return Recorded(recorder.written, recorder.waiting)

    noticer = Noticer(
        foundation.database,
        foundation.now,
        monotonic,
        instance_name(foundation.settings),
        Sources(list_asked, find_stale, find_missing, find_lagging, read_history),
        sender.wake,
    )
    foundation.services.append(noticer)
    # Without a purpose: an instance that notices nothing by itself is ready.
    foundation.periodic_tasks += [
        PeriodicTask("notices", LOOK_SECONDS, noticer.look, by_one_worker=True),
        PeriodicTask("notices-purge", _PURGE_SECONDS, noticer.purge, by_one_worker=True),
    ]


def _describe(placed: PlacedInstance) -> Lagging | None:
    """An instance that has not been heard of, or has not served the newest changes, for a while."""
    instance, behind = placed.instance, placed.behind
    if instance.lease is LeaseState.LAPSED and -(instance.lease_seconds or 0.0) >= BEHIND_SECONDS:
        return Lagging(instance.address, {"seconds": None, "changes": None})
    if instance.lease is LeaseState.LIVE and behind is not None and behind.seconds >= BEHIND_SECONDS:
        return Lagging(instance.address, {"seconds": round(behind.seconds), "changes": behind.changes})
    return None
