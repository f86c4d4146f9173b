"""The composition root: builds everything from the settings, wires it, starts it and closes it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from uuid import UUID

import structlog

from flagstaff.domain.changes import Change
from flagstaff.domain.errors import unavailable
from flagstaff.mail.message import password_reset
from flagstaff.mail.outbox import Outbox
from flagstaff.mail.smtp import SmtpMailer
from flagstaff.runtime.background import Background
from flagstaff.runtime.limiter import SlidingWindow
from flagstaff.runtime.periodic import Periodic
from flagstaff.runtime.recorder import Recorder
from flagstaff.runtime.snapshots import Snapshots
from flagstaff.runtime.spool import Spool
from flagstaff.services.accounts import Accounts
from flagstaff.services.changes import Changes
from flagstaff.services.environments import Environments
from flagstaff.services.flags import Flags
from flagstaff.services.history import History
from flagstaff.services.known_clients import KnownClients
from flagstaff.services.passwords import Passwords
from flagstaff.services.projects import Projects
from flagstaff.services.rules import Rules
from flagstaff.services.snapshots import SnapshotSource
from flagstaff.services.tokens import Tokens
from flagstaff.settings import RateLimit, Settings
from flagstaff.storage.data_directory import DataDirectory
from flagstaff.storage.database import Database
from flagstaff.storage.feed import Feed
from flagstaff.storage.migrate import is_current, migrate
from flagstaff.telemetry import Metrics
from flagstaff.web.app import State, create_app
from flagstaff.web.edge.cors import CrossOrigin
from flagstaff.web.edge.limits import Limits, NetworkWindows
from flagstaff.web.edge.middleware import RequestIds
from flagstaff.web.sdk.evaluate import Evaluate
from flagstaff.web.sdk.lane import Lane, connection_class

log = structlog.get_logger(__name__)

_RETRY_SECONDS = 1.0
# What a stop may take, after the requests under way have had their time.
_DRAIN_SECONDS = 2.0
_FLUSH_SECONDS = 3.0
# How many addresses the limits remember; flooded all at once they take some 80 MB.
_EVALUATE_KEYS, _ACCOUNT_KEYS = 200_000, 20_000
# How soon the history of what was deleted goes, and of what has grown too old.
_PURGE_SECONDS = 60.0
_SPOOL_FOLDER = "spool"
_OUTBOX_FOLDER = "outbox"


def utc_now() -> datetime:
    """The present moment, in UTC."""
    return datetime.now(UTC)


class Flagstaff:
    """The whole service. `asgi` answers requests between `start` and `stop`; uvicorn's `http` is `connection_class`."""

    def __init__(
        self,
        settings: Settings,
        *,
        now: Callable[[], datetime] = utc_now,
        passwords: Passwords | None = None,
    ) -> None:
        """Wire everything; nothing is opened yet but the data directory and the secret key in it.

        `passwords`, if given, stays open at the stop.

        Raises:
            Error: UNAVAILABLE when the data directory cannot be used.
        """
        self._settings = settings
        self._directory = DataDirectory(settings.data_dir)
        self._directory.prepare()
        self.database = Database(settings.database_url, settings.data_dir)
        self.metrics = Metrics()
        self._background = Background()
        self._passwords, self._owns_passwords = passwords or Passwords(), passwords is None
        self._mailer = SmtpMailer(settings.smtp) if settings.smtp else Outbox(settings.data_dir / _OUTBOX_FOLDER)
        source = SnapshotSource(self.database)
        self.snapshots = Snapshots(
            load_sdk_keys=source.load_sdk_keys,
            load_project=source.load_project,
            load_environment=source.load_environment,
        )
        self.database.announce_to(self._refresh_snapshots)
        self._feed = self._make_feed(settings.database_url) if settings.database_url else None
        self._retry = Periodic("snapshot retry", _RETRY_SECONDS, self.snapshots.retry)
        self._history = History(self.database, now)
        self._recorder = Recorder(write=self._history.record, spool=Spool(settings.data_dir / _SPOOL_FOLDER))
        self._purge = Periodic("history purge", _PURGE_SECONDS, self._purge_history)
        self._export_figures()
        limits = Limits(
            evaluate=_window(settings.evaluate_rate_limit, _EVALUATE_KEYS),
            register=_network_windows(settings.register_rate_limit),
            login=_network_windows(settings.login_rate_limit),
            login_failures=_window(settings.login_failure_rate_limit, _ACCOUNT_KEYS),
            account_failures=_window(settings.account_failure_rate_limit, _ACCOUNT_KEYS),
            reset=_network_windows(settings.reset_rate_limit),
            trusted_proxies=settings.trusted_proxies,
        )
        tokens = Tokens(settings.secret_key or self._directory.secret_key())
        self.accounts = Accounts(self.database, now, self._passwords, tokens, self._mail_reset_token)
        state = State(
            accounts=self.accounts,
            known_clients=KnownClients(self.database, now, tokens),
            projects=Projects(self.database, now),
            environments=Environments(self.database, now),
            flags=Flags(self.database, now),
            rules=Rules(self.database, now),
            changes=Changes(self.database),
            history=self._history,
            background=self._background,
            registration=settings.registration,
            limits=limits,
            metrics=self.metrics,
            check_readiness=self._check_readiness,
        )
        evaluate = Evaluate(snapshots=self.snapshots, limiter=limits.evaluate, record=self._recorder.record)
        request_ids = RequestIds()
        cross_origin = CrossOrigin(settings.cors_origins)
        self.asgi = create_app(
            state, evaluate, request_ids=request_ids, cross_origin=cross_origin, access_log=settings.access_log
        )
        lane = Lane(evaluate, limits=limits, request_ids=request_ids, cross_origin=cross_origin, metrics=self.metrics)
        self.connection_class = connection_class(request_ids, lane if settings.evaluate_lane else None)

    async def start(self) -> None:
        """Take the data directory, migrate, load what the hot path needs.

        Raises:
            Error: CONFLICT when another server has the directory, or a newer version the database; UNAVAILABLE when
                the database cannot be reached.
        """
        self._directory.lock()
        self._directory.warn_if_open()
        for revision in await migrate(self._settings.database_url, self._settings.data_dir):
            log.info("migrated", revision=revision)
        await self.snapshots.start()
        if self._feed:
            await self._feed.start()
        await self._recorder.start()
        self._retry.start()
        self._purge.start()

    async def stop(self) -> None:
        """Finish what is under way, within a few seconds, and close everything."""
        await asyncio.gather(
            self._background.drain(_DRAIN_SECONDS),
            self._purge.stop(_DRAIN_SECONDS),
            self._retry.stop(_DRAIN_SECONDS),
        )
        await self._recorder.stop(_FLUSH_SECONDS)
        if self._feed:
            await self._feed.stop()
        if self._owns_passwords:
            self._passwords.close()
        await self.database.close()
        self._directory.unlock()

    def _make_feed(self, url: str) -> Feed:
        return Feed(url, self.database.instance, refresh=self.snapshots.refresh, refresh_all=self.snapshots.refresh_all)

    async def _refresh_snapshots(self, changes: Sequence[Change]) -> None:
        """Have every evaluation from now on see these changes, in every instance."""
        places: set[tuple[UUID, UUID | None]] = set()
        for change in changes:
            scope = change.scope
            if scope.project_id is not None:
                places.add((scope.project_id, scope.environment_id))
        whole = {project_id for project_id, environment_id in places if environment_id is None}
        await asyncio.gather(
            *(
                self.snapshots.refresh(project_id, environment_id)
                for project_id, environment_id in places
                if environment_id is None or project_id not in whole
            )
        )
        if self._feed and places:
            await self._feed.confirm()

    async def _mail_reset_token(self, email: str, token: str) -> None:
        try:
            mail = password_reset(
                sender=self._settings.mail_from,
                recipient=email,
                public_url=self._settings.public_url,
                token=token,
                sent_at=utc_now(),
            )
        except ValueError as error:
            log.error("mail_not_sent", error=str(error))  # noqa: TRY400 - the account's address is to blame, no code
        else:
            await self._mailer.send(mail)

    async def _purge_history(self) -> None:
        await self._history.purge(timedelta(days=self._settings.history_retention_days))

    def _export_figures(self) -> None:
        recorder, export = self._recorder, self.metrics
        export.add_counter("history_written", "Evaluations in the history.", lambda: recorder.written)
        export.add_counter("history_dropped", "Evaluations that no room was left for.", lambda: recorder.dropped)
        export.add_gauge("history_waiting", "Evaluations on their way to the history.", lambda: recorder.waiting)
        export.add_gauge("snapshots", "Projects in memory.", lambda: len(self.snapshots.by_sdk_key))

    async def _check_readiness(self) -> None:
        if not await is_current(self.database):
            raise unavailable("The database is not migrated to this version. Run: flagstaff migrate")


@asynccontextmanager
async def open_accounts(settings: Settings) -> AsyncIterator[Accounts]:
    """The use cases of accounts for the command line, beside a server or without one."""
    flagstaff = Flagstaff(settings)
    try:
        await migrate(settings.database_url, settings.data_dir)
        yield flagstaff.accounts
    finally:
        await flagstaff.stop()


def _window(limit: RateLimit | None, capacity: int) -> SlidingWindow | None:
    return SlidingWindow(limit.count, limit.window_seconds, capacity=capacity) if limit else None


def _network_windows(limit: RateLimit | None) -> NetworkWindows | None:
    return NetworkWindows(limit.count, limit.window_seconds, capacity=_ACCOUNT_KEYS) if limit else None
