"""`flagstaff doctor`: each check, passing and failing."""

import asyncio
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from flagstaff.cli.main import app
from flagstaff.conditions.conditions import Condition
from flagstaff.conditions.operators import Operator
from flagstaff.database.database import Database
from flagstaff.database.development_builds import LAST_REVISION
from flagstaff.database.schema_state import known_revisions
from flagstaff.database.sqlite.files import CONFIGURATION_FILE
from flagstaff.evaluation import loops
from flagstaff.flags.flags import RuleType
from tests.mail.test_smtp import Inbox, smtp_server
from tests.support.builders import make_flag, make_rule, store_all, store_environment
from tests.support.command import run_flagstaff
from tests.support.development_builds import make_earlier
from tests.support.history import make_batch, make_layout, make_record, write
from tests.support.ports import free_port
from tests.support.server import ServerProcess
from tests.support.stores import Store, sqlite_store
from tests.support.valkey import ValkeyServer

KEY = {"FLAGSTAFF_SECRET_KEY": "k" * 40}


def examine(environ: dict[str, str], *arguments: str, status: int = 0) -> dict[str, Any]:
    """The findings by check."""
    outcome = CliRunner().invoke(app, ["doctor", "--json", *arguments], env=environ, catch_exceptions=False)
    assert outcome.exit_code == status, outcome.output
    return read_findings(outcome.stdout, status)


def examine_and_log(environ: dict[str, str]) -> dict[str, Any]:
    """Do the same in a separate process that fails, whose log must not mix with its findings."""
    outcome = run_flagstaff("doctor", "--json", environ=environ)
    assert outcome.returncode == 1, outcome.stdout + outcome.stderr
    assert "database_unavailable" in outcome.stderr
    return read_findings(outcome.stdout, 1)


def read_findings(printed: str, status: int) -> dict[str, Any]:
    found = {finding["check"]: finding for finding in json.loads(printed)}
    assert all(finding["advice"] for finding in found.values() if finding["status"] != "OK")
    assert (status == 1) == any(finding["status"] == "FAIL" for finding in found.values())
    return found


@pytest.fixture
def sqlite(sqlite_template: Path, data_directory: Path) -> Store:
    """A migrated SQLite database."""
    return sqlite_store(sqlite_template, data_directory)


def test_a_setting_that_is_wrong_is_all_that_is_said() -> None:
    found = examine({"FLAGSTAFF_PORT": "high"}, status=1)
    assert list(found) == ["settings"]
    assert found["settings"]["found"].startswith("FLAGSTAFF_PORT must be")


def test_it_says_whether_common_passwords_are_accepted(tmp_path: Path) -> None:
    public = {"FLAGSTAFF_DATA_DIR": str(tmp_path / "data"), "FLAGSTAFF_PUBLIC_URL": "https://flags.example.com"}
    for environ, status, said in (
        ({"FLAGSTAFF_DATA_DIR": str(tmp_path / "data")}, "OK", "common ones are accepted: only this machine"),
        (public, "OK", "common ones are refused (FLAGSTAFF_COMMON_PASSWORDS=auto)"),
        (
            {**public, "FLAGSTAFF_COMMON_PASSWORDS": "accept"},
            "WARN",
            "common ones are accepted, although others can reach the server",
        ),
    ):
        found = examine(environ)["passwords"]
        assert (found["status"], found["found"].startswith(said)) == (status, True), found


def test_nothing_is_created_where_nothing_exists(tmp_path: Path) -> None:
    found = examine({"FLAGSTAFF_DATA_DIR": str(tmp_path / "data")})
    assert {found[check]["status"] for check in ("data directory", "secret key", "database")} == {"WARN"}
    assert not (tmp_path / "data").exists()


async def store_condition(store: Store) -> None:
    database = Database(store.database_url, store.data_directory)
    try:
        flag = make_flag(await store_environment(database))
        condition = Condition("plan", Operator.MATCHES, ("[ab]*a[ab]{100}c",))
        rule = make_rule(flag, rule_type=RuleType.ATTRIBUTES, rule_value=None, conditions=(condition,))
        await store_all(database, flag, rule)
    finally:
        await database.close()


