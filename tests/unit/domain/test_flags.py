"""The rules for flags and their targeting rules."""

import pytest

from flagstaff.flags.flags import (
    RuleType,
    check_bucketing_key,
    check_priority,
    check_rollout_percentage,
    check_rule_value,
    check_stickiness,
    check_tag,
    check_tags,
)


@pytest.mark.parametrize("value", [-1, 101, 10**30])
def test_a_rollout_outside_0_to_100_is_refused(value: int) -> None:
    with pytest.raises(ValueError, match="from 0 to 100"):
        check_rollout_percentage(value)


@pytest.mark.parametrize("value", [0, 1, 99, 100])
def test_a_rollout_from_0_to_100_is_kept(value: int) -> None:
    assert check_rollout_percentage(value) == value


@pytest.mark.parametrize("value", [-(2**31) - 1, 2**31, 10**30])
def test_a_priority_beyond_32_bits_is_refused(value: int) -> None:
    with pytest.raises(ValueError, match="whole number"):
        check_priority(value)


@pytest.mark.parametrize("value", [-(2**31), -1, 0, 2**31 - 1])
def test_a_32_bit_priority_is_kept(value: int) -> None:
    assert check_priority(value) == value


@pytest.mark.parametrize("rule_type", RuleType)
@pytest.mark.parametrize("value", ["", "a\x00", "\ud800", "a" * 1025])
def test_a_value_that_no_rule_can_have_is_refused(rule_type: RuleType, value: str) -> None:
    with pytest.raises(ValueError, match="must"):
        check_rule_value(rule_type, value)


@pytest.mark.parametrize("rule_type", [RuleType.USER_ID, RuleType.USER_EMAIL, RuleType.EMAIL_DOMAIN, RuleType.SEGMENT])
@pytest.mark.parametrize("value", [" ", "\t\n", "\u2003"])
def test_a_blank_value_is_refused(rule_type: RuleType, value: str) -> None:
    with pytest.raises(ValueError, match="must not be blank"):
        check_rule_value(rule_type, value)


NO_DOMAINS = [
    "*",
    "*.example.com",
    "exam*ple.com",
    ".example.com",
    "example.com.",
    "example..com",
    ".",
    "example .com",
    "example.com\n",
    "example.com\u200b",
    "https://example.com",
    "example.com/mail",
    "example.com,example.org",
    "example.com:25",
    "<example.com>",
    "ada@example.com",
    "@example.com",
]


@pytest.mark.parametrize("domain", ["", *NO_DOMAINS])
def test_a_domain_that_no_email_can_have_is_refused_in_each_rule_about_emails(domain: str) -> None:
    for rule_type, value in ((RuleType.EMAIL_DOMAIN, f"@{domain}"), (RuleType.USER_EMAIL, f"ada@{domain}")):
        with pytest.raises(ValueError, match="must"):
            check_rule_value(rule_type, value)


@pytest.mark.parametrize("value", ["ada", "@example.com", "ada @example.com", " ada@example.com", "*@example.com"])
def test_a_user_email_that_no_user_can_have_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="must"):
        check_rule_value(RuleType.USER_EMAIL, value)


@pytest.mark.parametrize(
    "domain", ["acme.com", "ACME.com", "localhost", "a-b.x_y.co", "bücher.example", "उदाहरण.example", "[192.0.2.1]"]
)
@pytest.mark.parametrize("local", ["ada", "o'brien", "a*b+tag", "ådå", "a.b"])
def test_whatever_an_email_can_be_is_kept_for_it_and_for_its_domain(local: str, domain: str) -> None:
    email = f"{local}@{domain}"
    assert check_rule_value(RuleType.USER_EMAIL, email) == email
    for value in (domain, f"@{domain}"):
        assert check_rule_value(RuleType.EMAIL_DOMAIN, value) == value


@pytest.mark.parametrize(
    ("rule_type", "value"),
    [
        (RuleType.USER_ID, " any text at all \n"),
        (RuleType.USER_ID, "u" * 1024),
        (RuleType.USER_EMAIL, "Ada@Example.com"),
        (RuleType.EMAIL_DOMAIN, "Example.com"),
        (RuleType.EMAIL_DOMAIN, "@example.com"),
    ],
)
def test_a_rule_value_is_kept_as_given(rule_type: RuleType, value: str) -> None:
    assert check_rule_value(rule_type, value) == value


@pytest.mark.parametrize("value", ["", " ", "a\x00", "\ud800", "k" * 256])
def test_a_bucketing_key_that_is_blank_or_too_long_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="must"):
        check_bucketing_key(value)


def test_a_bucketing_key_is_kept_as_given() -> None:
    for value in (" Group.One ", "k" * 255):
        assert check_bucketing_key(value) == value


@pytest.mark.parametrize("value", ["", " \n", "a\x00", "\ud800", "s" * 129, "current_time"])
def test_a_stickiness_that_identifies_nobody_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="must"):
        check_stickiness(value)


def test_a_stickiness_is_trimmed() -> None:
    assert check_stickiness(" company id\n") == "company id"


@pytest.mark.parametrize("value", ["", "  ", "a\x00", "t" * 51])
def test_a_tag_that_is_empty_or_too_long_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="must"):
        check_tag(value)


def test_too_many_or_equal_tags_are_refused() -> None:
    with pytest.raises(ValueError, match="at most 20"):
        check_tags([str(number) for number in range(21)])
    with pytest.raises(ValueError, match="'b' occurs twice"):
        check_tags(["a", "b", "b"])
    assert check_tags(["b", "a"]) == ("b", "a")


@pytest.mark.parametrize("value", ["Beta", "1st", "a b", "k" * 129])
def test_a_value_that_is_no_key_of_a_segment_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="must"):
        check_rule_value(RuleType.SEGMENT, value)


def test_a_rule_of_the_type_attributes_has_no_value_and_all_others_have_one() -> None:
    assert check_rule_value(RuleType.ATTRIBUTES, None) is None
    for rule_type in set(RuleType) - {RuleType.ATTRIBUTES}:
        with pytest.raises(ValueError, match="must be a string"):
            check_rule_value(rule_type, None)
