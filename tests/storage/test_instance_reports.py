"""The times at which an instance reports, and the last change that it reports as served."""

from datetime import UTC, datetime

import pytest

from flagstaff.cluster.instance_reports_store import REPORT_SECONDS, Reporting, decode_report, encode_report
from flagstaff.cluster.instances import Load, Report
from flagstaff.values.errors import Error, unavailable

LOAD = Load(12.5, 0.25, 0.001, 3, 1, 50_000_000)


def make_report(change: int | None = 7) -> Report:
    return Report(datetime(2026, 11, 20, tzinfo=UTC), 1, is_draining=False, change=change, load=LOAD)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Changes:
    """Returns the number of the newest change, or raises as if the database were unavailable."""

    newest: int | Error = 0

    async def read(self) -> int:
        if isinstance(self.newest, Error):
            raise self.newest
        return self.newest


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def changes() -> Changes:
    return Changes()


@pytest.fixture
def reporting(clock: Clock, changes: Changes) -> Reporting:
    return Reporting(make_report, changes.read, clock)


def change_in(report: str | None) -> int | None:
    decoded = decode_report(report)
    assert decoded is not None, report
    return decoded.change


@pytest.mark.parametrize("text", [None, "", "{}", "no JSON", '{"started_at": 1}'])
def test_reports_in_another_form_are_none(text: str | None) -> None:
    assert decode_report(text) is None


def test_a_report_of_a_later_release_may_say_more() -> None:
    text = encode_report(make_report())
    assert decode_report(text) == make_report()
    assert decode_report(text.replace("{", '{"more": [1], ', 1)) == make_report()


def test_a_report_goes_with_the_first_renewal_and_then_every_few_seconds(reporting: Reporting, clock: Clock) -> None:
    assert change_in(reporting.report_due()) is None
    assert reporting.report_due() is None
    clock.now = REPORT_SECONDS
    assert reporting.report_due()


async def test_without_the_database_the_number_is_read_again_with_the_next_report(
    reporting: Reporting, clock: Clock, changes: Changes
) -> None:
    reporting.report_due()
    assert reporting.record_renewal(is_serving_all=True)
    changes.newest = unavailable("The database is away.")
    await reporting.find_newest()
    assert reporting.report_due() is None
    assert not reporting.record_renewal(is_serving_all=True)
    clock.now = REPORT_SECONDS
    assert change_in(reporting.report_due()) is None
    assert reporting.record_renewal(is_serving_all=True)


async def test_a_change_is_served_when_a_renewal_that_begins_after_it_was_read_finds_everything_loaded(
    reporting: Reporting, changes: Changes
) -> None:
    reporting.report_due()
    assert reporting.record_renewal(is_serving_all=True)
    changes.newest = 41
    await reporting.find_newest()
    reporting.record_renewal(is_serving_all=True)
    assert reporting.report_due() is None, "the renewal had begun before"
    reporting.record_renewal(is_serving_all=False)
    assert reporting.report_due() is None
    reporting.record_renewal(is_serving_all=True)
    assert change_in(reporting.report_due()) == 41
    assert not reporting.record_renewal(is_serving_all=True), "nothing has changed since"


async def test_a_change_that_is_heard_of_while_the_number_is_read_is_read_again(
    reporting: Reporting, changes: Changes
) -> None:
    reporting.report_due()
    assert reporting.record_renewal(is_serving_all=True)
    reporting.record_change()
    changes.newest = 41
    await reporting.find_newest()
    assert reporting.record_renewal(is_serving_all=True)
