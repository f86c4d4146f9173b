"""The composition root: builds everything from the settings, wires it, starts it and closes it."""

import asyncio
import math
import os
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

import httpx
import structlog

from flagstaff import __version__
from flagstaff.applications.applications_service import ApplicationReports
from flagstaff.applications.exports_service import Exports
from flagstaff.applications.local_flags import LocalFlagsCache
from flagstaff.applications.local_flags_service import LocalFlagsSource
from flagstaff.applications.reports_collector import Applications, Noted
from flagstaff.assembly.app import Protocols, create_app, find_route
from flagstaff.assembly.health import Shared
from flagstaff.audit.changes import Committed
from flagstaff.audit.changes_service import Changes
from flagstaff.audit.events_routes import CHECKED_SECONDS, Events
from flagstaff.audit.followers_service import Followers
from flagstaff.audit.propagation import Propagation, changed_places
from flagstaff.cluster.instance_reports_store import Reporting
from flagstaff.cluster.instances import LeaseState, ListedInstance, Load, Report
from flagstaff.cluster.instances_service import ServingInstances, read_newest_change
from flagstaff.cluster.instances_store import CONFIRM_SECONDS, Feed, Instances, Serving
from flagstaff.cluster.lease import Lease
from flagstaff.cluster.leases_store import Member
from flagstaff.cluster.notifications import Notifications
from flagstaff.cluster.worker import Worker
from flagstaff.cluster.worker_feed import WorkerFeed, worker_name
from flagstaff.concurrency.supervisor import Supervisor
from flagstaff.copying.clones_service import Clones
from flagstaff.copying.comparisons_service import Comparisons
from flagstaff.copying.copies_service import Copies
from flagstaff.copying.restores_service import Restores
from flagstaff.database.data_directory import DataDirectory
from flagstaff.database.database import Database
from flagstaff.database.migrate import migrate
from flagstaff.database.readiness import Readiness
from flagstaff.database.revisions_service import load_revisions
from flagstaff.database.schema_state import is_supported, require_encoding_of
from flagstaff.database.sqlite_files import inspect_files
from flagstaff.database.traced_database import TracedDatabase
from flagstaff.evaluation.snapshot import ProjectSnapshot
from flagstaff.flags.bulk_actions_service import BulkActions
from flagstaff.flags.condition_work_service import ConditionWork
from flagstaff.flags.flags_service import Flags
from flagstaff.flags.project_flags_service import ProjectFlags
from flagstaff.flags.snapshots_service import SnapshotSource
from flagstaff.flags.targeting.rules_service import Rules
from flagstaff.flags.targeting.segments_service import Segments
from flagstaff.flags.work_budgets import WorkBudgets
from flagstaff.history.clickhouse.client import ClickHouse
from flagstaff.history.clickhouse.sender import Sender
from flagstaff.history.export_batches import Deliveries, Delivery
from flagstaff.history.history_service import History
from flagstaff.history.passed_time import EVERY_SECONDS, PassedTime
from flagstaff.history.recorder import Recorder
from flagstaff.history.retention import HistoryUpkeep
from flagstaff.history.sink import Sink
from flagstaff.history.spool import MAX_BYTES, Spool, gather_spools, spool_folder
from flagstaff.history.store.reports import CountsBound
from flagstaff.history.user_history_service import UserHistory
from flagstaff.http.acceptor import Acceptor
from flagstaff.http.connection_bounds import ConnectionBounds
from flagstaff.http.cors import CrossOrigin
from flagstaff.http.draining import Draining
from flagstaff.http.limits import Limits, NetworkWindows
from flagstaff.http.middleware import RequestIds
from flagstaff.http.probes import Probes
from flagstaff.http.protocol import BoundedProtocol
from flagstaff.http.rejections import Refusals
from flagstaff.http.services import Services
from flagstaff.http.traced import Traced
from flagstaff.identity.access_tokens.access_tokens_service import AccessTokens
from flagstaff.identity.accounts.accounts_service import Accounts
from flagstaff.identity.accounts.confirmations import Confirmations
from flagstaff.identity.accounts.passwords import Passwords
from flagstaff.identity.accounts.trusted_addresses import KnownClients
from flagstaff.identity.administration.administrators_service import Administrators
from flagstaff.identity.administration.instance_service import Instance
from flagstaff.identity.second_factors.passkeys import site_of
from flagstaff.identity.second_factors.passkeys_service import Passkeys
from flagstaff.identity.second_factors.sealing import Sealer
from flagstaff.identity.second_factors.second_factors_service import SecondFactors
from flagstaff.identity.sessions.sessions_service import Sessions
from flagstaff.identity.sessions.tokens import Tokens
from flagstaff.identity.single_sign_on.identities import CALLBACK_PATH
from flagstaff.identity.single_sign_on.oidc import ProviderClient
from flagstaff.identity.single_sign_on.single_sign_on_service import SingleSignOn
from flagstaff.insight.cleanup_service import Cleanup
from flagstaff.insight.explanations_service import Explanations
from flagstaff.insight.impacts_service import Impacts
from flagstaff.insight.playground_service import Playground
from flagstaff.limits.exchange import Exchange
from flagstaff.limits.limiter import SlidingWindow
from flagstaff.limits.shared_limits import SharedLimits
from flagstaff.limits.valkey import ValkeyExchange
from flagstaff.machine.disk import LOOK_SECONDS, DiskWatch
from flagstaff.machine.load import LAG_BUCKETS, LoadMeter, memory_bytes
from flagstaff.mail.message import Mail, invitation, password_reset, token_created
from flagstaff.mail.outbox import Outbox
from flagstaff.mail.smtp import SmtpMailer
from flagstaff.projects.environments_service import Environments
from flagstaff.projects.idempotency_service import Idempotency
from flagstaff.projects.invitations_service import Invitations
from flagstaff.projects.members_service import Members
from flagstaff.projects.projects_service import Projects
from flagstaff.projects.sdk_keys_service import SdkKeys as ManagedKeys
from flagstaff.serving.access import Doors
from flagstaff.serving.current_snapshots import Snapshots
from flagstaff.serving.cut_off import CutOff
from flagstaff.serving.evaluate import Evaluate
from flagstaff.serving.evaluations import Evaluations
from flagstaff.serving.fast_path.endpoints import evaluate_way, ofrep_way
from flagstaff.serving.fast_path.lane import Lane, connection_class
from flagstaff.serving.fast_path.traced_lane import TracedLaneProtocol
from flagstaff.serving.idle_projects import SWEEPS, IdleProjects
from flagstaff.serving.known_sdk_keys import SdkKeys
from flagstaff.serving.ofrep.answers import Ofrep
from flagstaff.serving.ofrep.route import OfrepRoute
from flagstaff.serving.ofrep.streams import PATH as OFREP_STREAMS
from flagstaff.serving.ofrep.streams import OfrepStreamRoute
from flagstaff.serving.read_your_writes import ReadYourWrites
from flagstaff.serving.stream_tokens import StreamTokens
from flagstaff.serving.streams import Streams
from flagstaff.serving.translations import Translations
from flagstaff.serving.unleash.client import PREFIX as UNLEASH_PREFIX
from flagstaff.serving.unleash.client import ClientRoute
from flagstaff.serving.unleash.frontend import FrontendRoute
from flagstaff.serving.unleash.streaming import DELTA, STREAMING, StreamingRoute
from flagstaff.settings import RateLimit, Settings
from flagstaff.settings.providers import Provider
from flagstaff.telemetry import Metrics
from flagstaff.values.errors import Code, Error, unavailable
from flagstaff.values.quotas import (
    WorkQuota,
    condition_characters,
    environments_per_project,
    flags_per_environment,
    projects_per_account,
    rules_per_environment,
    rules_per_flag,
    sdk_keys_per_project,
    segments_per_project,
    tokens_per_account,
    tokens_per_project,
    variant_characters,
    views_per_project,
)
from flagstaff.views.favourites_service import Favourites
from flagstaff.views.saved_views_service import SavedViews

