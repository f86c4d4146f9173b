"""Clients that evaluate and toggle continuously, and record each answer with its times."""

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address
from itertools import count

from flagstaff.evaluation.bucketing import bucket
from tests.faults.histories import Evaluation, History, Outcome, Toggle

IMPATIENCE_SECONDS = 0.5
LONGEST_SECONDS = 120.0
BY_RULES = ("equal-rule", "equal-segment")
"""Flags with a rollout of 1%, which are on for the domain of the clients' users, or off, by a rule or a segment."""
DOMAIN = "here.test"
_PER_ADDRESS = 100  # the limit is 200 a minute for each address
_MOST_WAITING = 60
RECONNECT_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Answer:
    """A response, with the names of its headers in lower case. Status 0: the connection ended without one."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def keeps_alive(self) -> bool:
        """True if the connection can carry another request."""
        return bool(self.status) and self.headers.get("connection") != "close"

    def number(self, header: str) -> int | None:
        """The value of a header that is a number."""
        value = self.headers.get(header)
        return int(value) if value is not None else None


NO_ANSWER = Answer(0, {}, b"")


class Connection:
    """A persistent connection to an instance."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, port: int) -> "Connection":
        """Connect; raises OSError."""
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def exchange(self, method: str, path: str, headers: dict[str, str], body: bytes = b"") -> Answer:
        """Send a request and read its answer, or `NO_ANSWER` if the connection ends."""
        lines = [f"{method} {path} HTTP/1.1", "Host: flagstaff.test", f"Content-Length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        try:
            self._writer.write("\r\n".join((*lines, "", "")).encode() + body)
            head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            received = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:])}
            content = await self._reader.readexactly(int(received.get("content-length", 0)))
        except (OSError, asyncio.IncompleteReadError):
            return NO_ANSWER
        return Answer(int(head[0].split()[1]), received, content)

    def close(self) -> None:
        """Close it at once."""
        self._writer.transport.abort()


class Evaluator:
    """Evaluates at one instance. It waits for slow answers while it sends the next request."""

    def __init__(
        self,
        history: History,
        instance: int,
        port: int,
        sdk_key: str,
        name: str,
        *,
        pause_seconds: float,
        keeps_alive: bool = True,
    ) -> None:
        """`keeps_alive` says whether a connection carries more than one request."""
        self._history = history
        self._instance = instance
        self._port = port
        self._sdk_key = sdk_key
        self._name = name
        self._pause_seconds = pause_seconds
        self._keeps_alive = keeps_alive
        self._numbers = count()
        self._free: list[Connection] = []

    async def run(self, is_over: Callable[[], bool]) -> None:
        """Evaluate until `is_over()`, and then wait for all answers."""
        waiting: set[asyncio.Task[bool]] = set()
        while not is_over():
            task = asyncio.create_task(self._evaluate())
            waiting.add(task)
            await asyncio.wait([task], timeout=IMPATIENCE_SECONDS)
            if task.done() and not task.result():
                await asyncio.sleep(RECONNECT_SECONDS)
            while len(waiting) >= _MOST_WAITING:
                _, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            waiting = {each for each in waiting if not each.done()}
            await asyncio.sleep(self._pause_seconds)
        if waiting:
            await asyncio.wait(waiting)
        for connection in self._free:
            connection.close()

    async def _evaluate(self) -> bool:
        """Evaluate once; return False if the instance cannot be reached."""
        try:
            connection = self._free.pop() if self._free else await Connection.open(self._port)
        except OSError:
            return False
        number, user = self._next_user()
        headers = {
            "X-SDK-Key": self._sdk_key,
            "Content-Type": "application/json",
            "X-Forwarded-For": address_of(f"{self._name}/{number // _PER_ADDRESS}"),
        }
        context = {"user_id": user, "user_email": f"{user}@{DOMAIN}"}
        body = json.dumps({"environment": "production", "context": context}).encode()
        started = time.monotonic_ns()
        try:
            async with asyncio.timeout(LONGEST_SECONDS):
                answer = await connection.exchange("POST", "/sdk/v1/evaluate", headers, body)
        except TimeoutError:
            raise AssertionError(f"instance {self._instance} did not answer {user}") from None
        ended = time.monotonic_ns()
        if answer.keeps_alive and self._keeps_alive:
            self._free.append(connection)
        else:
            connection.close()
        self._history.evaluations.append(
            Evaluation(
                self._instance,
                user,
                started,
                ended,
                answer.status,
                on=_flags_on(answer),
                stale=answer.headers.get("flagstaff-stale"),
                revision=answer.number("flagstaff-revision"),
            )
        )
        return bool(answer.status)

    def _next_user(self) -> tuple[int, str]:
        """Return a user who is in no rollout of 1% of the flags that a rule switches."""
        while True:
            number = next(self._numbers)
            user = f"{self._name}-{number}"
            if all(bucket(flag, user) for flag in BY_RULES):
                return number, user


