"""The rules for emails and passwords."""

import pytest

from flagstaff.identity.accounts.accounts import check_password
from flagstaff.values.emails import check_email, email_identity

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


@pytest.mark.parametrize(
    "value",
    ["ada@b\uff20evil.example", "ada@\u24d0..example", "ada@\u200b.example", "ada@a\u2100.example"],
)
def test_an_address_whose_domain_is_none_in_ascii_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="must be an email address"):
        check_email(value)


MAILBOX = "ada@bücher.example"


@pytest.mark.parametrize(
    "spelling",
    [
        "Ada@Bücher.EXAMPLE",
        "ada@BÜCHER.example",
        "ada@xn--bcher-kva.example",
        "ADA@XN--BCHER-KVA.EXAMPLE",
        "ada@bu\u0308cher.example",
        "ada@bücher\u3002example",
        "ada@bücher\uff0eexample",
        "ada@\uff42ücher.example",
        "ada@\U0001d41bücher.example",
    ],
)
def test_spellings_that_reach_one_mailbox_are_one_address(spelling: str) -> None:
    assert check_email(spelling) == spelling
    assert email_identity(spelling) == email_identity(MAILBOX)


@pytest.mark.parametrize(
    "other", ["ada+news@bücher.example", "ada@bucher.example", "a.da@bücher.example", "äda@bücher.example"]
)
def test_what_only_some_mail_servers_deliver_to_one_mailbox_are_several_addresses(other: str) -> None:
    assert email_identity(other) != email_identity(MAILBOX)


@pytest.mark.parametrize("value", ["", "1234567", "a" * 1025, "password\x00", "password\ud800"])
def test_a_password_that_cannot_be_one_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="must"):
        check_password(value)


@pytest.mark.parametrize(
    "value", ["x7k29qpf", "a" * 1024, "        ", " pass word ", "пароль-пароль", "😀😀😀😀😀😀😀😀"]
)
def test_a_password_of_8_to_1024_characters_is_kept_as_given(value: str) -> None:
    assert check_password(value) == value