if TYPE_CHECKING:  # imported only if the settings ask for it
    from flagstaff.telemetry.otel.assembly import Telemetry
    from flagstaff.telemetry.otel.tracing import Tracing

log = structlog.get_logger(__name__)

_RETRY_SECONDS = 1.0
# How long a stop may take after the time allowed for running requests.
_DRAIN_SECONDS = 2.0
_FLUSH_SECONDS = 3.0
_CLOSE_SECONDS = 1.0
# How many addresses the limits remember; when all are full, they take about 80 MB.
_EVALUATE_KEYS, _ACCOUNT_KEYS = 200_000, 20_000
_SDK_KEYS = 20_000
# How often the history that is too old, or whose environment was deleted, and old idempotency keys are removed.
_PURGE_SECONDS = 60.0
# How often the counts of environments that change a lot are rolled up. Until then each change makes summaries slower.
_ROLL_UP_SECONDS = 5.0
# How often the last uses of credentials are written.
_LAST_SEEN_SECONDS = 60.0
# How often old records of accounts are removed: what has expired, and clients not seen for long.
_ACCOUNT_PURGE_SECONDS = 600.0
_FEED = "feed"
_SHARED_LIMITS = "shared-limits"
_RETRY, _ROLL_UP = "snapshot-retry", "history-roll-up"
_UNLOAD = "snapshot-unload"
_SINK = "clickhouse"
_TELEMETRY = ("otlp-traces", "otlp-metrics")
_FOLLOWERS = "followers-check"
_HISTORY_PURGE, _IDEMPOTENCY_PURGE, _ACCOUNT_PURGE = "history-purge", "idempotency-purge", "account-purge"
_LAST_SEEN, _CLOCK, _DISK = "last-seen", "clock", "disk"
_FIGURES = "worker-figures"
_FIGURES_SECONDS = 1.0
_OF_ONE_WORKER = (_ROLL_UP, _HISTORY_PURGE, _IDEMPOTENCY_PURGE, _ACCOUNT_PURGE, _CLOCK)
_PERIODIC = (_RETRY, _UNLOAD, _LAST_SEEN, _FIGURES, _FOLLOWERS, _DISK, *_OF_ONE_WORKER)
_SPOOL_FOLDER = "spool"
_OUTBOX_FOLDER = "outbox"


def utc_now() -> datetime:
    """The present moment, in UTC."""
    return datetime.now(UTC)


