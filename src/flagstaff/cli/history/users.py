"""The options with which commands name a user of the applications."""

import typer

from flagstaff.history.erased_users import Subject
from flagstaff.values.errors import invalid_field

USER_ID = typer.Option(help="The user's id, exactly as in contexts.")
USER_EMAIL = typer.Option(help="The user's email, ignoring case.")
ONE_PROJECT = typer.Option(help="Only in the project with this id.")


def read_subject(user_id: str | None, user_email: str | None) -> Subject:
    """The user; raises Error INVALID without an id and an email."""
    if not user_id and not user_email:
        raise invalid_field("user-id", "is required, unless --user-email is given")
    return Subject(user_id or None, user_email or None)
