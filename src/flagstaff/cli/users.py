"""Accounts from the command line, also while the server runs."""

import asyncio
import os
import sys
from collections.abc import Callable
from typing import Annotated

import typer

from flagstaff.assembly.bootstrap import open_service
from flagstaff.identity.accounts.accounts import Account, check_password
from flagstaff.identity.accounts.emails import check_email
from flagstaff.settings import Settings
from flagstaff.values.errors import invalid_field

app = typer.Typer(
    help="Create accounts, reset passwords and second factors, and choose administrators.", no_args_is_help=True
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


async def _set_administrator(email: str, *, is_administrator: bool) -> Account:
    async with open_service(Settings.load(os.environ)) as flagstaff:
        return await flagstaff.identity.administrators.set_administrator(email=email, is_administrator=is_administrator)


async def _create(email: str, password: str) -> Account:
    async with open_service(Settings.load(os.environ)) as flagstaff:
        return await flagstaff.identity.accounts.register(email=email, password=password, is_verified=True)


async def _set_password(email: str, password: str) -> Account:
    async with open_service(Settings.load(os.environ)) as flagstaff:
        return await flagstaff.identity.accounts.set_password(email=email, password=password)


async def _reset_two_factor(email: str) -> Account:
    async with open_service(Settings.load(os.environ)) as flagstaff:
        return await flagstaff.identity.second_factors.reset(email=email)


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
