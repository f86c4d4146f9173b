"""The whole service on each database, and callers that a test creates in one line."""

import asyncio
import io
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from email.message import EmailMessage

import pytest
import sqlalchemy as sa
import structlog

from flagstaff.bootstrap import Flagstaff
from flagstaff.services.passwords import Passwords
from flagstaff.settings import Settings
from flagstaff.storage import tables
from flagstaff.telemetry import configure_logging
from tests.support.api import Caller, Json
from tests.support.clock import Clock
from tests.support.mailbox import read_outbox, reset_token
from tests.support.sdk_keys import KeyMaker
from tests.support.sessions import log_in
from tests.support.stores import Store

PASSWORD = "correct horse battery staple"

SignUp = Callable[[str], Awaitable[Caller]]
Call = Callable[[str], Caller]
ListChanges = Callable[[], Awaitable[list[Json]]]
ReadMails = Callable[[], Awaitable[list[EmailMessage]]]
RequestReset = Callable[..., Awaitable[str]]


@pytest.fixture
def environ() -> dict[str, str]:
    """The settings that a test chooses. Override it, or parametrize it: `("environ", [{"FLAGSTAFF_…": "…"}])`."""
    return {}


@pytest.fixture
def settings(store: Store, environ: dict[str, str]) -> Settings:
    """The settings on a migrated, empty database of each kind."""
    chosen = {"FLAGSTAFF_DATA_DIR": str(store.data_directory), "FLAGSTAFF_SECRET_KEY": "k" * 32, **environ}
    if store.database_url:
        chosen["FLAGSTAFF_DATABASE_URL"] = store.database_url
    return Settings.load(chosen)


@pytest.fixture(scope="session")
def passwords() -> Iterator[Passwords]:
    """Cheap hashes, with one process for all tests: 32 KiB is the least that Argon2 accepts."""
    light = Passwords(time_cost=1, memory_cost_kib=32)
    yield light
    light.close()


@pytest.fixture
async def flagstaff(settings: Settings, clock: Clock, passwords: Passwords) -> AsyncIterator[Flagstaff]:
    """The started service; tasks left over after its stop fail the test."""
    service = Flagstaff(settings, now=clock, passwords=passwords)
    try:
        await service.start()
        yield service
    finally:
        await service.stop()
    left_over = asyncio.all_tasks() - {asyncio.current_task()}
    assert not left_over, f"tasks were left over: {left_over}"


@pytest.fixture
async def callers() -> AsyncIterator[AsyncExitStack]:
    """The open clients of a test."""
    async with AsyncExitStack() as stack:
        yield stack


@pytest.fixture
async def call_from(flagstaff: Flagstaff, callers: AsyncExitStack) -> Call:
    """Create a caller without a token at a chosen address."""

    def call(peer: str) -> Caller:
        caller = Caller(flagstaff.asgi, peer=peer)
        callers.push_async_callback(caller.aclose)
        return caller

    return call


@pytest.fixture
async def client(call_from: Call) -> Caller:
    """A caller without a token."""
    return call_from("192.0.2.1")


@pytest.fixture
async def sign_up(flagstaff: Flagstaff, callers: AsyncExitStack) -> SignUp:
    """Create an account by name and sign it in, bypassing the limits of registration and login."""

    async def register(name: str) -> Caller:
        email = f"{name}@example.com"
        account = await flagstaff.accounts.register(email=email, password=PASSWORD)
        token = await log_in(flagstaff, email=email, password=PASSWORD)
        return await callers.enter_async_context(
            Caller(flagstaff.asgi, token=token, account={"id": str(account.id), "email": email})
        )

    return register


@pytest.fixture
async def ada(sign_up: SignUp) -> Caller:
    """A signed-in user: the one whose resources a test is about."""
    return await sign_up("ada")


@pytest.fixture
async def eve(sign_up: SignUp) -> Caller:
    """Another signed-in user, who must see nothing of Ada's."""
    return await sign_up("eve")


@pytest.fixture
async def keys(flagstaff: Flagstaff, ada: Caller) -> KeyMaker:
    """Creates SDK keys for Ada."""
    return KeyMaker(flagstaff, ada)


@pytest.fixture
async def project(ada: Caller) -> Json:
    """A project of Ada's."""
    return await ada.create_project()


@pytest.fixture
async def environment(ada: Caller, project: Json) -> Json:
    """Its `production`, without flags."""
    return await ada.get_environment(project)


@pytest.fixture
async def list_changes(flagstaff: Flagstaff) -> ListChanges:
    """Read the audit trail, oldest row first."""

    async def read() -> list[Json]:
        async with flagstaff.database.read() as connection:
            rows = await connection.execute(sa.select(tables.changes).order_by(tables.changes.c.id))
            return [dict(row) for row in rows.mappings()]

    return read


@pytest.fixture
async def read_mails(flagstaff: Flagstaff, settings: Settings) -> ReadMails:
    """Read the outbox, oldest mail first, after every pending mail has been written."""

    async def read() -> list[EmailMessage]:
        await flagstaff._supervisor.drain(10)
        return read_outbox(settings.data_dir)

    return read


@pytest.fixture
async def request_reset(client: Caller, read_mails: ReadMails) -> RequestReset:
    """Request a reset link by mail; return the token in it."""

    async def request(email: str = "ada@example.com") -> str:
        answer = await client.post("/auth/forgot-password", json={"email": email})
        assert answer.status_code == 200
        mail = (await read_mails())[-1]
        assert mail["to"] == email
        return reset_token(mail)

    return request


@pytest.fixture
def log_stream() -> Iterator[io.StringIO]:
    """The server's log as JSON lines; logging is restored afterwards."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers = []  # so that pytest's streams are not closed
    stream = io.StringIO()
    configure_logging("json", stream)
    structlog.configure(cache_logger_on_first_use=False)  # a logger that is cached would outlive this test
    yield stream
    root.handlers, root.level = handlers, level
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()