class Flagstaff:
    """The whole service. `asgi` answers requests between `start` and `stop`; uvicorn's `http` is `connection_class`."""

    _clickhouse: Sender | None = None

    def __init__(
        self,
        settings: Settings,
        *,
        now: Callable[[], datetime] = utc_now,
        passwords: Passwords | None = None,
        confirm_seconds: float = CONFIRM_SECONDS,
        worker: Worker | None = None,
        telemetry: "Telemetry | None" = None,
    ) -> None:
        """Wire everything. Only the data directory and its secret key are opened here.

        `confirm_seconds` is how long a change waits for the other instances. `passwords`, if given, is not closed by
        `stop`. A `worker` serves beside others from the same data directory, which their parent has prepared.
        `telemetry` makes and sends traces and metrics for OpenTelemetry.

        Raises:
            Error: UNAVAILABLE when the data directory cannot be used.
        """
        self._settings, self._worker, self._telemetry = settings, worker, telemetry
        self._directory = DataDirectory(settings.data_dir)
        self._directory.prepare()
        self.database = _database(settings, self._tracing)
        self.metrics = Metrics(worker.board, worker.slot) if worker else Metrics()
        self._supervisor = Supervisor()
        self._passwords, self._owns_passwords = passwords or Passwords(), passwords is None
        self._send_mail = _mailer(settings, self._tracing)
        source = SnapshotSource(self.database)
        self.snapshots = Snapshots(
            load_project=source.load_project,
            load_environment=source.load_environment,
            load_key_hashes=source.load_key_hashes,
            load_revisions=partial(load_revisions, self.database),
            supervisor=self._supervisor,
        )
        self.sdk_keys = SdkKeys(
            self.snapshots,
            load=source.load_sdk_keys,
            is_following=self._is_following,
            now=now,
            limiter=(sdk_key_limit := _window(settings.sdk_key_rate_limit, _SDK_KEYS)),
        )
        self.local_flags = LocalFlagsCache(LocalFlagsSource(self.database).load, self._supervisor)
        self.database.announce_to(self._announce)
        self.lease = Lease()
        self._load = LoadMeter(
            count_evaluations=lambda: sum(self.metrics.evaluate_responses.values()),
            observe_lag=self.metrics.add_histogram(
                "event_loop_lag_seconds", "How late a timer of the event loop was.", LAG_BUCKETS
            ),
        )
        self._started_at = utc_now()
        self._instances = self._make_instances(settings.database_url, confirm_seconds)
        self._propagation = Propagation(
            refresh=self.snapshots.refresh, catch_up=self.snapshots.catch_up, others=self._instances
        )
        self._history, self._idempotency = History(self.database, now), Idempotency(self.database, now)
        self._recorder = Recorder(
            write=self._history.record,
            spool=_spool(settings, worker),
            supervisor=self._supervisor,
            has_all=settings.history_attributes == "all",
        )
        retention = timedelta(days=settings.history_retention_days)
        self._reports = ApplicationReports(
            self.database, now, retention, CountsBound(settings.max_reported_counts_per_hour)
        )
        self.applications = Applications(self._store_reports, self._supervisor, now)
        (self.streams, self._events), self.sink = self._make_streams(now), self._make_sink(now)
        self.idle_projects = self._make_idle_projects(source)
        self.disk, self.passed_time, self._upkeep = _watches(self.database, now, settings)
        self.connection_bounds = ConnectionBounds(
            most=_share(settings.max_connections, worker),
            most_per_address=_share(settings.max_connections_per_address, worker),
            trusted_proxies=settings.trusted_proxies,
        )
        limits = Limits(
            evaluate=_window(settings.evaluate_rate_limit, _EVALUATE_KEYS),
            browser=_window(settings.browser_rate_limit, _EVALUATE_KEYS),
            report=_window(settings.report_rate_limit, _SDK_KEYS),
            register=_network_windows(settings.register_rate_limit),
            login=_network_windows(settings.login_rate_limit),
            login_failures=_window(settings.login_failure_rate_limit, _ACCOUNT_KEYS),
            account_failures=_window(settings.account_failure_rate_limit, _ACCOUNT_KEYS),
            reset=_network_windows(settings.reset_rate_limit),
            api=_window(settings.api_rate_limit, _ACCOUNT_KEYS),
            trusted_proxies=settings.trusted_proxies,
        )
        secret_key = settings.secret_key or self._directory.secret_key()
        self.shared_limits = _shared_limits(settings, limits, sdk_key_limit, secret_key, worker)
        self._export_figures()
        tokens = Tokens(secret_key)
        self.sessions = Sessions(self.database, now, tokens)
        self.accounts = Accounts(
            self.database,
            now,
            self._passwords,
            self.sessions,
            self._mail_reset_token,
            accepts_common_passwords=settings.accepts_common_passwords,
        )
        self.administrators = Administrators(self.database, now)
        self._managed_keys = ManagedKeys(self.database, now, sdk_keys_per_project(settings.max_sdk_keys_per_project))
        self.exports = Exports(self.database)
        self.access_tokens = AccessTokens(
            self.database,
            now,
            self._mail_token_created,
            tokens_per_account(settings.max_tokens_per_account),
            tokens_per_project(settings.max_tokens_per_project),
        )
        confirmations = Confirmations(self.database, now, self._passwords, Sealer(secret_key))
        passkeys = Passkeys(self.database, now, confirmations, site_of(settings.public_url))
        self.second_factors = SecondFactors(self.database, now, confirmations, tokens, Sealer(secret_key), passkeys)
        self._http = _provider_http(settings.oidc_providers, self._tracing)
        self.instance = Instance(
            self.database, now, settings.registration, settings.demand_second_factor, settings.quotas()
        )
        self.single_sign_on = SingleSignOn(
            self.database,
            now,
            self._passwords,
            self._make_provider_clients(now),
            self.instance,
            settings.public_url,
        )
        quota_of_projects = projects_per_account(settings.max_projects_per_account)
        flags, rules, segments = _create_flag_services(self.database, now, settings)
        environments = Environments(self.database, now, environments_per_project(settings.max_environments_per_project))
        services = Services(
            self.accounts,
            self.sessions,
            self.access_tokens,
            confirmations,
            self.second_factors,
            passkeys,
            self.single_sign_on,
            KnownClients(self.database, now, tokens),
            Projects(self.database, now, quota_of_projects),
            Members(self.database, now, quota_of_projects),
            self.administrators,
            self.exports,
            Invitations(self.database, now, self._mail_invitation),
            environments,
            Cleanup(self.database, now, timedelta(days=settings.history_retention_days)),
            Clones(self.database, now, environments, flags, rules),
            Comparisons(self.database),
            Copies(self.database, now, flags, rules),
            BulkActions(self.database, now),
            Favourites(self.database, now),
            ConditionWork(self.database, flags.work.quota),
            SavedViews(self.database, now, views_per_project(settings.max_views_per_project)),
            self._events,
            segments,
            self._managed_keys,
            flags,
            ProjectFlags(self.database),
            rules,
            Restores(self.database, now, flags, rules, segments),
            Explanations(self.database, now, flags.work),
            Playground(self.database, now),
            Changes(self.database, now),
            self._history,
            UserHistory(self.database),
            Impacts(self.database, now, flags.work),
            self._reports,
            self._idempotency,
            self._supervisor,
            self.instance,
            ServingInstances(self.database, now, self._list_instances),
            limits,
            self.metrics,
            Probes(
                self._require_staying,
                Shared(Readiness(self.database, self._answers_evaluations, self._problems).check),
                Shared(self._render_figures),
            ),
        )
        self._make_ways_in(services, now, StreamTokens(secret_key, now))

    async def start(self) -> None:
        """Lock the data directory, migrate the database, and load what the hot path needs.

        A worker only loads.

        Raises:
            Error: CONFLICT when another server uses the directory or a newer version has migrated the database;
                UNAVAILABLE when the database cannot be reached.
        """
        if self._worker is None:
            self._directory.lock()
            self._directory.warn_if_open()
            await _migrate_unless_supported(self.database, self._settings)
            _gather_spools(self._settings, workers=1)
        self.database.note_files()
        await self.sdk_keys.start()
        if self._instances:
            purpose = "applies the changes of other instances"
            self._supervisor.run(_FEED, self._instances.follow, purpose=purpose, is_working=self._is_following)
            await self._instances.wait_until_connected()
        if self._telemetry:  # without a purpose: an instance of which its receiver hears nothing is ready
            for name, send, is_working in self._telemetry.senders(self.metrics):
                self._supervisor.run(name, send, is_working=is_working)
        if sink := self.sink:  # without a purpose: evaluations wait in the history
            self._supervisor.run(_SINK, sink.run, is_working=lambda: sink.is_working)
        if self.shared_limits:  # without a purpose: an instance that limits alone is ready
            limits = self.shared_limits
            self._supervisor.run(_SHARED_LIMITS, limits.run, is_working=lambda: limits.is_joined)
        await self._upkeep.remove_bound()  # before batches that it could refuse
        if self._does_upkeep():
            with suppress(Error):  # such as of a full disk; it is tried again
                await self.passed_time.look()
        await self._recorder.start()
        self.streams.start()
        self.applications.start()
        self._load.start()
        self._start_periodic_tasks()

    def begin_drain(self) -> None:
        """Go on serving, but end each connection with its next response, and be not ready."""
        self.asgi.has_begun = True
        self._lane.close()

    async def stop(self) -> None:
        """Finish running work within a few seconds, and close everything."""
        self._load.stop()
        await self.streams.stop()
        if self._telemetry:
            self._telemetry.end()
        await asyncio.gather(
            self._supervisor.drain(_DRAIN_SECONDS),
            *(self._supervisor.finish(name, _DRAIN_SECONDS) for name in _TELEMETRY),
            *(self._supervisor.finish(name, _DRAIN_SECONDS) for name in _PERIODIC),
            self._recorder.stop(_FLUSH_SECONDS),
            self.applications.stop(_DRAIN_SECONDS),
        )
        if self._telemetry:
            self._telemetry.close()
        if self._instances:
            self.lease.end()
            await self._instances.leave()
        await self._supervisor.finish(_FEED, 0)
        await self._supervisor.finish(_SHARED_LIMITS, 0)
        await self._supervisor.finish(_SINK, 0)
        if self._clickhouse:
            await self._clickhouse.close()
        if self.shared_limits:
            await self.shared_limits.close()
        await self._supervisor.drain(0)
        if self._owns_passwords:
            self._passwords.close()
        if self._http is not None:
            await self._http.aclose()
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):  # a database that hangs would delay the stop for minutes
                await self.database.close()
        self._directory.unlock()

    @property
    def _tracing(self) -> "Tracing | None":
        return self._telemetry.tracing if self._telemetry else None

    def _make_ways_in(self, services: Services, now: Callable[[], datetime], stream_tokens: StreamTokens) -> None:
        """What answers requests: the application, and the lane in front of it."""
        evaluations = Evaluations(
            recorder=self._recorder,
            now=now,
            note_asked=self.applications.note_asked,
            keep=self._settings.history_attributes,
        )
        evaluate = Evaluate(sdk_keys=self.sdk_keys, limiter=services[Limits].evaluate, evaluations=evaluations)
        request_ids = RequestIds()
        cross_origin = CrossOrigin(self._settings.cors_origins)
        refuses = self._settings.when_cut_off == "refuse"
        translations = Translations(self._supervisor)
        read_your_writes = ReadYourWrites(self.snapshots, self._supervisor)
        doors = Doors(self.sdk_keys.find, services[Limits])
        ofrep = Ofrep(self.sdk_keys, doors, evaluations, translations, read_your_writes)
        streaming = StreamingRoute(doors, self.local_flags, self.streams, self.applications)
        protocols: Protocols = {  # longer ones come first
            OFREP_STREAMS: OfrepStreamRoute(self.sdk_keys, doors, stream_tokens, self.streams),
            "/ofrep/": OfrepRoute(ofrep, stream_tokens),
            "/unleash/api/frontend": FrontendRoute(doors, evaluations, translations),
            STREAMING: streaming,
            DELTA: streaming,
            UNLEASH_PREFIX: ClientRoute(doors, self.local_flags, self.applications),
        }
        app = create_app(
            services,
            evaluate,
            protocols,
            read_your_writes=read_your_writes,
            cut_off=partial(CutOff, lease=self.lease, refuses=refuses),
            request_ids=request_ids,
            cross_origin=cross_origin,
            access_log=self._settings.access_log,
        )
        self.asgi = Draining(app if self._tracing is None else Traced(app, self._tracing, find_route))
        ways = evaluate_way(evaluate), ofrep_way(ofrep, doors)
        self._lane = lane = Lane(
            ways,
            limits=services[Limits],
            lease=self.lease,
            refuses_when_cut_off=refuses,
            request_ids=request_ids,
            cross_origin=cross_origin,
            metrics=self.metrics,
        )
        self.refusals = Refusals(request_ids, services[Limits], self.metrics)
        used = lane if self._settings.evaluate_lane else None
        if self._tracing is None:
            self.connection_class = connection_class(self.refusals, used)
        else:
            self.connection_class = connection_class(self.refusals, used, TracedLaneProtocol, tracing=self._tracing)

    def make_acceptor(self, listener: socket.socket, make_protocol: Callable[[], BoundedProtocol]) -> Acceptor:
        """What accepts the connections of a listening socket."""
        return Acceptor(
            listener,
            make_protocol,
            bounds=self.connection_bounds,
            refusals=self.refusals,
            supervisor=self._supervisor,
        )

    def _make_streams(self, now: Callable[[], datetime]) -> tuple[Streams, Events]:
        most = _share(self._settings.max_connections, self._worker) // 2  # the others answer requests
        streams = Streams(self._supervisor, now, note_told=self.applications.note_stream, most=most)
        self.snapshots.observe(streams.swap)
        return streams, Events(self.snapshots, streams, Followers(self.database, now), now)

    def _make_sink(self, now: Callable[[], datetime]) -> Sink[Delivery] | None:
        url = self._settings.clickhouse_url
        if url is None:
            return None
        deliveries = Deliveries(self.database, now, self.database.instance)
        self._clickhouse = sender = Sender(ClickHouse(url, self._settings.clickhouse_table))

        async def send(delivery: Delivery) -> None:
            parts = [(each.project_id, each.environment_id, each.environment, each.segments) for each in delivery.parts]
            await sender.send(delivery.block.token, parts)

        return Sink(next_block=deliveries.next, send=send, note_sent=deliveries.note_sent)

    def _make_idle_projects(self, source: SnapshotSource) -> IdleProjects:
        def forget(project: ProjectSnapshot) -> None:
            source.forget(project)
            self.local_flags.forget(project)

        return IdleProjects(
            self.snapshots,
            self.sdk_keys,
            has_streams=self.streams.has_streams,
            may_unload=self._is_following,
            forget=forget,
        )

    def _make_instances(self, url: str | None, confirm_seconds: float) -> Instances | None:
        name = instance_name(self._settings)
        feed = self._make_feed(url, name)
        if feed is None:
            return None
        self.lease.end()
        own_name = worker_name(name, self._worker.slot) if self._worker else name
        return Instances(
            feed,
            Member(self.database.instance, own_name, __version__),
            Serving(
                self.snapshots.begin_refresh,
                self.sdk_keys.refresh_all,
                self.snapshots.is_served,
                is_stale=lambda: bool(self.snapshots.stale),
                is_loading=lambda: bool(self.snapshots.loading()),
            ),
            extend_lease=self.lease.extend,
            reporting=Reporting(self._describe, partial(read_newest_change, self.database)),
            reach=self.database.reach,
            start_task=self._supervisor.start,
            confirm_seconds=confirm_seconds,
        )

    def _make_feed(self, url: str | None, name: str) -> Feed | None:
        if url is not None:
            return Notifications(url, self.database.instance)
        if self._worker is not None:
            member = Member(self.database.instance, name, __version__)
            return WorkerFeed(self._worker.parent, self._worker.board, self._worker.slot, member)
        return None

    def _describe(self, change: int | None) -> Report:
        load = Load(*self._load.rates, self.connection_bounds.open, len(self.streams), memory_bytes())
        workers = self._worker.board.count if self._worker else 1
        return Report(self._started_at, workers, self.asgi.has_begun, change, load)

    async def _list_instances(self) -> list[ListedInstance]:
        if self._instances:
            return await self._instances.list_instances()
        # With one process, changes are served before their responses are sent.
        report = self._describe(None if self.snapshots.stale else await read_newest_change(self.database))
        name = instance_name(self._settings)
        return [
            ListedInstance(self.database.instance, name, __version__, report.started_at, LeaseState.NONE, None, report)
        ]

    def _is_following(self) -> bool:
        return self._instances is None or (self._instances.is_connected() and not self.lease.has_lapsed())

    def _announce(self, committed: Committed) -> Awaitable[None]:
        if self._instances and not self.database.is_postgresql:  # which tells them in the transaction
            self._supervisor.start("tell", self._instances.tell(changed_places(committed.changes)))
        return self._supervisor.spawn("announcement", self._propagation.propagate(committed))

    async def _mail_reset_token(self, email: str, token: str) -> None:
        await self._mail(password_reset, email, token=token)

    async def _mail_invitation(self, email: str, token: str) -> None:
        await self._mail(invitation, email, token=token)

    async def _mail_token_created(self, email: str, page: str) -> None:
        await self._mail(token_created, email, page=page)

    async def _mail(self, write: Callable[..., Mail], email: str, **values: str) -> None:
        try:
            mail = write(
                sender=self._settings.mail_from,
                recipient=email,
                public_url=self._settings.public_url,
                sent_at=utc_now(),
                **values,
            )
        except ValueError as error:
            log.error("mail_not_sent", error=str(error))  # noqa: TRY400 - the account's address is to blame, no code
        else:
            await self._send_mail(mail)

    def _start_periodic_tasks(self) -> None:
        if self._worker:
            self._supervisor.run_every(
                _FIGURES, _FIGURES_SECONDS, self._publish_figures, purpose="tells the other workers this one's metrics"
            )
        if self._settings.unload_after_seconds:
            every_seconds = self._settings.unload_after_seconds / SWEEPS
            self._supervisor.run_every(_UNLOAD, every_seconds, self.idle_projects.sweep)
        for name, every_seconds, work, purpose in (
            (_RETRY, _RETRY_SECONDS, self.snapshots.retry, "loads stale projects again"),
            (_ROLL_UP, _ROLL_UP_SECONDS, self._upkeep.roll_up, "rolls up the counts of evaluations"),
            (_HISTORY_PURGE, _PURGE_SECONDS, self._purge_history, "deletes old evaluations"),
            (_IDEMPOTENCY_PURGE, _PURGE_SECONDS, self._purge_idempotency, "deletes expired idempotency keys"),
            (_CLOCK, EVERY_SECONDS, self.passed_time.look, "compares the clock with the time that passes"),
            (_DISK, LOOK_SECONDS, self.disk.look, "measures the free space of the data directory"),
            (
                _LAST_SEEN,
                _LAST_SEEN_SECONDS,
                self._write_last_uses,
                "writes when credentials were last used",
            ),
            (
                _FOLLOWERS,
                CHECKED_SECONDS,
                self._events.end_others,
                "ends the event streams of those who may not follow",
            ),
            (_ACCOUNT_PURGE, _ACCOUNT_PURGE_SECONDS, self._purge_accounts, "deletes what has expired of accounts"),
        ):
            if name not in _OF_ONE_WORKER or self._does_upkeep():
                self._supervisor.run_every(name, every_seconds, work, purpose=purpose)

    def _does_upkeep(self) -> bool:
        return self._worker is None or self._worker.is_first

    async def _publish_figures(self) -> None:
        self.metrics.publish()

    async def _store_reports(self, noted: Noted) -> int:
        return await self._reports.store(noted.connections, noted.reports, noted.asked)

    async def _purge_history(self) -> None:
        await self._upkeep.purge()
        await self._reports.purge(self.passed_time.now())

    async def _purge_idempotency(self) -> None:
        await self._idempotency.purge(self.passed_time.now())

    async def _write_last_uses(self) -> None:
        await self.sessions.write_last_seen()
        await self.access_tokens.write_last_used()
        await self._managed_keys.write_last_used(self.sdk_keys.take_used())

    def _make_provider_clients(self, now: Callable[[], datetime]) -> dict[str, ProviderClient]:
        redirect_uri = f"{self._settings.public_url}{CALLBACK_PATH}"
        return {
            each.key: ProviderClient(each, redirect_uri=redirect_uri, now=now, http=self._http)
            for each in self._settings.oidc_providers
            if self._http is not None
        }

    async def _purge_accounts(self) -> None:
        now = self.passed_time.now()
        await self.single_sign_on.purge(now)
        await self.accounts.purge(now)
        await self.second_factors.purge(now)

    def _export_figures(self) -> None:
        recorder, upkeep, bounds, export = self._recorder, self._upkeep, self.connection_bounds, self.metrics
        export.add_counter("history_written", "Evaluations written to the history.", lambda: recorder.written)
        export.add_counter("history_dropped", "Evaluations that were not recorded.", lambda: recorder.dropped)
        export.add_gauge("history_waiting", "Evaluations that are not in the history yet.", lambda: recorder.waiting)
        export.add_counter("history_deleted", "Evaluations deleted at the maximum size.", lambda: upkeep.deleted)
        export.add_gauge("history_bytes", "The size of the history, roughly.", lambda: upkeep.bytes, max)
        health = self.database.health
        export.add_labelled_gauge(
            "store_up", "Whether the store is there and undamaged: 1 or 0.", "store", lambda: health.up, min
        )
        export.add_gauge(
            "writes_refused",
            "Whether the database refused the last write: 1 or 0.",
            lambda: health.is_refusing_writes,
            max,
        )
        passed, watch = self.passed_time, self.disk
        export.add_gauge("disk_free_bytes", "Free space for the data directory.", lambda: watch.free_bytes, min)
        export.add_gauge("clock_leap_seconds", "How far the clock is ahead.", lambda: passed.leap_seconds, _furthest)
        export.add_gauge("connections", "Open connections.", lambda: bounds.open)
        export.add_counter("connections_refused", "Connections refused at a limit.", lambda: bounds.refused)
        export.add_gauge("cut_off", "Whether changes may have been missed: 1 or 0.", self.lease.has_lapsed, max)
        export.add_counter(
            "cut_off_seconds", "For how long changes may have been missed.", self.lease.cut_off_seconds, max
        )
        if instances := self._instances:
            export.add_labelled_gauge(
                "instances", "Instances by the state of their lease.", "lease", instances.count_instances, max
            )
        export.add_gauge("snapshots", "Projects in memory.", lambda: len(self.snapshots.loaded))
        export.add_gauge("snapshots_stale", "Projects that could not be loaded.", lambda: len(self.snapshots.stale))
        idle = self.idle_projects
        export.add_counter("snapshots_unloaded", "Projects unloaded because nobody asked.", lambda: idle.unloaded)
        streams, applications = self.streams, self.applications
        export.add_gauge("streams", "Open streams of changes.", lambda: len(streams))
        export.add_counter(
            "streams_dropped", "Streams closed because clients read too slowly.", lambda: streams.dropped
        )
        export.add_counter("streams_refused", "Streams refused because too many were open.", lambda: streams.refused)
        export.add_counter("reports_dropped", "Reported counts that were not stored.", lambda: applications.dropped)
        if sink := self.sink:
            export.add_counter("clickhouse_sent", "Evaluations copied to ClickHouse.", lambda: sink.sent)
            export.add_counter("clickhouse_failures", "Attempts to copy that failed.", lambda: sink.failures)
            export.add_gauge("clickhouse_lag_seconds", "The age of what is being copied.", sink.lag_seconds, max)
        if telemetry := self._telemetry:
            export.add_counter(
                "otlp_spans_sent", "Spans that OpenTelemetry's receiver has accepted.", lambda: telemetry.sent
            )
            export.add_counter("otlp_spans_dropped", "Spans that were not sent.", lambda: telemetry.dropped)
            export.add_labelled_counter(
                "otlp_failures", "What the receiver did not accept.", "signal", telemetry.count_failures
            )
        if limits := self.shared_limits:
            export.add_gauge("limits_instances", "Instances that share the limits.", lambda: limits.participants, min)
            export.add_gauge("limits_waiting", "Changed keys that were not exchanged yet.", lambda: limits.waiting)
            export.add_counter("limits_exchanges", "Exchanges of limits.", lambda: limits.exchanges)
            export.add_counter("limits_failures", "Exchanges of limits that failed.", lambda: limits.failures)
        passwords, tasks = self._passwords, self._supervisor
        export.add_counter("password_restarts", "Replacements of the password process.", lambda: passwords.restarts)
        export.add_labelled_gauge("task_up", "Whether a task works: 1 or 0.", "task", lambda: tasks.up, min)
        export.add_labelled_counter("task_restarts", "Restarts of a task.", "task", lambda: tasks.restarts)
        if self._worker:
            board = self._worker.board
            export.add_gauge("workers", "Workers that serve.", lambda: len(board.serving), max)
            export.add_counter("worker_restarts", "Replacements of workers.", lambda: board.restarts, max)

    async def _render_figures(self) -> tuple[bytes, str]:
        return self.metrics.render()

    def _require_staying(self) -> None:
        if self.asgi.has_begun:
            raise unavailable("The server is stopping.")

    def _answers_evaluations(self) -> bool:
        return not (self._settings.when_cut_off == "refuse" and self.lease.has_lapsed())

    def _problems(self) -> list[str]:
        workers = self._worker.board.problems() if self._worker else []
        return [*self._supervisor.problems(), *self.snapshots.problems(), *workers]


