"""The secret key is lost, replaced or not the same everywhere: it is said, and never replaced in silence."""

import asyncio
import json
import os
import signal
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.api import Json
from tests.support.command import run_flagstaff
from tests.support.remote import RemoteCaller
from tests.support.server import ServerProcess
from tests.support.stores import Store

LOST = "The secret key is lost"
STEP = "flagstaff serve --new-secret-key"
KEY = "k" * 40
PROJECT = "0196a4b8-0000-7000-8000-000000000001"
SETTINGS = {"FLAGSTAFF_ACCESS_LOG": "off"}


@pytest.fixture
def used(store: Store) -> Store:
    """A store with an account, whose data directory has the secret key."""
    create_account(store.environ)
    assert key_of(store).exists()
    return store


def create_account(environ: dict[str, str]) -> None:
    created = run_flagstaff(
        "users", "create", "ada@example.com", "--password-stdin", environ=environ, stdin="a long password\n"
    )
    assert created.returncode == 0, created.stderr


def key_of(store: Store) -> Path:
    return store.data_directory / "secret-key"


def refuse(*arguments: str, store: Store) -> str:
    """Return the last line of a command that fails, and has not made a key."""
    outcome = run_flagstaff(*arguments, environ={**store.environ, "FLAGSTAFF_PORT": "0"}, stdin="a long password\n")
    assert outcome.returncode == 1, outcome.stdout
    assert "Traceback" not in outcome.stderr
    assert not key_of(store).exists()
    return outcome.stderr.splitlines()[-1]


def examine(environ: dict[str, str]) -> dict[str, Json]:
    outcome = run_flagstaff("doctor", "--json", environ=environ)
    return {finding["check"]: finding for finding in json.loads(outcome.stdout)}


async def until_told(caller: RemoteCaller, is_told: Callable[[str], bool]) -> None:
    """Wait for what /ready says while everything works."""
    async with asyncio.timeout(30):
        while True:
            ready = await caller.get("/ready")
            assert ready.status_code == 200, ready.text
            if is_told(ready.json().get("detail", "")):
                return
            await asyncio.sleep(0.1)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_start_without_the_key_of_a_database_with_accounts_is_refused(used: Store, workers: str) -> None:
    key_of(used).unlink()
    line = refuse("serve", "--workers", workers, store=used)
    assert (LOST in line, STEP in line) == (True, True)


def test_a_start_does_not_replace_a_link_whose_file_is_away(used: Store) -> None:
    key_of(used).unlink()
    key_of(used).symlink_to("not-mounted")
    assert "secret-key cannot be read" in refuse("serve", store=used)
    assert key_of(used).is_symlink()


def test_a_command_does_not_replace_a_lost_key(used: Store) -> None:
    key_of(used).unlink()
    assert LOST in refuse("users", "create", "eve@example.com", "--password-stdin", store=used)


@pytest.mark.parametrize(
    "command",
    [
        ["trust-clock"],
        ["users", "reset-password", "ada@example.com", "--password-stdin"],
        ["users", "reset-two-factor", "ada@example.com"],
        ["users", "promote", "ada@example.com"],
        ["export", "--project", PROJECT, "--environment", "production"],
        ["history", "export", "--project", PROJECT, "--directory", "PLACE"],
        ["history", "export-events", "--project", PROJECT, "--directory", "PLACE"],
        ["history", "user", "--project", PROJECT, "--user-id", "ada", "--file", "PLACE"],
    ],
    ids=lambda command: "-".join(command[:2]),
)
def test_commands_that_need_no_key_neither_ask_for_one_nor_make_one(used: Store, command: list[str]) -> None:
    key_of(used).unlink()
    place = str(used.data_directory.parent / "place")
    arguments = [place if each == "PLACE" else each for each in command]
    outcome = run_flagstaff(*arguments, environ=used.environ, stdin="a long password\n")
    if command[0] in ("trust-clock", "users"):
        assert outcome.returncode == 0, outcome.stderr
    else:  # as in a database with an account and no project
        assert "project" in outcome.stderr.splitlines()[-1]
    assert not key_of(used).exists()


def test_erasing_a_user_needs_the_key(used: Store) -> None:
    key_of(used).unlink()
    assert LOST in refuse("history", "erase", "--user-id", "ada", store=used)


def test_doctor_says_that_the_key_is_lost(used: Store) -> None:
    key_of(used).unlink()
    finding = examine(used.environ)["secret key"]
    assert (finding["status"], LOST in finding["found"], STEP in finding["advice"]) == ("FAIL", True, True)