def test_environments_above_their_budget_of_conditions_are_named(sqlite: Store) -> None:
    asyncio.run(store_condition(sqlite))
    assert examine({**sqlite.environ, **KEY})["conditions"]["status"] == "OK"
    found = examine({**sqlite.environ, **KEY, "FLAGSTAFF_MAX_CONDITION_WORK": "500"})["conditions"]
    assert found["status"] == "WARN"
    assert "/production (" in found["found"]
    assert "FLAGSTAFF_MAX_CONDITION_WORK" in found["advice"]


def test_files_that_others_can_read_fail(sqlite: Store) -> None:
    key = sqlite.data_directory / "secret-key"
    key.write_text("k" * 40)
    key.chmod(0o644)
    sqlite.data_directory.chmod(0o755)
    found = examine(sqlite.environ, status=1)
    assert found["data directory"]["advice"] == f"Run: chmod 700 {sqlite.data_directory}"
    assert "chmod 600" in found["secret key"]["advice"]
    assert sqlite.data_directory.stat().st_mode & 0o777 == 0o755  # it changes nothing


def test_an_empty_secret_key_fails(sqlite: Store) -> None:
    (sqlite.data_directory / "secret-key").touch(0o600)
    assert examine(sqlite.environ, status=1)["secret key"]["found"] == "the file is empty or too short"


async def test_a_database_of_another_revision_fails(store: Store) -> None:
    await make_earlier(store)
    found = await asyncio.to_thread(examine, store.environ, status=1)
    assert found["revision"]["status"] == "FAIL"
    assert "flagstaff migrate" in found["revision"]["advice"]


async def test_a_database_of_an_older_development_build_fails(store: Store) -> None:
    await make_earlier(store, "0031")
    found = await asyncio.to_thread(examine, store.environ, status=1)
    assert found["revision"]["found"] == "0031, which only development builds before 1.0 had"
    assert found["revision"]["advice"].startswith(f"Migrate to revision {LAST_REVISION} with")


async def examine_newer(store: Store, *, oldest: str, status: int) -> dict[str, Any]:
    database = Database(store.database_url, store.data_directory)
    async with database.transaction() as transaction:
        await transaction.connection.exec_driver_sql(
            f"UPDATE alembic_version SET version_num = '9999', oldest_supported = '{oldest}'"
        )
    await database.close()
    return await asyncio.to_thread(examine, store.environ, status=status)


async def test_a_database_that_needs_a_newer_version_fails(store: Store) -> None:
    found = await examine_newer(store, oldest="9998", status=1)
    assert found["revision"]["advice"] == "Install a newer version."


async def test_a_database_of_a_newer_version_that_supports_this_one_is_fine(store: Store) -> None:
    found = await examine_newer(store, oldest=known_revisions()[-1], status=0)
    assert found["revision"]["found"].startswith("9999 of a newer version, which supports this one")


def test_a_damaged_database_fails(sqlite: Store) -> None:
    (sqlite.data_directory / CONFIGURATION_FILE).write_bytes(b"SQLite format 3\0" + os.urandom(4096))
    found = examine(sqlite.environ, status=1)["database"]
    assert found["found"].endswith("flagstaff.sqlite is damaged")
    assert "flagstaff restore FILE" in found["advice"]


def test_an_unreachable_database_fails_with_the_reason(data_directory: Path) -> None:
    url = f"postgresql://flagstaff:hidden@127.0.0.1:{free_port()}/flagstaff"
    found = examine_and_log({"FLAGSTAFF_DATA_DIR": str(data_directory), "FLAGSTAFF_DATABASE_URL": url})
    assert "onnect" in found["database"]["found"]
    assert "hidden" not in json.dumps(found)


