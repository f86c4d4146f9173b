"""The command line, in this process: its help, its error messages, and the files that it writes."""

import asyncio
import json
import sqlite3
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from typer.testing import CliRunner, Result

from flagstaff.assembly.bootstrap import open_service
from flagstaff.cli.main import app
from flagstaff.database.sqlite.files import CONFIGURATION_FILE
from flagstaff.settings import Settings
from flagstaff.values.errors import Code, Error
from tests.support.builders import make_account, make_environment, make_flag, make_project, store_all

ROOT = Path(__file__).parents[2]
PASSWORD = "correct horse battery staple\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data directory that commands use."""
    monkeypatch.setenv("FLAGSTAFF_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"


def run(*arguments: str, stdin: str | None = None) -> Result:
    """Run a command, and raise its exceptions here."""
    return CliRunner().invoke(app, arguments, input=stdin, catch_exceptions=False, env={"COLUMNS": "200"})


def test_an_unknown_command_or_option_is_refused_with_its_name() -> None:
    for arguments in (["srve"], ["serve", "--prot"], ["users", "remove"], ["migrate", "--to"]):
        result = run(*arguments)
        assert result.exit_code == 2
        assert arguments[-1] in result.stderr


def test_without_a_command_it_shows_the_help() -> None:
    result = run()
    assert result.exit_code == 2
    assert "Usage" in result.output


def test_it_prints_its_version() -> None:
    result = run("--version")
    assert (result.exit_code, result.stdout) == (0, f"flagstaff {version('flagstaff')}\n")


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ([], ["serve", "migrate", "backup", "restore", "copy", "doctor", "export", "openapi", "users", "--version"]),
        (["history"], ["export"]),
        (["serve"], [row.variable for row in Settings.rows()]),
        (["migrate"], ["--to", "base", "revision"]),
        (["backup"], ["TO", "--without-history", "secret"]),
        (["restore"], ["FROM", "--replace", "Stop the server"]),
        (["copy"], ["--to", "postgresql://", "empty"]),
        (["doctor"], ["--mail-to", "--json", "exit status"]),
        (["export"], ["--project", "--environment", "--format", "unleash", "flagstaff", "--output"]),
        (["history", "export"], ["--project", "--directory", "--format", "parquet", "--from", "--to", "--user-id"]),
        (["openapi"], ["OpenAPI"]),
        (["users"], ["create", "reset-password", "promote", "demote", "reset-two-factor", "delete"]),
        (["users", "promote"], ["email", "administrator"]),
        (["users", "create"], ["email", "--password-stdin"]),
        (["users", "reset-password"], ["email", "--password-stdin", "tokens"]),
        (["users", "reset-two-factor"], ["email", "owner"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) and len(value) < 3 else "",
)
def test_each_help_lists_what_there_is(arguments: list[str], shown: list[str]) -> None:
    result = run(*arguments, "--help")
    assert result.exit_code == 0
    for each in shown:
        assert each in result.stdout


def test_it_prints_the_published_openapi_document() -> None:
    result = run("openapi")
    assert result.exit_code == 0
    assert json.loads(result.stdout) == json.loads(
        (ROOT / "src" / "flagstaff" / "assembly" / "openapi.json").read_text()
    )


def test_an_unknown_revision_is_refused(folder: Path) -> None:
    with pytest.raises(Error) as caught:
        run("migrate", "--to", "9999")
    assert caught.value.code is Code.INVALID
    assert "9999" in caught.value.message


def test_it_migrates_up_down_and_up_again(folder: Path) -> None:
    up = run("migrate").stdout.splitlines()
    assert up[0].startswith("Ran ")
    assert (folder / CONFIGURATION_FILE).exists()
    assert run("migrate").stdout == "The database is already at this revision.\n"
    down = run("migrate", "--to", "base").stdout.splitlines()
    assert down[:-1] == up[:-1][::-1]
    assert run("migrate").stdout.splitlines() == up


def test_what_no_account_can_have_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLAGSTAFF_COMMON_PASSWORDS", "refuse")
    for email, password, field in (
        ("ada", PASSWORD, "email"),
        ("=?us-ascii?q?ada=0d=0a?=@example.com", PASSWORD, "email"),
        ("ada@example.com", "short\n", "password"),
        ("ada@example.com", "password123\n", "password"),
        ("ada@example.com", "ada@example.com\n", "password"),
    ):
        with pytest.raises(Error) as caught:
            run("users", "create", email, "--password-stdin", stdin=password)
        assert [each.field for each in caught.value.fields] == [field]


def test_an_email_is_taken_once_and_an_unknown_one_has_no_password(folder: Path) -> None:
    created = run("users", "create", " Ada@Example.com ", "--password-stdin", stdin=PASSWORD)
    assert created.stdout.startswith("Created ")
    with pytest.raises(Error) as caught:
        run("users", "create", "ada@example.com", "--password-stdin", stdin=PASSWORD)
    assert caught.value.code is Code.CONFLICT
    with pytest.raises(Error) as caught:
        run("users", "reset-password", "eve@example.com", "--password-stdin", stdin=PASSWORD)
    assert caught.value.code is Code.NOT_FOUND
    with pytest.raises(Error) as caught:
        run("users", "reset-two-factor", "eve@example.com")
    assert caught.value.code is Code.NOT_FOUND
    reset = run("users", "reset-password", "ADA@example.com", "--password-stdin", stdin=PASSWORD)
    assert reset.stdout == "Set the password of Ada@Example.com.\n"
    removed = run("users", "reset-two-factor", "ADA@example.com")
    assert removed.stdout == "Removed the second factors of Ada@Example.com.\n"


def test_an_account_is_deleted_but_not_the_last_administrator(folder: Path) -> None:
    for email in ("ada@example.com", "eve@example.com"):
        run("users", "create", email, "--password-stdin", stdin=PASSWORD)
    for email, code in (("ada@example.com", Code.CONFLICT), ("nobody@example.com", Code.NOT_FOUND)):
        with pytest.raises(Error) as caught:
            run("users", "delete", email, "--yes")
        assert caught.value.code is code
    assert "Deleted" not in run("users", "delete", "eve@example.com", stdin="n\n").stdout
    assert "Deleted the account" in run("users", "delete", "EVE@example.com", stdin="y\n").stdout
    with pytest.raises(Error):
        run("users", "delete", "eve@example.com", "--yes")


def test_an_account_is_deleted_and_forgotten_without_the_secret_key(folder: Path) -> None:
    for email in ("ada@example.com", "eve@example.com"):
        run("users", "create", email, "--password-stdin", stdin=PASSWORD)
    run("users", "promote", "eve@example.com")
    (folder / "secret-key").unlink()
    assert "Deleted the account" in run("users", "delete", "eve@example.com", "--yes").stdout
    assert not (folder / "secret-key").exists()
    with closing(sqlite3.connect(folder / CONFIGURATION_FILE)) as connection:
        trail = connection.execute("SELECT * FROM changes").fetchall()
        assert connection.execute("SELECT count(*) FROM deleted_accounts").fetchone() == (0,)
    assert "account.deleted" in str(trail)
    assert "eve@example.com" not in str(trail)


def test_the_first_account_is_the_administrator_and_others_are_promoted_and_demoted(folder: Path) -> None:
    for email in ("ada@example.com", "eve@example.com"):
        run("users", "create", email, "--password-stdin", stdin=PASSWORD)
    for command, email, code in (
        ("demote", "ada@example.com", Code.CONFLICT),
        ("promote", "nobody@example.com", Code.NOT_FOUND),
        ("demote", "nobody@example.com", Code.NOT_FOUND),
    ):
        with pytest.raises(Error) as caught:
            run("users", command, email)
        assert caught.value.code is code
    assert run("users", "promote", "EVE@example.com").stdout == "eve@example.com is an administrator.\n"
    assert run("users", "demote", "ada@example.com").stdout == "ada@example.com is not an administrator.\n"
    with pytest.raises(Error):
        run("users", "demote", "eve@example.com")


def test_a_password_is_asked_for_twice_and_not_shown(folder: Path) -> None:
    result = run("users", "create", "ada@example.com", stdin=PASSWORD * 2)
    assert result.exit_code == 0
    assert PASSWORD.strip() not in result.output


def test_the_flags_of_an_environment_are_exported(folder: Path) -> None:
    run("migrate")
    project, environment = asyncio.run(_store_flag(folder))
    arguments = ("export", "--project", str(project), "--environment", environment)
    assert [each["name"] for each in json.loads(run(*arguments).stdout)["features"]] == ["new-checkout"]
    file = folder / "flags.json"
    assert run(*arguments, "--format", "flagstaff", "--output", str(file)).stdout == ""
    assert [each["key"] for each in json.loads(file.read_text())["flags"]] == ["new-checkout"]
    for wrong in (("--project", str(uuid4())), ("--environment", "stagging")):
        with pytest.raises(Error) as caught:
            run(*arguments, *wrong)
        assert caught.value.code is Code.NOT_FOUND
    with pytest.raises(Error) as caught:
        run(*arguments, "--output", str(folder / "missing" / "flags.json"))
    assert [each.field for each in caught.value.fields] == ["output"]


async def _store_flag(folder: Path) -> tuple[UUID, str]:
    account = make_account()
    project = make_project(account.id)
    environment = make_environment(project.id)
    async with open_service(Settings.load({"FLAGSTAFF_DATA_DIR": str(folder)})) as flagstaff:
        await store_all(flagstaff.database, account, project, environment, make_flag(environment))
    return project.id, environment.key