class Toggler:
    """Toggles one flag, one request after the other, at each instance in turn."""

    def __init__(
        self, history: History, flag: str, path: str, token: str, ports: dict[int, int], *, pause_seconds: float
    ) -> None:
        """`ports` are the ports of the instances, by number."""
        self._history = history
        self._flag = flag
        self._path = path
        self._headers = {"Authorization": f"Bearer {token}"}
        self._ports = ports
        self._pause_seconds = pause_seconds
        self._connections: dict[int, Connection] = {}

    async def run(self, is_over: Callable[[], bool]) -> None:
        """Toggle until `is_over()`."""
        while not is_over():
            for instance in self._ports:
                await self._toggle(instance)
                await asyncio.sleep(self._pause_seconds)
        for connection in self._connections.values():
            connection.close()

    async def _toggle(self, instance: int) -> None:
        try:
            connection = self._connections.pop(instance, None) or await Connection.open(self._ports[instance])
        except OSError:
            await asyncio.sleep(RECONNECT_SECONDS)
            return
        started = time.monotonic_ns()
        try:
            async with asyncio.timeout(LONGEST_SECONDS):
                answer = await connection.exchange("POST", f"{self._path}/toggle", self._headers)
        except TimeoutError:
            raise AssertionError(f"instance {instance} did not answer a toggle of {self._flag}") from None
        ended = time.monotonic_ns()
        if answer.keeps_alive:
            self._connections[instance] = connection
        else:
            connection.close()
        outcome = outcome_of(answer)
        enabled = json.loads(answer.body)["enabled"] if outcome is Outcome.MADE else None
        revision, live_on = answer.number("flagstaff-revision"), answer.headers.get("flagstaff-live-on")
        self._history.toggles.append(
            Toggle(self._flag, instance, started, ended, answer.status, outcome, enabled, revision, live_on)
        )


async def count_allowed(
    ports: Sequence[int], sdk_key: str, address: str, *, most: int, pause_seconds: float = 0.0
) -> int:
    """Count the evaluations that an address gets from the instances in turn before one refuses.

    The result does not exceed `most` by much. An instance that has refused is not asked again. There is a pause after
    each turn.
    """
    headers = {"X-SDK-Key": sdk_key, "Content-Type": "application/json", "X-Forwarded-For": address}
    connections = [await Connection.open(port) for port in ports]
    asked, allowed = list(connections), 0
    while asked and allowed <= most * 1.2:
        for each in tuple(asked):
            answer = await each.exchange("POST", "/sdk/v1/evaluate", headers, b'{"environment": "production"}')
            allowed += answer.status == 200
            if answer.status in (0, 429):
                asked.remove(each)
        await asyncio.sleep(pause_seconds)
    for each in connections:
        each.close()
    return allowed


def outcome_of(answer: Answer) -> Outcome:
    """Return what the answer says about a change; docs/operations/outages.md has the rule for 503."""
    if answer.status in (200, 201):
        return Outcome.MADE
    if 400 <= answer.status < 500 or "retry-after" in answer.headers:
        return Outcome.REFUSED
    return Outcome.UNKNOWN


def address_of(client: str) -> str:
    """Return an address in the network 10.0.0.0/8, always the same one for a name."""
    return str(IPv4Address("10.0.0.0") + int.from_bytes(client.encode(), "big") % 0xFFFFFB)


def _flags_on(answer: Answer) -> frozenset[str]:
    if answer.status != 200:
        return frozenset()
    return frozenset(key for key, flag in json.loads(answer.body)["flags"].items() if flag["enabled"])
