"""Clients that ask for what has just been created: by every protocol, on the fast path and off it.

An instance that has missed a creation answers that there is no such flag or environment. That answer is from the older
state like any other, so it must be marked.
"""

import asyncio
import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import count, cycle

import httpx

from tests.faults.clients import LONGEST_SECONDS, RECONNECT_SECONDS, address_of
from tests.faults.histories import Asked, History, New

_PAUSE_SECONDS = 1.5
_FLAGS_FOR_AN_ENVIRONMENT = 5
_MOST_ENVIRONMENTS = 2  # of a client in a round: a project has at most 100, and more are refused
_PER_ADDRESS = 100  # the limit is 200 a minute for each address


@dataclass(frozen=True)
class Question:
    """A request for a flag or an environment by a protocol. `{key}` in it is the key of what was created.

    An answer to `names_it` has the key, and the status alone tells otherwise.
    """

    name: str
    path: str
    body: str | None = None
    names_it: bool = True
    about_environment: bool = False

    def knows(self, answer: httpx.Response, key: str) -> bool | None:
        """Return whether an answer knows what was created; None if it says nothing about it."""
        if answer.status_code not in (200, 404):
            return None
        return answer.status_code == 200 and (not self.names_it or json.dumps(key) in answer.text)


_IN = '{"environment": "production"}'
_OFREP = '{"context": {"targetingKey": "seeker"}}'
QUESTIONS = (
    Question("all flags", "/sdk/v1/evaluate", _IN),
    Question("a flag", "/sdk/v1/evaluate/{key}", _IN, names_it=False),
    Question("an environment", "/sdk/v1/evaluate", '{"environment": "{key}"}', names_it=False, about_environment=True),
    Question("all flags by OFREP", "/ofrep/v1/evaluate/flags", _OFREP),
    Question("a flag by OFREP", "/ofrep/v1/evaluate/flags/{key}", _OFREP),
    Question("features", "/unleash/api/client/features"),
    Question("toggles", "/unleash/api/frontend", '{"context": {"userId": "seeker"}}'),
)
_ROUTES: tuple[dict[str, str], ...] = ({}, {"Flagstaff-Min-Revision": "0"})
"""Headers of a request for the fast path, where there is one, and of one that it leaves to the route."""


class Maker:
    """Creates flags and environments at one instance."""

    def __init__(self, history: History, prefix: str, url: str, token: str, project: str, environment: str) -> None:
        """`project` and `environment` are the paths of where environments and flags are created.

        The project is another one than the environment's: an environment raises the revision of its project, and
        answers for the others keep theirs.
        """
        self._history = history
        self._prefix = prefix
        self._url = url
        self._headers = {"Authorization": f"Bearer {token}"}
        self._flags, self._environments = f"{environment}/flags", f"{project}/environments"

    async def run(self, is_over: Callable[[], bool]) -> None:
        """Create until `is_over()`."""
        async with httpx.AsyncClient(base_url=self._url, headers=self._headers, timeout=LONGEST_SECONDS) as client:
            for number in count():
                if is_over():
                    return
                made, others = divmod(number, _FLAGS_FOR_AN_ENVIRONMENT)
                await self._create(client, f"{self._prefix}-{number}", not others and made < _MOST_ENVIRONMENTS)
                await asyncio.sleep(_PAUSE_SECONDS)

    async def _create(self, client: httpx.AsyncClient, key: str, is_environment: bool) -> None:
        path, own = (self._environments, {}) if is_environment else (self._flags, {"enabled": True})
        try:
            answer = await client.post(path, json={"name": key, "key": key, **own})
        except httpx.TransportError:
            return
        if answer.status_code == 201:
            self._history.news.append(New(key, is_environment, time.monotonic_ns()))


class Seeker:
    """Asks one instance for what was created last, each time in another way."""

    def __init__(
        self, history: History, instance: int, url: str, server_key: str, flags_key: str, environments_key: str
    ) -> None:
        """The last two are the keys of the projects in which flags and environments are created."""
        self._history = history
        self._instance = instance
        self._url = url
        self._headers = {"Authorization": server_key, "Content-Type": "application/json"}
        self._keys = {False: flags_key, True: environments_key}

    async def run(self, is_over: Callable[[], bool], pause_seconds: float) -> None:
        """Ask until `is_over()`."""
        ways = cycle([(question, route) for question in QUESTIONS for route in _ROUTES])
        async with httpx.AsyncClient(base_url=self._url, headers=self._headers, timeout=LONGEST_SECONDS) as client:
            for number, (question, route) in enumerate(ways):
                if is_over():
                    return
                news = reversed(self._history.news)
                new = next((each for each in news if each.is_environment is question.about_environment), None)
                if new is not None:
                    address = address_of(f"{self._instance}seeks{number // _PER_ADDRESS}")
                    own = {"X-Forwarded-For": address, "X-SDK-Key": self._keys[question.about_environment]}
                    await self._ask(client, question, new, {**route, **own})
                await asyncio.sleep(pause_seconds)

    async def _ask(self, client: httpx.AsyncClient, question: Question, new: New, headers: dict[str, str]) -> None:
        path, body = (text and text.replace("{key}", new.key) for text in (question.path, question.body))
        started = time.monotonic_ns()
        try:
            answer = await client.request("POST" if body else "GET", path or "", content=body, headers=headers)
        except httpx.TransportError:
            await asyncio.sleep(RECONNECT_SECONDS)
            return
        knows = question.knows(answer, new.key)
        if knows is not None:
            is_marked = "flagstaff-stale" in answer.headers
            self._history.asked.append(
                Asked(self._instance, question.name, new, started, knows=knows, is_marked=is_marked)
            )


def find_unmarked(asked: Iterable[Asked]) -> list[str]:
    """Return the answers, in words, that lack what was created before they were asked for, and have no mark."""
    return [
        f"instance {each.instance}: the answer for {each.question} lacked {each.new.key} without a mark; it was asked "
        f"{(each.started - each.new.ended) / 1e9:.3f} s after the creation was confirmed"
        for each in asked
        if not each.knows and not each.is_marked and each.started > each.new.ended
    ]
