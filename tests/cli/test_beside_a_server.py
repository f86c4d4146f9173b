"""Accounts from the command line while a server runs on the same data."""

from pathlib import Path

from flagstaff.database.database import Database
from flagstaff.database.development_builds import LAST_REVISION
from flagstaff.database.schema_state import current_revision, known_revisions
from tests.support.command import run_flagstaff
from tests.support.development_builds import make_earlier
from tests.support.postgres import PostgresServer
from tests.support.remote import RemoteCaller
from tests.support.server import ServerProcess
from tests.support.stores import Store, postgresql_store, sqlite_store

PASSWORD = "a password of another kind"


async def test_accounts_are_created_and_tokens_ended_while_a_server_runs(store: Store) -> None:
    environ = store.environ
    async with ServerProcess(store) as server, RemoteCaller(server.url) as caller:
        refused = run_flagstaff(
            "users", "create", "ada@example.com", "--password-stdin", environ=environ, stdin="short\n"
        )
        assert (refused.returncode, refused.stdout) == (1, "")
        assert refused.stderr.splitlines()[-1].startswith("flagstaff: The request is invalid. password must be")

        made = run_flagstaff(
            "users", "create", "ada@example.com", "--password-stdin", environ=environ, stdin=f"{PASSWORD}\n"
        )
        assert made.returncode == 0, made.stderr
        await caller.log_in(password=PASSWORD)
        assert (await caller.get("/api/me")).status_code == 200

        reset = run_flagstaff(
            "users", "reset-password", "ada@example.com", "--password-stdin", environ=environ, stdin="the next one\n"
        )
        assert reset.returncode == 0, reset.stderr
        assert (await caller.get("/api/me")).status_code == 401
        await caller.log_in(password="the next one")
        await caller.create_project()


async def test_a_database_of_another_revision_is_not_migrated_while_a_server_runs_on_it(store: Store) -> None:
    environ = store.environ
    async with ServerProcess(store):
        # The state that the command line of a newer version finds while an older server runs.
        await make_earlier(store)
        refused = run_flagstaff(
            "users", "create", "ada@example.com", "--password-stdin", environ=environ, stdin=PASSWORD
        )
        assert (refused.returncode, refused.stdout) == (1, "")
        assert "not at the revision of this version" in refused.stderr.splitlines()[-1]
        assert ("already serves" if store.database_url is None else "flagstaff migrate") in refused.stderr
        assert await revision_of(store) == LAST_REVISION


async def test_postgresql_is_never_migrated_by_the_way(postgres_template: PostgresServer, tmp_path: Path) -> None:
    async with postgresql_store(postgres_template, tmp_path, template="template1") as store:
        refused = run_flagstaff(
            "users", "create", "ada@example.com", "--password-stdin", environ=store.environ, stdin=PASSWORD
        )
        assert (refused.returncode, refused.stdout) == (1, "")
        assert refused.stderr.splitlines()[-1].endswith("Stop every instance, then run: flagstaff migrate")
        assert await revision_of(store) is None


async def test_sqlite_is_migrated_when_no_server_runs(sqlite_template: Path, data_directory: Path) -> None:
    store = sqlite_store(sqlite_template, data_directory)
    await make_earlier(store)
    made = run_flagstaff(
        "users", "create", "ada@example.com", "--password-stdin", environ=store.environ, stdin=PASSWORD
    )
    assert made.returncode == 0, made.stderr
    assert await revision_of(store) == known_revisions()[-1]


async def revision_of(store: Store) -> str | None:
    database = Database(store.database_url, store.data_directory)
    try:
        return await current_revision(database)
    finally:
        await database.close()
