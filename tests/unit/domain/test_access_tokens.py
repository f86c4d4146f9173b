"""The form of access tokens, as secret scanners check it."""

import re
import zlib

import pytest

from flagstaff.projects.access_tokens.access_tokens import PATTERN, checksum, is_token, new_token

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def test_anything_else_is_no_token() -> None:
    token = new_token()
    for text in (
        "",
        "fst_",
        token[:-1],
        token + "0",
        token.upper(),
        token.replace("fst_", "fsx_"),
        f" {token}",
        f"{token}\n",
        "fst_" + "é" * 49,
        "fst_" + "0" * 49,
        "eyJhbGciOiJIUzI1NiJ9.e30.x",
    ):
        assert not is_token(text), text


def test_a_token_with_one_changed_character_is_none() -> None:
    token = new_token()
    for place in range(len(token)):
        changed = "1" if token[place] == "0" else "0"
        assert not is_token(token[:place] + changed + token[place + 1 :])


def test_tokens_differ_and_have_the_documented_form() -> None:
    tokens = {new_token() for _ in range(100)}
    assert len(tokens) == 100
    assert all(is_token(each) and re.fullmatch(PATTERN, each) for each in tokens)


def test_the_checksum_can_be_computed_as_documented() -> None:
    for token in (new_token() for _ in range(20)):
        number, expected = zlib.crc32(token[:-6].encode()), ""
        while len(expected) < 6:
            number, place = divmod(number, 62)
            expected = DIGITS[place] + expected
        assert token.endswith(expected)


@pytest.mark.parametrize(("text", "expected"), [("", "000000"), ("fst_" + "0" * 43, checksum("fst_" + "0" * 43))])
def test_it_has_six_digits(text: str, expected: str) -> None:
    assert checksum(text) == expected
    assert len(expected) == 6
