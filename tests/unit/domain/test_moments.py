"""How times are read and written, and their order."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from flagstaff.values.moments import format_moment, later_than, parse_moment

TEN = datetime(2026, 11, 20, 10, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "1763632800",
        "2026-11",
        "2026-11-31",
        "2026-W47-5",
        "20261120T100000Z",
        "2026-11-20T10Z",
        "2026-11-20T10:00:00",
        "2026-11-20T10:00:00.Z",
        "2026-11-20T10:00:00 Z",
        "2026-11-20T10:00:00+24:00",
        "2026-11-20T25:00:00Z",
        "2026-11-20T24:00:01Z",
        "2026-11-20T24:00:00.5Z",
        "2026-11-20T10:00:60Z",
        "2026-11-20T23:59:60+01:00",
        "2026-11-20T23:59:61Z",
        "٢٠٢٦-11-20T10:00:00Z",
        "1970-12-31T23:59:59Z",
        "3000-01-01",
        "2999-12-31T24:00:00Z",
        "0001-01-01T00:00:00+23:59",
        "9999-12-31T24:00:00-23:59",
        f"2026-11-20T10:00:00.{'1' * 60}Z",
        "2026-11-20T10:00:00Z\n",
    ],
)
def test_a_text_that_is_no_time_is_refused_with_examples(text: str) -> None:
    with pytest.raises(ValueError, match=r"between 1971 and 2999, such as 2026-11-20T10:00:00Z, .* or 2026-11-20$"):
        parse_moment(text)


def test_a_plus_sign_that_a_query_string_has_made_a_space_is_named() -> None:
    with pytest.raises(ValueError, match=r'In a query string, write "\+" as %2B$'):
        parse_moment("2026-11-20T12:00:00 02:00")


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-20T10:00:00Z",
        "2026-11-20t10:00:00z",
        "2026-11-20 10:00:00Z",
        "2026-11-20T10:00Z",
        "2026-11-20T10:00:00.0000009Z",
        "2026-11-20T12:00:00+02:00",
        "2026-11-20T12:00:00+0200",
        "2026-11-20T12:00:00+02",
        "2026-11-20T04:30:00-05:30",
        "2026-11-19T24:00:00-10:00",
    ],
)
def test_a_time_is_read_as_programs_write_it(text: str) -> None:
    assert parse_moment(text) == TEN
    assert parse_moment(text).tzinfo is UTC


def test_a_day_ends_at_24_which_is_the_start_of_the_next() -> None:
    assert parse_moment("2026-12-31T24:00:00Z") == datetime(2027, 1, 1, tzinfo=UTC)
    assert parse_moment("2026-12-31T24:00+01:00") == datetime(2026, 12, 31, 23, tzinfo=UTC)


@pytest.mark.parametrize("text", ["2016-12-31T23:59:60Z", "2016-12-31T23:59:60.9z", "2017-01-01T00:59:60+01:00"])
def test_a_leap_second_is_the_start_of_the_next_minute(text: str) -> None:
    assert parse_moment(text) == datetime(2017, 1, 1, tzinfo=UTC)


def test_a_date_is_the_start_of_the_day_in_its_time_zone() -> None:
    assert parse_moment("2026-11-20") == datetime(2026, 11, 20, tzinfo=UTC)
    assert parse_moment("2026-07-01", ZoneInfo("Europe/Berlin")) == datetime(2026, 6, 30, 22, tzinfo=UTC)
    assert parse_moment("1971-01-01") == datetime(1971, 1, 1, tzinfo=UTC)


def test_a_fraction_of_a_second_keeps_its_microseconds() -> None:
    assert parse_moment("2026-11-20T10:00:00.5Z") == TEN.replace(microsecond=500_000)
    assert parse_moment("2026-11-20T10:00:00.123456789Z") == TEN.replace(microsecond=123_456)


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
