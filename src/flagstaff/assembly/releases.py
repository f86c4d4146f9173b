"""Builds metrics, and releases with what runs and watches them."""

from collections.abc import Callable
from datetime import datetime
from time import monotonic

from flagstaff.assembly.foundation import Foundation, PeriodicTask
from flagstaff.concurrency.claims import Priority
from flagstaff.flags.flags_service import Flags
from flagstaff.flags.targeting.rules_service import Rules
from flagstaff.history.history_service import History
from flagstaff.metrics.metrics_service import Metrics
from flagstaff.releases import releases_store
from flagstaff.releases.guardian import Guardian
from flagstaff.releases.observer import LOOK_SECONDS, Observer
from flagstaff.releases.outlook_service import Outlooks
from flagstaff.releases.releases_service import Releases
from flagstaff.releases.retention import PURGE_SECONDS, ReleaseRetention
from flagstaff.releases.runner import RUN_SECONDS, Runner
from flagstaff.releases.threshold_watch import WATCH_SECONDS, ThresholdWatch
from flagstaff.releases.watching import TELL_SECONDS, Watching


def build_releases(
    foundation: Foundation, flags: Flags, rules: Rules, history: History, passed_time: Callable[[], datetime]
) -> None:
    """Metrics, and releases with what runs and watches them. Every instance does, and one worker in each."""
    database, now = foundation.database, foundation.now
    runner, guardian = Runner(database, now, flags, rules), Guardian(database, now, flags)
    watching = Watching(database, now, monotonic)
    watching.export_metrics(foundation.metrics)
    observer = Observer(database, database.instance, guardian.act, watching)
    observer.export_metrics(foundation.metrics)
    retention = ReleaseRetention(database, passed_time)
    foundation.services += [
        Metrics(database, now, foundation.settings, releases_store.list_watched),
        Outlooks(database, Releases(database, now, foundation.settings), history),
    ]
    foundation.periodic_tasks += [
        PeriodicTask(
            "releases",
            RUN_SECONDS,
            runner.run_due,
            "applies the steps of releases",
            by_one_worker=True,
            priority=Priority.SHORT,
        ),
        PeriodicTask(
            "guards",
            LOOK_SECONDS,
            observer.look_if_due,
            "watches releases",
            by_one_worker=True,
            priority=Priority.KILL,
        ),
        PeriodicTask(
            "thresholds",
            WATCH_SECONDS,
            ThresholdWatch(database, guardian.act_beyond, watching).watch,
            "watches the thresholds of releases",
            by_one_worker=True,
            priority=Priority.KILL,
        ),
        PeriodicTask("watching", TELL_SECONDS, watching.tell, by_one_worker=True),
        PeriodicTask(
            "releases-purge", PURGE_SECONDS, retention.purge, "deletes the users of old releases", by_one_worker=True
        ),
    ]