@pytest.mark.parametrize("workers", ["1", "2"])
async def test_a_start_makes_a_new_key_if_it_is_told_to(used: Store, workers: str) -> None:
    before = key_of(used).read_text()
    key_of(used).unlink()
    settings = {**SETTINGS, "FLAGSTAFF_WORKERS": workers}
    async with ServerProcess(used, settings, options=["--new-secret-key"]) as server:
        made = key_of(used).read_text()
        assert made != before
        assert "secret_key_replaced" in server.log
        await server.stop()
        await server.start()
        assert key_of(used).read_text() == made, "it has replaced a key that was there"


async def test_a_key_in_the_settings_needs_no_file(used: Store) -> None:
    key_of(used).unlink()
    async with ServerProcess(used, {**SETTINGS, "FLAGSTAFF_SECRET_KEY": KEY}):
        assert not key_of(used).exists()
    finding = await asyncio.to_thread(examine, {**used.environ, "FLAGSTAFF_SECRET_KEY": KEY})
    assert finding["secret key"]["status"] == "OK"


async def test_a_database_without_accounts_gets_a_key(store: Store) -> None:
    async with ServerProcess(store, SETTINGS):
        assert key_of(store).exists()


async def test_a_running_server_says_that_its_key_is_lost_or_another(used: Store) -> None:
    async with ServerProcess(used, SETTINGS) as server, RemoteCaller(server.url) as caller:
        aside = key_of(used).rename(used.data_directory / "aside")
        await until_told(caller, lambda detail: LOST in detail and STEP in detail)
        assert "\nflagstaff_signing_key_differs 1" in (await caller.get("/metrics")).text
        finding = (await asyncio.to_thread(examine, used.environ))["secret key"]
        assert (finding["status"], LOST in finding["found"]) == ("FAIL", True)
        key_of(used).write_text("another key of more than 32 characters")
        await until_told(caller, lambda detail: "does not have the key with which the server runs" in detail)
        aside.rename(key_of(used))
        await until_told(caller, lambda detail: detail == "")
        assert server.log.count('"event": "secret_key_differs"') == 2
        assert server.log.count('"event": "secret_key_agrees"') == 1


async def test_a_worker_that_replaces_another_has_the_key_although_its_file_is_lost(used: Store) -> None:
    async with (
        ServerProcess(used, {**SETTINGS, "FLAGSTAFF_WORKERS": "2"}) as server,
        RemoteCaller(server.url) as caller,
    ):
        await caller.sign_up("eve@example.com")
        key_of(used).unlink()
        pids = workers_of(server)
        for pid in pids:
            os.kill(pid, signal.SIGKILL)

        async def are_replaced() -> bool:
            are_new = len(workers_of(server)) == 2 and not set(pids) & set(workers_of(server))
            return are_new and (await caller.get("/ready")).status_code == 200

        await until(are_replaced)
        await until_told(caller, lambda detail: LOST in detail)
        for _ in range(10):
            async with RemoteCaller(server.url) as another:
                another.headers["authorization"] = caller.headers["authorization"]
                assert (await another.get("/api/me")).status_code == 200
        assert not key_of(used).exists()


def workers_of(server: ServerProcess) -> list[int]:
    children = Path(f"/proc/{server.pid}/task/{server.pid}/children")
    return [int(pid) for pid in children.read_text().split()]


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(30):
        while not await condition():
            await asyncio.sleep(0.05)


async def test_two_instances_with_different_keys_notice_each_other(outage_store: Store) -> None:
    other = replace(outage_store, data_directory=outage_store.data_directory / "other")
    keys = [{**SETTINGS, "FLAGSTAFF_SECRET_KEY": letter * 40} for letter in "ab"]
    async with ServerProcess(outage_store, keys[0]) as first, RemoteCaller(first.url) as ada:
        await ada.sign_up()
        async with ServerProcess(other, keys[1]) as second, RemoteCaller(second.url) as eve:
            for caller in (ada, eve):
                await until_told(caller, lambda detail: "Instances on this database have different" in detail)
            for server in (first, second):
                assert server.log.count('"event": "secret_key_differs"') == 1
            listed = {each["answered"]: each for each in (await ada.get("/api/instances")).json()}
            assert {answered: each["same_secret_key"] for answered, each in listed.items()} == {
                True: True,
                False: False,
            }
            found = await asyncio.to_thread(examine, {**outage_store.environ, **keys[0]})
            assert (found["secret keys"]["status"], "different" in found["secret keys"]["found"]) == ("WARN", True)
            await second.stop()
        await until_told(ada, lambda detail: detail == "")
        found = await asyncio.to_thread(examine, {**outage_store.environ, **keys[0]})
        assert found["secret keys"]["status"] == "OK"
        found = await asyncio.to_thread(examine, {**outage_store.environ, **keys[1]})
        assert found["secret keys"]["status"] == "WARN"
