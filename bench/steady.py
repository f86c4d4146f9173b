"""Requests at a steady rate, each of which is timed from its scheduled start."""

import asyncio
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.process import BaseProcess

from bench.raw_http import Connection

RATE = 200  # evaluations a second
CONNECTIONS = 32
LATE_SECONDS = 2  # the wait for the last evaluations; those without an answer count with their latency so far


@dataclass(frozen=True)
class Answered:
    """The latency of a request in seconds, and its status; 0 if there was no answer."""

    seconds: float
    status: int


async def time_requests(
    port: int,
    next_request: Callable[[int], bytes],
    rate: float,
    seconds: float,
    *,
    connections: int = CONNECTIONS,
    late_seconds: float = LATE_SECONDS,
) -> list[Answered]:
    """Send requests at a rate, whether or not earlier ones are answered; return what came of each."""
    free: asyncio.Queue[Connection] = asyncio.Queue()
    for _ in range(connections):
        free.put_nowait(await Connection.open(port))
    answered: list[Answered] = []

    async def send(number: int, due: float) -> None:
        connection, status = await free.get(), 0
        try:
            status = await connection.exchange(next_request(number))
        finally:  # even if it took too long
            answered.append(Answered(time.perf_counter() - due, status))
        free.put_nowait(connection if status else await Connection.open(port))

    began = time.perf_counter()
    tasks = []
    for number in range(int(rate * seconds)):
        due = began + number / rate
        await asyncio.sleep(max(0, due - time.perf_counter()))
        tasks.append(asyncio.create_task(send(number, due)))
    _, late = await asyncio.wait(tasks, timeout=late_seconds)
    for task in late:
        task.cancel()
    await asyncio.gather(*late, return_exceptions=True)
    while not free.empty():
        free.get_nowait().close()
    return answered


async def time_evaluations(port: int, evaluate: bytes, seconds: float) -> list[float]:
    """Return the latency of each evaluation, in seconds; all are answered."""
    answered = await time_requests(port, lambda _: evaluate, RATE, seconds)
    assert {each.status for each in answered} <= {200, 0}
    return [each.seconds for each in answered]


@contextmanager
def beside(process: BaseProcess, has_begun: Callable[[], bool]) -> Iterator[None]:
    """Run a process that generates load until the block ends, which begins when it has got an answer."""
    process.start()
    try:
        deadline = time.monotonic() + 30
        while not has_begun() and time.monotonic() < deadline:
            time.sleep(0.05)
        yield
    finally:
        process.kill()
        process.join()


def yield_core() -> None:
    """Let this process run only when nothing else wants its core: the client that measures is on the same one."""
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def percentile(seconds: Sequence[float], part: float) -> float:
    """Return the value below which a part of them lies."""
    return sorted(seconds)[int(len(seconds) * part)]
