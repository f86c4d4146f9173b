"""Accounts from the command line while a server runs on the same data."""

from tests.support.command import run_flagstaff
from tests.support.remote import RemoteCaller
from tests.support.server import ServerProcess
from tests.support.stores import Store

PASSWORD = "a password of another kind"


async def test_accounts_are_made_and_tokens_ended_beside_a_running_server(store: Store) -> None:
    environ = {"FLAGSTAFF_DATA_DIR": str(store.data_directory)}
    if store.database_url:
        environ["FLAGSTAFF_DATABASE_URL"] = store.database_url

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
