"""The rules for emails and passwords."""

import pytest

from flagstaff.identity.accounts.accounts import check_email, check_password, email_identity

NO_EMAIL = [
    "",
    " ",
    "ada",
    "ada@",
    "@example.com",
    "ada@@example.com",
    "ada@lovelace@example.com",
    "ada lovelace@example.com",
    "ada@exam ple.com",
    "ada@example.com\r\nBcc: eve@example.com",
    "ada\x7f@example.com",
    "ada\u200b@example.com",
    "ada\u2028@example.com",
    "ada@.example.com",
    "ada@example.com.",
    "ada@example..com",
    "ada@example.com\x00",
    "ada\ud800@example.com",
]


@pytest.mark.parametrize("value", NO_EMAIL)
def test_an_invalid_email_address_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="must"):
        check_email(value)


def test_an_email_of_255_characters_is_refused() -> None:
    with pytest.raises(ValueError, match="at most 254"):
        check_email("a" * 243 + "@example.com")
    assert check_email("a" * 242 + "@example.com")


@pytest.mark.parametrize(
    "value", ["ada@example.com", "Ada.L+news@Example.COM", "ada@localhost", "müller@bücher.example"]
)
def test_an_email_address_is_kept_as_written(value: str) -> None:
    assert check_email(value) == value


def test_an_email_is_trimmed() -> None:
    assert check_email("  ada@example.com\n") == "ada@example.com"


def test_addresses_are_the_same_without_case() -> None:
    assert email_identity("Ada@Example.COM") == email_identity("ada@example.com")


@pytest.mark.parametrize("value", ["", "1234567", "a" * 1025, "password\x00", "password\ud800"])
def test_a_password_that_cannot_be_one_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="must"):
        check_password(value)


@pytest.mark.parametrize(
    "value", ["x7k29qpf", "a" * 1024, "        ", " pass word ", "пароль-пароль", "😀😀😀😀😀😀😀😀"]
)
def test_a_password_of_8_to_1024_characters_is_kept_as_given(value: str) -> None:
    assert check_password(value) == value
