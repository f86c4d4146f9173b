"""Reports of applications, without a client: reports and polls in the form in which the endpoints pass them on."""

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.history.applications import Client, Report
from tests.support.api import Json
from tests.support.clock import Clock

MakeReport = Callable[..., Report]


@pytest.fixture
def clock() -> Clock:
    """The clock that sets when reports arrive."""
    return Clock()


def make_client(**values: Any) -> Client:
    """Return an instance of an application."""
    named = {"application": "checkout", "instance": "pod-1", "connection": "", "sdk": "unleash-python:6.9.1"}
    return Client(**{**named, **values})


def make_report(environment: Json, window: Any = None, **counts: Any) -> Report:
    """Return a report of an instance, of a window that no other report has unless one is given."""
    return Report(UUID(environment["id"]), make_client(), window or uuid4().bytes, counts)


@pytest.fixture
def report(flagstaff: Flagstaff) -> Callable[..., None]:
    """Pass reports on."""

    def take(*reports: Report) -> None:
        for each in reports:
            flagstaff.applications.collector.require_room(len(each.counts))
            flagstaff.applications.collector.record_report(each)

    return take
