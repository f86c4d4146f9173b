"""The rules for flags and their targeting rules."""

import pytest

from flagstaff.domain.flags import RuleType, check_priority, check_rollout_percentage, check_rule_value


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


@pytest.mark.parametrize("value", ["ada", "@example.com", "ada@", "ada@@example.com", "a@b@c", "ada @example.com", "@"])
def test_a_user_email_rule_needs_one_at_sign_between_two_texts(value: str) -> None:
    with pytest.raises(ValueError, match="must"):
        check_rule_value(RuleType.USER_EMAIL, value)


@pytest.mark.parametrize("value", ["@", "@@example.com", "ada@example.com", "example .com", " example.com"])
def test_an_email_domain_rule_refuses_what_is_no_domain(value: str) -> None:
    with pytest.raises(ValueError, match="must"):
        check_rule_value(RuleType.EMAIL_DOMAIN, value)


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
