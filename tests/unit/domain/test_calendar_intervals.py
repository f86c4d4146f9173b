"""Intervals in time zones: days, weeks and months begin when people's clocks say so."""

import random
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from flagstaff.values.errors import Error
from flagstaff.values.intervals import MAX_INTERVALS, calendar_intervals, moment_of
from flagstaff.values.zones import parse_zone

ZONES = (
    "Europe/Berlin",
    "America/New_York",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "America/Sao_Paulo",
    "Pacific/Apia",
    "Pacific/Kiritimati",
    "UTC",
)


def bounds_of(since: str, until: str, interval: str, zone: str) -> list[str]:
    found = calendar_intervals(datetime.fromisoformat(since), datetime.fromisoformat(until), interval, parse_zone(zone))
    return [f"{moment_of(each).astimezone(ZoneInfo(zone)):%m-%d %H:%M}" for each in found.bounds]


def test_a_day_on_which_clocks_are_changed_is_longer_or_shorter() -> None:
    found = calendar_intervals(
        datetime(2026, 10, 24, 12, tzinfo=UTC), datetime(2026, 10, 27, tzinfo=UTC), "1d", parse_zone("Europe/Berlin")
    )
    assert [(stop - start) / 60 for start, stop in pairwise(found.bounds)] == [24, 25, 24, 24]
    assert found.since == datetime(2026, 10, 23, 22, tzinfo=UTC)


def test_parts_of_a_day_begin_at_the_same_hours_of_the_clock() -> None:
    assert bounds_of("2026-10-24T22:00Z", "2026-10-25T23:00Z", "6h", "Europe/Berlin") == [
        "10-25 00:00",
        "10-25 06:00",
        "10-25 12:00",
        "10-25 18:00",
        "10-26 00:00",
    ]
    hours = calendar_intervals(
        datetime(2026, 3, 28, 23, tzinfo=UTC), datetime(2026, 3, 29, 22, tzinfo=UTC), "1h", parse_zone("Europe/Berlin")
    )
    assert len(hours.starts) == 23


def test_weeks_begin_on_monday_and_months_on_the_first() -> None:
    assert bounds_of("2026-11-18T00:00Z", "2026-11-25T00:00Z", "week", "Asia/Kathmandu") == [
        "11-16 00:00",
        "11-23 00:00",
        "11-30 00:00",
    ]
    assert bounds_of("2026-01-31T23:30Z", "2026-03-01T00:00Z", "month", "Europe/Berlin") == [
        "02-01 00:00",
        "03-01 00:00",
        "04-01 00:00",
    ]


def test_midnight_that_does_not_exist_is_the_moment_of_the_change_and_a_day_that_does_not_is_left_out() -> None:
    assert bounds_of("2018-11-03T12:00Z", "2018-11-04T12:00Z", "1d", "America/Sao_Paulo") == [
        "11-03 00:00",
        "11-04 01:00",
        "11-05 00:00",
    ]
    assert bounds_of("2011-12-29T12:00Z", "2012-01-01T00:00Z", "1d", "Pacific/Apia") == [
        "12-29 00:00",
        "12-31 00:00",
        "01-01 00:00",
        "01-02 00:00",
    ]


@pytest.mark.parametrize("seed", range(40))
def test_each_interval_begins_in_another_day_week_or_month_of_the_zone_and_they_cover_the_time(seed: int) -> None:
    chance = random.Random(seed)
    zone = parse_zone(chance.choice(ZONES))
    since = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=chance.randrange(525_600))
    until = since + timedelta(minutes=chance.randrange(1, 200_000))
    names = {"1d": "%Y-%m-%d", "week": "%G-%V", "month": "%Y-%m"}
    interval = chance.choice([*names])
    found = calendar_intervals(since, until, interval, zone)
    assert found.since <= since < moment_of(found.bounds[1])
    assert moment_of(found.starts[-1]) < until <= found.until
    named = [moment_of(start).astimezone(zone).strftime(names[interval]) for start in found.starts]
    assert len(set(named)) == len(named)
    before = [(moment_of(stop) - timedelta(minutes=1)).astimezone(zone) for stop in found.bounds[1:]]
    assert [each.strftime(names[interval]) for each in before] == named


def test_too_many_intervals_are_refused_before_they_are_made() -> None:
    for interval in ("1m", "1d", "week", "month"):
        with pytest.raises(Error):
            calendar_intervals(
                datetime(1971, 1, 1, tzinfo=UTC),
                datetime(2999, 1, 1, tzinfo=UTC),
                interval,
                parse_zone("Europe/Berlin"),
            )
    most = timedelta(days=MAX_INTERVALS - 1)
    until = datetime(2026, 11, 20, 23, tzinfo=UTC)
    assert len(calendar_intervals(until - most, until, "1d", parse_zone("Europe/Berlin")).starts) == MAX_INTERVALS - 1


@pytest.mark.parametrize("name", ["", "Berlin", "europe/berlin", "+01:00", "Europe", "../etc/passwd", "A" * 65, "Z/Z"])
def test_an_unknown_zone_is_refused_with_an_example(name: str) -> None:
    with pytest.raises(ValueError, match="such as Europe/Berlin"):
        parse_zone(name)