def instance_name(settings: Settings) -> str:
    """What this instance is called where the instances are named."""
    return settings.instance_name or f"{socket.gethostname()}:{settings.port or os.getpid()}"


async def prepare(settings: Settings, workers: int) -> None:
    """Migrate the database, and collect the evaluations that former workers have left. Nothing may be serving.

    Raises:
        Error: what `migrate` raises.
    """
    database = Database(settings.database_url, settings.data_dir)
    try:
        await _migrate_unless_supported(database, settings)
    finally:
        await database.close()
    _gather_spools(settings, workers)


async def _migrate_unless_supported(database: Database, settings: Settings) -> None:
    """Migrate a database unless it can be served as it is, even without its history."""
    _require_configuration(settings)
    await require_encoding_of(database)
    if not await is_supported(database):
        await database.close()  # no other connection may have the files open
        await _migrate(settings)


def _require_configuration(settings: Settings) -> None:
    if settings.database_url is None:
        inspect_files(settings.data_dir).require_configuration()


async def _migrate(settings: Settings) -> None:
    done = await migrate(settings.database_url, settings.data_dir)
    if done:
        log.info("migrated", revision=done[-1], migrations=len(done))


def _gather_spools(settings: Settings, workers: int) -> None:
    try:
        gather_spools(settings.data_dir / _SPOOL_FOLDER, workers)
    except OSError as error:
        log.warning("spool_failed", error=str(error))


