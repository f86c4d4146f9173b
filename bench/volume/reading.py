"""Reads a history as its users do: pages, searches, summaries and distinct users. Prints how long each takes."""

import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from bench.volume.costs import ask, find_postmaster, read_meters
from bench.volume.traffic import FREQUENT_USERS, PROJECT, START, USERS, known_id
from flagstaff.changes.changes import Actor
from flagstaff.database.database import Database
from flagstaff.database.tables import microseconds
from flagstaff.evaluation.history.filters import EvaluationFilter, FlagFilter
from flagstaff.flags.access import FlagPath
from flagstaff.history.history_service import History, SummaryFilter
from flagstaff.history.store.ids import evaluation_id

PAGE = 50
SEARCH_SECONDS = 60  # after which a search through everything is given up
_DAY, _HOUR, _MINUTE = timedelta(days=1), timedelta(hours=1), timedelta(minutes=1)
_ROLLOUT, _RULED, _OFF, _VARIANTS = "flag-01", "flag-02", "flag-00", "flag-03"

_ANYTHING = EvaluationFilter()

Read = Callable[[], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class Reader:
    """Whoever reads a history that ends at a moment."""

    history: History
    actor: Actor
    end: datetime

    def all(self) -> Iterator[tuple[str, Read]]:
        """What is read, by name."""
        yield from self.pages()
        yield from self.searches()
        yield from self.summaries()

    def pages(self) -> Iterator[tuple[str, Read]]:
        """Pages by their place and by time."""
        middle = START + (self.end - START) / 2
        yield "first page", self.page
        yield "first page of an environment with a hundredth", lambda: self.page(environment="staging")
        yield "page in the middle, by cursor", lambda: self.page(before=_cursor(middle))
        yield "page near the oldest, by cursor", lambda: self.page(before=_cursor(START + _HOUR))
        yield "page before the middle, by time", lambda: self.page(EvaluationFilter(until=middle))
        yield (
            "page of a minute in the middle",
            lambda: self.page(EvaluationFilter(since=middle - _MINUTE, until=middle)),
        )

    def searches(self) -> Iterator[tuple[str, Read]]:
        """Pages of users, and of results of flags."""
        middle = START + (self.end - START) / 2
        hour: dict[str, Any] = {"since": middle - _HOUR, "until": middle}
        rare = f"user-{USERS - 1}"
        yield "a frequent user", lambda: self.page(EvaluationFilter(user_id=f"user-{FREQUENT_USERS - 1}"))
        yield "a rare user", lambda: self.page(EvaluationFilter(user_id=rare))
        yield "a rare user, by email", lambda: self.page(EvaluationFilter(user_email=f"{rare}@example.com".upper()))
        yield "a rare user in an hour", lambda: self.page(EvaluationFilter(user_id=rare, **hour))
        yield "an unknown user", lambda: self.page(EvaluationFilter(user_id="nobody"))
        yield "a flag, by id", lambda: self.page_of_flag(1)
        yield "a rollout, on", lambda: self.page(_of_flag(_ROLLOUT, enabled=True))
        yield "a variant", lambda: self.page(_of_flag(_VARIANTS, variant="c"))
        yield "a rule", lambda: self.page(EvaluationFilter(flag=FlagFilter(rule_id=known_id("production:rule:2"))))
        yield "a flag that is off, on", lambda: self.page(_of_flag(_OFF, enabled=True))
        yield "an unknown flag", lambda: self.page(_of_flag("nothing"))

    def summaries(self) -> Iterator[tuple[str, Read]]:
        """Counts of evaluations and of users."""
        day, week, everything = (max(START, self.end - length) for length in (_DAY, 7 * _DAY, self.end - START))
        yield "20 flags, a day by minute", lambda: self.summary(day + _MINUTE, "2m")
        yield "20 flags, a day by hour", lambda: self.summary(day, "1h")
        yield "20 flags, a week by hour", lambda: self.summary(week, "1h")
        yield "20 flags, everything by day", lambda: self.summary(everything, "1d")
        yield "a flag, a day by hour", lambda: self.summary(day, "1h", _ROLLOUT)
        yield "a flag, everything by hour", lambda: self.summary(everything, "1h", _ROLLOUT)
        yield "a rollout, a day with distinct users", lambda: self.summary(day, "1d", _ROLLOUT)
        yield "a rollout, everything by day with distinct users", lambda: self.summary(everything, "1d", _ROLLOUT)
        yield "a flag that is off, everything by day with users", lambda: self.summary(everything, "1d", _OFF)

    async def page(
        self, wanted: EvaluationFilter = _ANYTHING, *, before: bytes | None = None, environment: str = "production"
    ) -> str:
        """A page of an environment."""
        found = await self.history.list_environment_evaluations(
            self.actor, PROJECT, known_id(environment), wanted, limit=PAGE, before=before
        )
        return f"{len(found.items)} items{', more' if found.next_before else ''}"

    async def page_of_flag(self, number: int) -> str:
        """A page of a flag."""
        flag_id = known_id(f"production:flag:{number}")
        path, wanted = FlagPath(PROJECT, known_id("production"), flag_id), EvaluationFilter(flag=FlagFilter(flag_id))
        found = await self.history.list_flag_evaluations(self.actor, path, wanted, limit=PAGE, before=None)
        return f"{len(found.items)} items{', more' if found.next_before else ''}"

    async def summary(self, since: datetime, interval: str, flag_key: str | None = None) -> str:
        """A summary of production."""
        found = await self.history.summarise_environment(
            self.actor,
            PROJECT,
            known_id("production"),
            since=since,
            until=self.end,
            interval=interval,
            zone=UTC,
            wanted=SummaryFilter(flag_key),
        )
        cells = sum(sum(1 for _ in intervals) for _, intervals in found.take_flags())
        users = found.users.of_all() if found.users else None
        return f"{cells:,} intervals" + (f", {users.on + users.off:,} users" if users else "")

    async def search(self, wanted: EvaluationFilter) -> str:
        """Follow a search to its end."""
        began, requests, found, before, more = time.perf_counter(), 0, 0, None, True
        while more and time.perf_counter() - began < SEARCH_SECONDS:
            page = await self.history.list_environment_evaluations(
                self.actor, PROJECT, known_id("production"), wanted, limit=PAGE, before=before
            )
            requests, found, before = requests + 1, found + len(page.items), page.next_before
            more = before is not None
        each = (time.perf_counter() - began) / requests * 1000
        return f"{found} found by {requests:,} requests of {each:.0f} ms{' and not to the end' if more else ''}"


async def read_all(database: Database, end: datetime, *, repeat: int = 5) -> None:
    """Print the shortest and the longest time of each read, and the processor time that it takes, in milliseconds."""
    account_id, email = await ask(database, "SELECT id, email FROM public.accounts")
    reader = Reader(History(database, lambda: end), Actor(UUID(str(account_id)), email), end)
    postmaster = await find_postmaster(database)
    print(f"  {'':50} {'ms':>7} {'worst':>7}   processor here, in PostgreSQL")
    for name, read in reader.all():
        took, outcome = [], await read()
        before = await read_meters(database, postmaster)
        for _ in range(repeat):
            began = time.perf_counter()
            outcome = await read()
            took.append((time.perf_counter() - began) * 1000)
        used = await read_meters(database, postmaster) - before
        here, there = (seconds / repeat * 1000 for seconds in (used.own, used.server))
        print(f"  {name:50} {min(took):7.1f} {max(took):7.1f} {here:7.1f} {there:7.1f}  {outcome}", flush=True)
    for name, wanted in (
        ("an unknown user", EvaluationFilter(user_id="nobody")),
        ("a rare user", EvaluationFilter(user_id=f"user-{USERS - 1}")),
        ("an unknown user in the oldest day", EvaluationFilter(user_id="nobody", until=START + _DAY)),
    ):
        print(f"  search for {name} to the end: {await reader.search(wanted)}", flush=True)


def _cursor(at: datetime) -> bytes:
    return evaluation_id((microseconds(at), 0, 0))


def _of_flag(key: str, *, enabled: bool | None = None, variant: str | None = None) -> EvaluationFilter:
    return EvaluationFilter(flag=FlagFilter(key=key, enabled=enabled, variant=variant))
