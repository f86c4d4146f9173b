"""The whole service on each database, and callers that a test creates in one line."""

import asyncio
import io
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from copy import deepcopy
from email.message import EmailMessage
from pathlib import Path

import pytest
import sqlalchemy as sa
import structlog

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from flagstaff.database.change_states_store import read_whole
from flagstaff.identity.accounts.passwords import Passwords
from flagstaff.settings import Settings
from flagstaff.telemetry import configure_logging
from tests.support.api import Caller, Json
from tests.support.beginnings import Beginning, Beginnings, clone, is_as_usual, service_environ
from tests.support.clock import Clock
from tests.support.mailbox import newest_to, read_outbox, reset_token
from tests.support.postgres import PostgresServer
from tests.support.sdk_keys import KeyMaker
from tests.support.sessions import register
from tests.support.stores import Store

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
    """The settings on the test's database."""
    return Settings.load({**service_environ(store), **environ})


@pytest.fixture(scope="session")
def light_passwords() -> Iterator[Passwords]:
    """Cheap hashes, with one process for all tests: 32 KiB is the least that Argon2 accepts."""
    light = Passwords(time_cost=1, memory_cost_kib=32)
    yield light
    light.close()


@pytest.fixture
def passwords(light_passwords: Passwords) -> Passwords:
    """The hashes of the service."""
    return light_passwords


@pytest.fixture(scope="session")
def beginnings(light_passwords: Passwords, tmp_path_factory: pytest.TempPathFactory) -> Beginnings:
    """Databases in which ada has registered, made at the first use."""
    return Beginnings(light_passwords, tmp_path_factory)


@pytest.fixture
def beginning(
    request: pytest.FixtureRequest,
    environ: dict[str, str],
    clock: Clock,
    passwords: Passwords,
    light_passwords: Passwords,
) -> Beginning | None:
    """Ada, and her project, for tests that ask for them and choose no clock, hashes or decisive settings of their own.

    Otherwise the fixtures create them, which takes as long as most of the tests.
    """
    is_usual = is_as_usual(environ) and passwords is light_passwords and clock() == Clock()()
    if not is_usual or "ada" not in request.fixturenames:
        return None
    template, made = request.getfixturevalue("template"), request.getfixturevalue("beginnings")
    return made.get(template, with_project="first_project" in request.fixturenames)


@pytest.fixture
async def store(
    template: Path | PostgresServer, data_directory: Path, beginning: Beginning | None
) -> AsyncIterator[Store]:
    """A migrated database of each kind."""
    async with clone(template, data_directory, beginning) as made:
        yield made


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
        caller = Caller(flagstaff.edge.asgi, peer=peer)
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

    async def sign(name: str) -> Caller:
        account, token = await register(flagstaff, name)
        return await callers.enter_async_context(Caller(flagstaff.edge.asgi, token=token, account=account))

    return sign


@pytest.fixture
async def ada(flagstaff: Flagstaff, callers: AsyncExitStack, sign_up: SignUp, beginning: Beginning | None) -> Caller:
    """A signed-in user: the one whose resources a test is about."""
    if beginning is None:
        return await sign_up("ada")
    known = Caller(flagstaff.edge.asgi, token=beginning.token, account=beginning.account)
    return await callers.enter_async_context(known)


@pytest.fixture
async def eve(sign_up: SignUp) -> Caller:
    """Another signed-in user, who must see nothing of Ada's."""
    return await sign_up("eve")


@pytest.fixture
async def keys(flagstaff: Flagstaff, ada: Caller) -> KeyMaker:
    """Creates SDK keys for Ada."""
    return KeyMaker(flagstaff, ada)


@pytest.fixture
async def first_project(ada: Caller, beginning: Beginning | None) -> Json:
    """A project of Ada's; `project`, unless a module has another."""
    return await ada.create_project() if beginning is None else deepcopy(beginning.project)


@pytest.fixture
async def project(first_project: Json) -> Json:
    """A project of Ada's."""
    return first_project


@pytest.fixture
async def environment(ada: Caller, project: Json, beginning: Beginning | None) -> Json:
    """Its `production`, without flags."""
    if beginning is None or beginning.project != project:
        return await ada.get_environment(project)
    return deepcopy(beginning.environment)


@pytest.fixture
async def list_changes(flagstaff: Flagstaff) -> ListChanges:
    """Read the audit trail with whole states, oldest row first."""

    async def read() -> list[Json]:
        async with flagstaff.database.read() as connection:
            rows = (await connection.execute(sa.select(tables.changes).order_by(tables.changes.c.id))).all()
            changes = [each.change for each in await read_whole(connection, rows)]
        return [
            {**row._asdict(), "before": each.before, "after": each.after}
            for row, each in zip(rows, changes, strict=True)
        ]

    return read


@pytest.fixture
async def read_mails(flagstaff: Flagstaff, settings: Settings) -> ReadMails:
    """Read the outbox, oldest mail first, after every pending mail has been written."""

    async def read() -> list[EmailMessage]:
        await flagstaff.foundation.supervisor.drain(10)
        return read_outbox(settings.data_dir)

    return read


@pytest.fixture
async def request_reset(client: Caller, read_mails: ReadMails) -> RequestReset:
    """Request a reset link by mail; return the token in it."""

    async def request(email: str = "ada@example.com") -> str:
        answer = await client.post("/auth/forgot-password", json={"email": email})
        assert answer.status_code == 200
        mail = newest_to(await read_mails(), "reset-password")
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
