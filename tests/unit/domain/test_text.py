"""The checks for all texts."""

import pytest

from flagstaff.values.text import check_description, check_length, check_name, check_text


@pytest.mark.parametrize("value", ["\x00", "a\x00b", "\ud800", "x\udfffy"])
def test_nul_and_lone_surrogates_are_refused(value: str) -> None:
    with pytest.raises(ValueError, match="must"):
        check_text(value)


@pytest.mark.parametrize("value", ["", "plain", "größe", "😀", "\ufffd\uffff", "a\nb\t"])
def test_other_unicode_is_kept_unchanged(value: str) -> None:
    assert check_text(value) == value


def test_too_few_characters_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 8 characters"):
        check_length("1234567", 8, 10)


def test_too_many_characters_are_refused() -> None:
    with pytest.raises(ValueError, match="at most 10,000 characters"):
        check_length("a" * 10_001, 0, 10_000)


def test_a_length_at_both_bounds_is_allowed() -> None:
    assert check_length("12345678", 8, 8) == "12345678"


@pytest.mark.parametrize("value", ["", " ", "\t\n\u00a0"])
def test_a_blank_name_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="must not be empty"):
        check_name(value)


def test_a_name_of_256_characters_is_refused() -> None:
    with pytest.raises(ValueError, match="at most 255"):
        check_name("n" * 256)


def test_a_name_is_trimmed_before_it_is_measured() -> None:
    assert check_name(f"  {'n' * 255}\n") == "n" * 255


def test_a_description_of_10001_characters_is_refused() -> None:
    with pytest.raises(ValueError, match="at most 10,000"):
        check_description("d" * 10_001)


def test_a_description_is_kept_as_given() -> None:
    assert check_description("") == ""
    assert check_description(" two\nlines ") == " two\nlines "
    assert check_description("d" * 10_000) == "d" * 10_000
