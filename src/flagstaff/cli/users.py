"""Accounts from the command line, also while the server runs."""

import asyncio
import os
import secrets
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from typing import Annotated

import typer

from flagstaff.accounts.account_deletions_service import AccountDeletions
from flagstaff.accounts.administrators_service import Administrators
from flagstaff.accounts.operated_accounts_service import OperatedAccounts
from flagstaff.assembly.bootstrap import open_database, utc_now
from flagstaff.assembly.secret_keys import require_secret_key
from flagstaff.audit.forgetting import TrailForgetting
from flagstaff.database.data_directory import DataDirectory
from flagstaff.identity.accounts.accounts import Account, check_password
from flagstaff.identity.accounts.passwords import Passwords
from flagstaff.identity.second_factors.sealing import Sealer
from flagstaff.settings import Settings
from flagstaff.values.emails import check_email
from flagstaff.values.errors import invalid_field

app = typer.Typer(
    help="Create and delete accounts, reset passwords and second factors, and choose administrators.",
    no_args_is_help=True,
)

Email = Annotated[str, typer.Argument(help="The account's email.")]
FromStdin = Annotated[
    bool, typer.Option("--password-stdin", help="Read the password from standard input instead of asking for it.")
]


@app.command()
def create(email: Email, password_stdin: FromStdin = False) -> None:
    """Create an account."""
    account = asyncio.run(_create(_checked("email", check_email, email), _read_password(password_stdin)))
    typer.echo(f"Created {account.email} ({account.id}).")


@app.command()
def reset_password(email: Email, password_stdin: FromStdin = False) -> None:
    """Set an account's password; its sessions, access tokens and reset links end."""
    account = asyncio.run(_set_password(email, _read_password(password_stdin)))
    typer.echo(f"Set the password of {account.email}.")


@app.command()
def promote(email: Email) -> None:
    """Make an account an administrator of this instance."""
    account = asyncio.run(_set_administrator(email, is_administrator=True))
    typer.echo(f"{account.email} is an administrator.")


@app.command()
def demote(email: Email) -> None:
    """Make an administrator an ordinary account again. The last administrator cannot be demoted."""
    account = asyncio.run(_set_administrator(email, is_administrator=False))
    typer.echo(f"{account.email} is not an administrator.")


@app.command()
def reset_two_factor(email: Email) -> None:
    """Remove an account's second factors, after the loss of a device. Verify that the owner requests it."""
    account = asyncio.run(_reset_two_factor(email))
    typer.echo(f"Removed the second factors of {account.email}.")


@app.command()
def delete(
    email: Email,
    yes: Annotated[bool, typer.Option("--yes", help="Delete it without asking whether you are sure.")] = False,
) -> None:
    """Delete an account with its sessions, tokens and memberships. Its projects stay; each must have another owner."""
    if not yes:
        typer.confirm(f"Delete the account {email}? This cannot be undone", abort=True)
    account = asyncio.run(_delete(email))
    typer.echo(f"Deleted the account {account.id}.")


async def _delete(email: str) -> Account:
    settings = Settings.load(os.environ)
    async with open_database(settings) as database:
        # A server that has the same key forgets the address if this command is killed.
        key = settings.secret_key or DataDirectory(settings.data_dir).find_secret_key() or secrets.token_urlsafe()
        sealer = Sealer(key)
        deletions = AccountDeletions(database, utc_now, sealer, settings.max_projects_per_account)
        account = await deletions.delete_by_email(email)
        await TrailForgetting(database, sealer).forget(account)
        return account


async def _set_administrator(email: str, *, is_administrator: bool) -> Account:
    async with open_database(Settings.load(os.environ)) as database:
        return await Administrators(database, utc_now).set_administrator(email=email, is_administrator=is_administrator)


async def _create(email: str, password: str) -> Account:
    settings = Settings.load(os.environ)
    await require_secret_key(settings)
    async with _open_accounts() as accounts:
        if settings.secret_key is None:  # without one, a start would take it for lost, because there is an account
            DataDirectory(settings.data_dir).secret_key()
        return await accounts.create(email=email, password=password)


async def _set_password(email: str, password: str) -> Account:
    async with _open_accounts() as accounts:
        return await accounts.set_password(email=email, password=password)


async def _reset_two_factor(email: str) -> Account:
    async with _open_accounts() as accounts:
        return await accounts.remove_second_factors(email=email)


@asynccontextmanager
async def _open_accounts() -> AsyncIterator[OperatedAccounts]:
    settings = Settings.load(os.environ)
    async with open_database(settings) as database:
        with closing(Passwords()) as passwords:
            yield OperatedAccounts(database, utc_now, passwords, settings.accepts_common_passwords)


def _read_password(from_stdin: bool) -> str:
    if from_stdin:
        password = sys.stdin.readline().rstrip("\r\n")
    else:
        password = typer.prompt("Password", hide_input=True, confirmation_prompt=True)
    return _checked("password", check_password, password)


def _checked(field: str, check: Callable[[str], str], value: str) -> str:
    try:
        return check(value)
    except ValueError as error:
        raise invalid_field(field, str(error)) from error
