"""The format and order of times."""

from datetime import UTC, datetime, timedelta, timezone

from flagstaff.values.moments import format_moment, later_than

TEN = datetime(2026, 11, 20, 10, 0, 0, tzinfo=UTC)


def test_a_moment_is_written_in_utc_with_microseconds() -> None:
    assert format_moment(TEN) == "2026-11-20T10:00:00.000000Z"
    assert format_moment(TEN.replace(microsecond=123456)) == "2026-11-20T10:00:00.123456Z"


def test_a_moment_in_another_time_zone_is_written_in_utc() -> None:
    assert format_moment(TEN.astimezone(timezone(timedelta(hours=-5)))) == "2026-11-20T10:00:00.000000Z"


def test_a_change_is_now_if_the_clock_has_moved_on() -> None:
    assert later_than(TEN, TEN + timedelta(seconds=1)) == TEN + timedelta(seconds=1)


def test_a_change_is_later_even_if_the_clock_stood_still_or_was_set_back() -> None:
    for now in (TEN, TEN - timedelta(days=1)):
        assert later_than(TEN, now) == TEN + timedelta(microseconds=1)
