"""The type of passwords."""

from typing import Annotated

from pydantic import AfterValidator, Field

from flagstaff.identity.accounts import accounts

# Without `format: password`, from which some generators make a type that is sent as asterisks, as a valid password.
Password = Annotated[
    str,
    AfterValidator(accounts.check_password),
    Field(
        json_schema_extra={
            "minLength": accounts.PASSWORD_MIN_LENGTH,
            "maxLength": accounts.PASSWORD_MAX_LENGTH,
        }
    ),
]
