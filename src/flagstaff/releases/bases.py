"""The known behaviour of users without the flag: from the counts of the release, or else from the latest events.

Pure.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from math import sqrt

from flagstaff.metrics.metrics import Kind, Metric
from flagstaff.releases.counting import number_of
from flagstaff.releases.observations import Done, Observations
from flagstaff.releases.outlook import Basis, Missing, Source
from flagstaff.releases.releases import Release
from flagstaff.releases.statistics.limits import find_limits, place_of

USERS_LEAST = 5
"""The users with an event from which a basis is made of them."""

Numbers = Mapping[str, Mapping[str, Done]]
"""What users did, by metric and by unit."""


def basis_of_release(release: Release, counted: Observations, place: int, kind: Kind) -> Basis | None:
    """The numbers of the users of a release who do not have the flag; None if too few had an event."""
    exposed = users = 0
    numbered = total = squares = 0.0
    for each in counted.compared(release.segments):
        cell = counted.metrics[place].cells[each.place][0]
        exposed += counted.exposed[each.place][0] - cell.before
        users += cell.users
        for sums in cell.blocks.values():
            numbered, total, squares = numbered + sums.users, total + sums.total, squares + sums.squares
    if users < USERS_LEAST or exposed <= 0:
        return None
    rate = min(1.0, users / exposed)
    if kind is Kind.BINARY:
        return Basis(Source.RELEASE, users, rate)
    of = exposed if kind is Kind.COUNT else numbered
    if of < USERS_LEAST:
        return None
    variance = max(0.0, squares - total * (total / of)) / (of - 1)
    return Basis(Source.RELEASE, users, rate, total / of, sqrt(variance) or None)


def gather_numbers(
    events: Iterable[tuple[str, str, int, float | None, object, object]], users: Container[str]
) -> Numbers:
    """Gather the numbers of some users from all events."""
    found: dict[str, dict[str, Done]] = {}
    for metric, unit, _, value, *_ in events:
        if unit in users:
            done = found.setdefault(metric, {}).setdefault(unit, Done(0, 0.0))
            done.events += 1
            done.total += 1.0 if value is None else value
    return found


def find_basis(metric: Metric, done: Sequence[Done], users: int) -> Basis | Missing:
    """The numbers of users with an event, among so many users; why not, if they are too few.

    Numbers are cut off as in a release.
    """
    if not users:
        return Missing.USERS
    if len(done) < USERS_LEAST:
        return Missing.EVENTS
    is_count, rate = metric.kind is Kind.COUNT, len(done) / users
    if metric.kind is Kind.BINARY:
        return Basis(Source.EVENTS, len(done), rate)
    sketch: dict[int, int] = {}
    numbers = []
    for each in done:
        number = number_of(each, metric.kind)
        numbers.append(number)
        sketch[place_of(number)] = sketch.get(place_of(number), 0) + 1
    zeros = users - len(done) if is_count else 0
    limits = find_limits(sketch, zeros, grow=is_count)
    total = sum(limits.cut(each) if limits else each for each in numbers)
    return Basis(Source.EVENTS, len(done), rate, total / (len(done) + zeros), limits.deviation if limits else None)
