"""Builds what the users of applications may demand: the erasure of what is stored about them, and a copy of it."""

from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

from flagstaff.assembly.foundation import Foundation, PeriodicTask
from flagstaff.history.erased_users import Digests, Subject
from flagstaff.history.export_batches import EVALUATIONS, EVENTS
from flagstaff.identity.second_factors.sealing import Sealer
from flagstaff.metrics.events import EVENTS_KEPT_DAYS
from flagstaff.people.copies import Copies, EraseCopy
from flagstaff.people.eraser import EVERY_SECONDS, Eraser
from flagstaff.people.erasures_service import Erasures
from flagstaff.settings import Settings

_PURGE_SECONDS = 3600.0
_COPY_SECONDS = 3600.0  # ClickHouse rewrites whole parts of its table


class People:
    """Erasures, and what does them."""

    def __init__(self, foundation: Foundation, passed_time: Callable[[], datetime]) -> None:
        database, now, settings = foundation.database, foundation.now, foundation.settings
        sealer = Sealer(foundation.secret_key)
        kept = timedelta(days=max(settings.history_retention_days, EVENTS_KEPT_DAYS) + 1)
        self.erasures = Erasures(database, now, Digests(foundation.secret_key), sealer, foundation.secret_key)
        self.eraser = Eraser(database, now, sealer, kept, passed_time, Copies(database, _erase_from(settings)))


def build_people(foundation: Foundation, passed_time: Callable[[], datetime]) -> People:
    """Erasures of users. Every instance does them, one worker in each."""
    people = People(foundation, passed_time)
    foundation.services += [people.erasures]
    foundation.periodic_tasks += [
        PeriodicTask("erasures", EVERY_SECONDS, people.eraser.run_due, "erases users", by_one_worker=True),
        PeriodicTask("erasures-purge", _PURGE_SECONDS, people.eraser.purge, by_one_worker=True),
    ]
    return people


def _erase_from(settings: Settings) -> dict[str, EraseCopy]:
    """The erasers of the tables in ClickHouse that the settings name."""
    if settings.clickhouse_url is None:
        return {}
    from flagstaff.history.clickhouse.client import open_tables  # noqa: PLC0415 -- only where the settings ask
    from flagstaff.history.clickhouse.erasing import erase_evaluations, erase_events  # noqa: PLC0415 -- as above

    async def from_evaluations(project_id: UUID, subject: Subject, until: datetime) -> None:
        async with open_tables(settings, _COPY_SECONDS) as (evaluations, _):
            await erase_evaluations(evaluations, project_id, subject, until)

    async def from_events(project_id: UUID, subject: Subject, until: datetime) -> None:
        async with open_tables(settings, _COPY_SECONDS) as (_, events):
            assert events is not None
            await erase_events(events, project_id, subject, until)

    has_events = settings.clickhouse_events_table is not None
    return {EVALUATIONS.sink: from_evaluations, **({EVENTS.sink: from_events} if has_events else {})}
