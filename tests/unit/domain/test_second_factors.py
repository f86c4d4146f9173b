"""The forms of codes, and the site of passkeys."""

from datetime import UTC, datetime

import pytest

from flagstaff.identity.second_factors.passkeys import site_of
from flagstaff.identity.second_factors.second_factors import (
    check_code,
    check_recovery_code,
    new_recovery_code,
    time_steps,
)


@pytest.mark.parametrize(
    "code", ["", "12345", "1234567", "abcdef", " 12345", "123456\n", "١٢٣٤٥٦", "\uff11" * 6, "²²²²²²"]
)
def test_what_is_not_six_digits_is_no_code(code: str) -> None:
    with pytest.raises(ValueError, match="six digits"):
        check_code(code)


def test_leading_zeros_belong_to_a_code() -> None:
    assert check_code("000123") == "000123"


@pytest.mark.parametrize(
    "code", ["", "abcd", "abcd-efgh-2345-678", "abcd-efgh-2345-6789a", "abcd-efgh-2345-678l", "x" * 65]
)
def test_what_is_no_recovery_code_is_refused(code: str) -> None:
    with pytest.raises(ValueError, match="recovery code"):
        check_recovery_code(code)


def test_recovery_codes_are_read_without_case_spaces_and_hyphens() -> None:
    code = new_recovery_code()
    read = {check_recovery_code(each) for each in (code, code.upper(), code.replace("-", ""), code.replace("-", " "))}
    assert read == {code.replace("-", "")}


def test_recovery_codes_differ() -> None:
    assert len({new_recovery_code() for _ in range(1_000)}) == 1_000


def test_codes_of_the_step_before_and_after_are_accepted() -> None:
    assert list(time_steps(datetime.fromtimestamp(59, UTC))) == [0, 1, 2]
    assert list(time_steps(datetime.fromtimestamp(60, UTC))) == [1, 2, 3]


@pytest.mark.parametrize(
    ("public_url", "host", "origin", "allows"),
    [
        ("https://Flags.Example.com/team", "flags.example.com", "https://flags.example.com", True),
        ("https://flags.example.com:443", "flags.example.com", "https://flags.example.com", True),
        ("https://flags.example.com:8443", "flags.example.com", "https://flags.example.com:8443", True),
        ("http://localhost:8000", "localhost", "http://localhost:8000", True),
        ("http://app.localhost:8000", "app.localhost", "http://app.localhost:8000", True),
        ("http://flags.example.com", "flags.example.com", "http://flags.example.com", False),
        ("http://127.0.0.1:8000", "127.0.0.1", "http://127.0.0.1:8000", False),
        ("https://127.0.0.1", "127.0.0.1", "https://127.0.0.1", False),
        ("https://[::1]:8443", "::1", "https://[::1]:8443", False),
    ],
)
def test_the_site_is_the_origin_that_browsers_name(public_url: str, host: str, origin: str, allows: bool) -> None:
    site = site_of(public_url)
    assert (site.host, site.origin, site.allows_passkeys) == (host, origin, allows)
