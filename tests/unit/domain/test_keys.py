"""Keys of environments and flags, and the SDK key."""

import re

import pytest

from flagstaff.values.errors import Code, Error
from flagstaff.values.keys import check_environment_key, check_flag_key, new_sdk_key, require_same_key

NEVER_A_KEY = ["", "New", "new key", "new.key", "new/key", "größe", "key\n", "\nkey", "k\u0131", "٣", "key\x00", " key"]


@pytest.mark.parametrize("value", NEVER_A_KEY)
def test_characters_outside_the_alphabet_are_refused(value: str) -> None:
    for check in (check_environment_key, check_flag_key):
        with pytest.raises(ValueError, match="must"):
            check(value)


@pytest.mark.parametrize("value", ["1st", "_new", "-new", "0"])
def test_a_flag_key_that_does_not_start_with_a_letter_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="must start with a lowercase letter"):
        check_flag_key(value)


@pytest.mark.parametrize("value", ["1st", "_new", "-new", "0", "production", "eu-west_1"])
def test_an_environment_key_may_start_with_any_of_its_characters(value: str) -> None:
    assert check_environment_key(value) == value


@pytest.mark.parametrize("value", ["a", "new-checkout", "new_checkout", "n3w", "a-", "a_"])
def test_a_flag_key_starts_with_a_letter(value: str) -> None:
    assert check_flag_key(value) == value


def test_a_key_of_129_characters_is_refused() -> None:
    for check in (check_environment_key, check_flag_key):
        with pytest.raises(ValueError, match="at most 128"):
            check("k" * 129)
        assert check("k" * 128) == "k" * 128


def test_an_sdk_key_is_a_prefix_and_43_random_url_safe_characters() -> None:
    keys = {new_sdk_key() for _ in range(100)}
    assert len(keys) == 100
    assert all(re.fullmatch(r"sdk_[A-Za-z0-9_-]{43}", key) for key in keys)


def test_a_key_that_differs_from_the_present_one_is_refused() -> None:
    with pytest.raises(Error) as refusal:
        require_same_key("checkout", "Checkout")
    assert refusal.value.code is Code.INVALID
    assert [field.field for field in refusal.value.fields] == ["key"]


@pytest.mark.parametrize("given", [None, "checkout"])
def test_the_present_key_may_be_given_or_left_out(given: str | None) -> None:
    require_same_key("checkout", given)