def test_a_database_that_does_not_answer_fails_with_the_reason(data_directory: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql://flagstaff:hidden@127.0.0.1:{silent.getsockname()[1]}/flagstaff"
        found = examine_and_log({"FLAGSTAFF_DATA_DIR": str(data_directory), "FLAGSTAFF_DATABASE_URL": url})
    assert found["database"]["found"].endswith("it did not answer in time")


def test_an_unreachable_mail_server_fails(sqlite: Store) -> None:
    smtp = {"FLAGSTAFF_SMTP_URL": f"smtp://127.0.0.1:{free_port()}"}
    assert examine(sqlite.environ | smtp, status=1)["mail"]["status"] == "FAIL"


def test_a_valkey_that_is_away_fails_and_one_that_answers_does_not(sqlite: Store) -> None:
    with ValkeyServer("--requirepass", "right") as server:
        for password, status in (("wrong", 1), ("right", 0)):
            url = f"valkey://:{password}@127.0.0.1:{server.port}/0"
            found = examine({**sqlite.environ, **KEY, "FLAGSTAFF_VALKEY_URL": url}, status=status)
            assert found["valkey"]["status"] == ("FAIL" if status else "OK")
    found = examine({**sqlite.environ, **KEY, "FLAGSTAFF_VALKEY_URL": url}, status=1)
    assert "Connection refused" in found["valkey"]["found"] or "111" in found["valkey"]["found"]


def test_addresses_that_cannot_be_meant(sqlite: Store) -> None:
    everybody = {"FLAGSTAFF_PUBLIC_URL": "http://0.0.0.0:8000", "FLAGSTAFF_TRUSTED_PROXIES": "0.0.0.0/0"}
    found = examine(sqlite.environ | everybody, status=1)
    assert found["public URL"]["status"] == found["trusted proxies"]["status"] == "FAIL"
    proxied = examine(sqlite.environ | {"FLAGSTAFF_PUBLIC_URL": "https://flags.example.com"})
    assert proxied["trusted proxies"]["status"] == "WARN"
    clear = examine(sqlite.environ | {"FLAGSTAFF_PUBLIC_URL": "http://flags.example.com"})
    assert clear["public URL"]["status"] == "WARN"


def test_few_descriptors_are_worth_a_warning(sqlite: Store) -> None:
    command = 'ulimit -n 512; exec "$0" -m flagstaff doctor --json'
    environ = {"PATH": os.environ["PATH"], **sqlite.environ}
    outcome = subprocess.run(["sh", "-c", command, sys.executable], env=environ, capture_output=True, check=True)
    found = {finding["check"]: finding for finding in json.loads(outcome.stdout)}
    assert (found["descriptors"]["status"], found["descriptors"]["found"]) == ("WARN", "at most 512")


def test_evaluations_in_python_are_worth_a_warning(sqlite: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "WHY_NOT_COMPILED", None)
    assert examine(sqlite.environ)["evaluation"]["status"] == "OK"
    monkeypatch.setattr(loops, "WHY_NOT_COMPILED", "No module named '_loops'")
    found = examine(sqlite.environ)["evaluation"]
    assert found["status"] == "WARN"
    assert found["found"] == "runs in Python, which takes more processor time: No module named '_loops'"


async def test_a_test_mail_is_sent_only_when_asked_for(sqlite: Store) -> None:
    inbox = Inbox()
    async with smtp_server(inbox) as port:
        environ = sqlite.environ | {"FLAGSTAFF_SMTP_URL": f"smtp://127.0.0.1:{port}"}
        found = await asyncio.to_thread(examine, environ)
        assert found["mail"]["status"] == "OK"
        assert not inbox.mails
        await asyncio.to_thread(examine, environ, "--mail-to", "ada@example.com")
    assert [mail["to"] for mail in inbox.mails] == ["ada@example.com"]


async def test_with_a_running_server_everything_about_the_database_is_reported(store: Store) -> None:
    database = Database(store.database_url, store.data_directory)
    environment = await store_environment(database)
    await write(database, make_batch(environment.id, make_layout(), make_record(), make_record(1)))
    await database.close()
    async with ServerProcess(store, KEY):
        found = await asyncio.to_thread(examine, store.environ | KEY)
    checks = ("settings", "data directory", "server", "secret key", "database", "revision", "clock", "history")
    assert {found[check]["status"] for check in checks} == {"OK"}
    assert found["server"]["found"] == "a server is running on the data directory"
    assert found["database"]["found"].startswith("PostgreSQL 18" if store.database_url else "SQLite 3")
    assert found["history"]["found"].startswith("2 evaluations, since 2026-11-20, ")


def test_people_get_a_line_for_each_thing_and_advice_below(sqlite: Store) -> None:
    outcome = CliRunner().invoke(app, ["doctor"], env=sqlite.environ, catch_exceptions=False)
    assert outcome.exit_code == 0
    lines = outcome.stdout.splitlines()
    assert lines[0].startswith("OK    settings         Flagstaff ")
    mail = next(number for number, line in enumerate(lines) if line.startswith("WARN  mail"))
    assert lines[mail + 1].strip().startswith("Set FLAGSTAFF_SMTP_URL")
