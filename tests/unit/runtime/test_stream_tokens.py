"""Tokens that open streams."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstaff.serving.stream_tokens import PERIOD_SECONDS, KeyName, StreamTokens

SECRET = "k" * 32
START = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
KEY = KeyName(UUID("01a1fb68-78d6-72a0-9594-54797a0c2450"), UUID("01a1fb68-78d6-72a0-9594-54797a0c2451"))


def tokens_at(seconds: float = 0, secret: str = SECRET) -> StreamTokens:
    return StreamTokens(secret, lambda: START + timedelta(seconds=seconds))


TOKEN = tokens_at().make(KEY)


@given(st.text())
def test_what_was_not_made_here_is_refused(text: str) -> None:
    assert tokens_at().read(text) is None


@pytest.mark.parametrize(
    "token",
    [
        "",
        ".",
        "..",
        TOKEN[:-1],
        TOKEN + "0",
        TOKEN.upper(),
        TOKEN.replace(KEY.key_id.hex, "0" * 32),
        TOKEN + "\ud800",
        "." * 9999,
    ],
)
def test_a_token_that_was_altered_is_refused(token: str) -> None:
    assert tokens_at().read(token) is None


def test_a_token_for_a_later_period_cannot_be_made_of_another() -> None:
    project_id, key_id, period, digest = TOKEN.split(".")
    assert tokens_at().read(f"{project_id}.{key_id}.{int(period) + 1}.{digest}") is None


def test_a_token_of_another_secret_key_is_refused() -> None:
    assert tokens_at(secret="j" * 32).read(TOKEN) is None


def test_a_token_expires_after_one_to_two_periods() -> None:
    assert tokens_at(2 * PERIOD_SECONDS - 1).read(TOKEN) == (KEY, False)
    assert tokens_at(2 * PERIOD_SECONDS).read(TOKEN) == (KEY, True)


def test_the_tokens_of_a_period_are_the_same_on_every_instance() -> None:
    assert tokens_at(PERIOD_SECONDS - 1).make(KEY) == TOKEN
    assert tokens_at(PERIOD_SECONDS).make(KEY) != TOKEN