@asynccontextmanager
async def open_service(settings: Settings) -> AsyncIterator[Flagstaff]:
    """The service for the command line, not started, whether or not a server is running.

    Raises:
        Error: CONFLICT when the database is not at this version's revision and cannot be migrated because a server may
            be using it; UNAVAILABLE when the database cannot be reached.
    """
    flagstaff = Flagstaff(settings)
    try:
        _require_configuration(settings)
        if not await is_supported(flagstaff.database):
            await flagstaff.database.close()  # no other connection may have the files open
            await _migrate_alone(settings)
        flagstaff.database.note_files()
        yield flagstaff
    finally:
        await flagstaff.stop()


async def _migrate_alone(settings: Settings) -> None:
    """Migrate if no server can be running; raises Error CONFLICT if one is or may be."""
    state = "The database is not at the revision of this version of Flagstaff."
    if settings.database_url is not None:
        raise Error(Code.CONFLICT, f"{state} Stop every instance, then run: flagstaff migrate")
    directory = DataDirectory(settings.data_dir)
    try:
        directory.lock()
    except Error as error:
        raise Error(error.code, f"{state} {error.message}") from error
    try:
        await migrate(None, settings.data_dir)
    finally:
        directory.unlock()


def _watches(
    database: Database, now: Callable[[], datetime], settings: Settings
) -> tuple[DiskWatch, PassedTime, HistoryUpkeep]:
    disk = DiskWatch(
        settings.data_dir,
        is_refusing_writes=lambda: database.health.is_refusing_writes,
        try_to_write=database.try_to_write,
    )
    passed_time = PassedTime(database, now)
    retention = timedelta(days=settings.history_retention_days)
    return (
        disk,
        passed_time,
        HistoryUpkeep(
            database,
            now,
            retention,
            settings.history_max_bytes,
            lambda: (disk.free_bytes, disk.total_bytes),
            passed=passed_time.now,
        ),
    )


