"""Builds the evaluation history: what records, keeps it small, and copies it to ClickHouse."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from flagstaff.applications.applications_service import ApplicationReports
from flagstaff.assembly.cluster import instance_name
from flagstaff.assembly.foundation import Foundation, PeriodicTask
from flagstaff.database.situations import find_file_situation
from flagstaff.history.buffer import Buffer
from flagstaff.history.clickhouse.sender import Sender
from flagstaff.history.erased_users import Digests
from flagstaff.history.event_files import EventForm
from flagstaff.history.event_retention import EventBounds, EventRetention
from flagstaff.history.export_batches import EVALUATIONS, EVENTS, ExportBatch, ExportBatches, Records
from flagstaff.history.free_space import EVERY_SECONDS as SPACE_SECONDS
from flagstaff.history.free_space import FreeSpace
from flagstaff.history.history_service import History
from flagstaff.history.passed_time import EVERY_SECONDS, PassedTime
from flagstaff.history.recorder import EvaluationRecorder, Recorder
from flagstaff.history.retention import HistoryRetention
from flagstaff.history.sink import Sink
from flagstaff.history.spool import MAX_BYTES, EvaluationForm, Spool, spool_folder
from flagstaff.machine.disk import LOOK_SECONDS, DiskWatch
from flagstaff.metrics.event_buffer import EventBuffer
from flagstaff.telemetry.metrics import Metrics
from flagstaff.values.errors import Error

SPOOL_FOLDER, EVENTS_FOLDER = "spool", "events-spool"
EVENTS_MAX_BYTES = 128 * 1024 * 1024
_FLUSH_SECONDS = 3.0
# The interval at which history is removed that is too old or whose environment was deleted.
_PURGE_SECONDS = 60.0
# The interval at which counts of busy environments are rolled up. Until then each change makes summaries slower.
_ROLL_UP_SECONDS = 5.0
_SINK = "clickhouse"


class EvaluationHistory:
    """The history of evaluations, and the time and the space that it is kept within."""

    def __init__(self, foundation: Foundation, reports: ApplicationReports) -> None:
        """`reports` are kept for as long as evaluations are."""
        settings, database, now = foundation.settings, foundation.database, foundation.now
        self.service = History(database, now, Digests(foundation.secret_key))
        self.recorder = EvaluationRecorder(
            buffer=Buffer(has_all=settings.history_attributes == "all", instance=instance_name(settings)),
            write=self.service.record,
            spool=Spool(
                _spool_folder(foundation, SPOOL_FOLDER), EvaluationForm(), max_bytes=foundation.share(MAX_BYTES)
            ),
            supervisor=foundation.supervisor,
        )
        self.events = EventBuffer(is_stuck=lambda: self.event_recorder.is_stuck, instance=instance_name(settings))
        self.event_recorder = Recorder(
            buffer=self.events,
            write=self.service.record_events,
            spool=Spool(
                _spool_folder(foundation, EVENTS_FOLDER), EventForm(), max_bytes=foundation.share(EVENTS_MAX_BYTES)
            ),
            supervisor=foundation.supervisor,
            name="events",
            what="events",
        )
        self.disk = DiskWatch(
            settings.data_dir,
            is_refusing_writes=lambda: database.health.is_refusing_writes,
            try_to_write=database.try_to_write,
        )
        self.passed_time = PassedTime(database, now)
        self._event_retention = EventRetention(
            database,
            EventBounds(
                settings.max_events_per_project,
                settings.max_events,
                settings.max_event_ids_per_project,
                settings.max_event_ids,
            ),
        )
        self._retention = HistoryRetention(
            database,
            now,
            timedelta(days=settings.history_retention_days),
            settings.history_max_bytes,
            lambda: (self.disk.free_bytes, self.disk.total_bytes),
            passed=self.passed_time.now,
            event_retention=self._event_retention,
        )
        self._free_space = FreeSpace(database)
        self._foundation, self._reports = foundation, reports
        self._senders: list[Sender] = []
        self.sinks = [*self._make_sinks()]

    async def start(self) -> None:
        """Begin to record, and to copy to ClickHouse what the settings ask for."""
        for sink in self.sinks:  # without a purpose: evaluations and events wait in the history
            self._foundation.supervisor.run(sink.name, sink.run, is_working=sink.is_at_work)
        await self._retention.remove_bound()  # before batches that it could refuse
        if self._foundation.is_first_worker:
            with suppress(Error):  # such as of a full disk; it is tried again
                await self.passed_time.look()
        await self.recorder.start()
        await self.event_recorder.start()

    def spool_problems(self) -> list[str]:
        """Say why evaluations or events could not wait on the disk, and what to do."""
        folders = (self._foundation.settings.data_dir / name for name in (SPOOL_FOLDER, EVENTS_FOLDER))
        situation = find_file_situation(*folders)
        return [f"{situation.cause} {situation.step}"] if situation else []

    async def flush(self) -> None:
        """Write what is recorded; what the database does not take in time stays in files."""
        await asyncio.gather(self.recorder.stop(_FLUSH_SECONDS), self.event_recorder.stop(_FLUSH_SECONDS))

    async def close(self) -> None:
        """End the copies to ClickHouse."""
        for sink in self.sinks:
            await self._foundation.supervisor.finish(sink.name, 0)
        for sender in self._senders:
            await sender.close()

    def periodic_tasks(self) -> tuple[PeriodicTask, ...]:
        """Return the repeated work of the history."""
        return (
            PeriodicTask(
                "history-roll-up",
                _ROLL_UP_SECONDS,
                self._retention.roll_up,
                "rolls up the counts of evaluations",
                by_one_worker=True,
            ),
            PeriodicTask("history-purge", _PURGE_SECONDS, self._purge, "deletes old evaluations", by_one_worker=True),
            PeriodicTask(
                "clock",
                EVERY_SECONDS,
                self.passed_time.look,
                "compares the clock with the time that has passed",
                by_one_worker=True,
            ),
            # Without a purpose: an instance whose file stays large is ready.
            PeriodicTask("history-space", SPACE_SECONDS, self._free_space.give_back, by_one_worker=True),
            PeriodicTask("disk", LOOK_SECONDS, self.disk.look, "measures the free space of the data directory"),
        )

    def export_metrics(self, metrics: Metrics) -> None:
        """Export the figures of the history."""
        self.recorder.export_metrics(metrics, "history")
        self.event_recorder.export_metrics(metrics, "events")
        for each in (
            self._retention,
            self._event_retention,
            self._free_space,
            self.events,
            self.passed_time,
            self.disk,
        ):
            each.export_metrics(metrics)
        for sink in self.sinks:
            sink.export_metrics(metrics)

    async def _purge(self) -> None:
        await self._retention.purge()
        await self._reports.purge(self.passed_time.now())

    def _make_sinks(self) -> Iterator[Sink[ExportBatch]]:
        """The copiers of evaluations, and of events if they have a table."""
        settings = self._foundation.settings
        if settings.clickhouse_url is None:
            return
        from flagstaff.history.clickhouse.client import ClickHouse  # noqa: PLC0415 -- only where the settings ask
        from flagstaff.history.clickhouse.rows import encode_events  # noqa: PLC0415 -- as above
        from flagstaff.history.clickhouse.table import EVENT_TABLE  # noqa: PLC0415 -- as above

        url = settings.clickhouse_url
        yield self._make_sink(Sender(ClickHouse(url, settings.clickhouse_table)), EVALUATIONS, _SINK, "evaluations")
        if settings.clickhouse_events_table is not None:
            sender = Sender(ClickHouse(url, settings.clickhouse_events_table, EVENT_TABLE), encode_events)
            yield self._make_sink(sender, EVENTS, f"{_SINK}_events", "events")

    def _make_sink(self, sender: Sender, records: Records, name: str, what: str) -> Sink[ExportBatch]:
        database = self._foundation.database
        batches = ExportBatches(database, self._foundation.now, database.instance, records=records)
        self._senders.append(sender)

        async def send(batch: ExportBatch) -> None:
            await sender.send(batch.block.token, [(each.place, each.segments) for each in batch.parts])

        return Sink(next_block=batches.next, send=send, record_sent=batches.record_sent, name=name, what=what)


def build_history(foundation: Foundation, reports: ApplicationReports) -> EvaluationHistory:
    """The history of evaluations."""
    history = EvaluationHistory(foundation, reports)
    foundation.services += [
        history.service,
    ]
    foundation.periodic_tasks += history.periodic_tasks()
    history.export_metrics(foundation.metrics)
    return history


def _spool_folder(foundation: Foundation, name: str) -> Path:
    folder = foundation.settings.data_dir / name
    return folder if foundation.worker is None else spool_folder(folder, foundation.worker.slot)
