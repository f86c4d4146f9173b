"""Request metrics of an environment: which there are, and what they were over time."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from flagstaff.changes.changes import Actor
from flagstaff.database.database import Database
from flagstaff.history.store import request_metrics
from flagstaff.metrics.request_metrics import (
    KEPT,
    MEASURES,
    Measure,
    RequestKind,
    RequestMetric,
    Series,
    has_labels,
    list_request_metrics,
    measure_of,
    of_latest_kind,
)
from flagstaff.permissions.permissions import Permission
from flagstaff.projects.access import open_environment
from flagstaff.values.errors import invalid_field, not_found

LINES_MAX = 20
_POINTS_MAX = 120
_SPANS = (1, 2, 5, 10, 15, 30, 60, 90)  # minutes of a point; the last one is enough for as long as samples are kept
_SHOWN = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class ChartRequest:
    """A chart to draw: a measure of the series with these labels, and with `by` a line for each value of a label.

    By default it is the first measure of the kind, in the last hour.
    """

    name: str
    measure: Measure | None
    labels: Mapping[str, str]
    by: str | None
    since: datetime | None
    until: datetime | None


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a chart: the value of the label by which it was divided, and a number for each span, or None."""

    value: str | None
    points: Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Chart:
    """A measure of a request metric over time: `points` of each line are of `minutes` minutes each, from `since` on.

    `omitted` is how many values of the label have no line, because there would be too many.
    """

    kind: RequestKind
    measure: Measure
    since: datetime
    until: datetime
    minutes: int
    lines: Sequence[Line]
    omitted: int


@dataclass(frozen=True, slots=True)
class RequestMetrics:
    """The use cases of request metrics. All raise Error NOT_FOUND for what is not the actor's."""

    database: Database
    now: Callable[[], datetime]

    async def list_request_metrics(self, actor: Actor, project_id: UUID, environment_id: UUID) -> list[RequestMetric]:
        """The request metrics of an environment in the last seven days, by name."""
        await self._open(actor, project_id, environment_id)
        async with self.database.read_history() as connection:
            return list_request_metrics(await request_metrics.list_series(connection, environment_id))

    async def chart(self, actor: Actor, project_id: UUID, environment_id: UUID, wanted: ChartRequest) -> Chart:
        """A measure of a request metric over time.

        Raises:
            Error: NOT_FOUND if no request metric has this name; INVALID for a measure that its kind does not have, or
                for a span that is empty or longer than samples are kept.
        """
        await self._open(actor, project_id, environment_id)
        end = self.now() if wanted.until is None else wanted.until
        start = end - _SHOWN if wanted.since is None else wanted.since
        if start >= end:
            raise invalid_field("since", "must be before until")
        if end - start > KEPT:
            raise invalid_field("since", f"must be at most {KEPT.days} days before until")
        async with self.database.read_history() as connection:
            of_name = await request_metrics.list_series(connection, environment_id, wanted.name)
            if not of_name:
                raise not_found("request metric")
            series = of_latest_kind(of_name)
            kind = series[0].kind
            measure = wanted.measure or MEASURES[kind][0]
            if measure not in MEASURES[kind]:
                raise invalid_field("measure", f"must be one of {', '.join(MEASURES[kind])}, for a {kind}")
            shown = [each for each in series if has_labels(each, wanted.labels)]
            by_value = _divide(shown, wanted.by)
            start = request_metrics.minute_start(request_metrics.minute_of(start))
            end = request_metrics.minute_start(request_metrics.minute_of(end) + 1)
            total = (end - start) // timedelta(minutes=1)
            minutes = next(each for each in _SPANS if total <= each * _POINTS_MAX)
            spans = [start + timedelta(minutes=minutes) * place for place in range(-(-total // minutes))]
            lines = []
            for value, of_value in list(by_value.items())[:LINES_MAX]:
                sums = await request_metrics.sum_samples(
                    connection, [each.id for each in of_value], start, end, minutes
                )
                points = [measure_of(measure, kind, sums.get(each, ()), minutes) for each in spans]
                lines.append(Line(value, points))
        return Chart(kind, measure, start, end, minutes, lines, max(0, len(by_value) - LINES_MAX))

    async def _open(self, actor: Actor, project_id: UUID, environment_id: UUID) -> None:
        async with self.database.read() as connection:
            await open_environment(connection, actor, project_id, environment_id, Permission.EVALUATIONS_READ)


def _divide(series: Sequence[Series], by: str | None) -> dict[str | None, list[Series]]:
    """The series by the values of a label, in their order; those without it are left out."""
    if by is None:
        return {None: list(series)}
    values = sorted({each.labels[by] for each in series if by in each.labels})
    return {value: [each for each in series if each.labels.get(by) == value] for value in values}