def _database(settings: Settings, tracing: "Tracing | None") -> Database:
    if tracing is None:
        return Database(settings.database_url, settings.data_dir)
    return TracedDatabase(settings.database_url, settings.data_dir, tracing)


def _mailer(settings: Settings, tracing: "Tracing | None") -> Callable[[Mail], Awaitable[None]]:
    if settings.smtp is None:
        return Outbox(settings.data_dir / _OUTBOX_FOLDER).send
    send = SmtpMailer(settings.smtp).send
    if tracing is None:
        return send
    return tracing.call("send mail", {"server.address": settings.smtp.host, "server.port": settings.smtp.port}, send)


def _provider_http(providers: Sequence[Provider], tracing: "Tracing | None") -> httpx.AsyncClient | None:
    """The client for calls to identity providers, if there are any. It trusts the machine's certificates."""
    if not providers:
        return None
    verify = ssl.create_default_context()
    transport = None
    if tracing is not None:
        from flagstaff.telemetry.otel.outgoing import TracedTransport  # noqa: PLC0415

        transport = TracedTransport(tracing, verify=verify, trust_env=False)
    return httpx.AsyncClient(verify=verify, trust_env=False, follow_redirects=False, transport=transport)


def _spool(settings: Settings, worker: Worker | None) -> Spool:
    folder = settings.data_dir / _SPOOL_FOLDER
    if worker is None:
        return Spool(folder)
    return Spool(spool_folder(folder, worker.slot), max_bytes=_share(MAX_BYTES, worker))


def _share(bound: int, worker: Worker | None) -> int:
    """What of a bound on all workers is each one's."""
    return math.ceil(bound / worker.board.count) if worker else bound


def _furthest(one: float, other: float) -> float:
    return max(one, other, key=abs)


def _window(limit: RateLimit | None, capacity: int) -> SlidingWindow | None:
    return SlidingWindow(limit.count, limit.window_seconds, capacity=capacity) if limit else None


def _network_windows(limit: RateLimit | None) -> NetworkWindows | None:
    return NetworkWindows(limit.count, limit.window_seconds, capacity=_ACCOUNT_KEYS) if limit else None


def _shared_limits(
    settings: Settings,
    limits: Limits,
    sdk_key_limit: SlidingWindow | None,
    secret_key: str,
    worker: Worker | None,
) -> SharedLimits | None:
    """Limits are shared through Valkey, or with the other workers only; None without either."""
    exchange: Exchange
    if settings.valkey_url is not None:
        exchange = ValkeyExchange(settings.valkey_url, secret_key)
    elif worker is not None:
        exchange = worker.board.limits.exchange(worker.slot)
    else:
        return None
    windows = limits.shared() | ({} if sdk_key_limit is None else {"sdk_key": sdk_key_limit})
    return SharedLimits(windows, exchange, secret_key)


def _create_flag_services(
    database: Database, now: Callable[[], datetime], settings: Settings
) -> tuple[Flags, Rules, Segments]:
    quota_of_conditions = condition_characters(settings.max_condition_characters)
    work = WorkBudgets(WorkQuota(settings.max_condition_work))
    flags = Flags(
        database,
        now,
        flags_per_environment(settings.max_flags_per_environment),
        variant_characters(settings.max_variant_characters),
        work,
    )
    rules = Rules(
        database,
        now,
        rules_per_flag(settings.max_rules_per_flag),
        rules_per_environment(settings.max_rules_per_environment),
        quota_of_conditions,
        work,
    )
    segments_quota = segments_per_project(settings.max_segments_per_project)
    segments = Segments(database, now, segments_quota, quota_of_conditions, work)
    return flags, rules, segments
