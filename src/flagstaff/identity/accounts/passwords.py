"""Password hashing: Argon2id, off the event loop, one at a time, and at a lower priority than everything else."""

import asyncio
import contextlib
import json
import secrets
import select
import subprocess
import sys
from base64 import b64encode
from collections.abc import Hashable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import structlog

from flagstaff.concurrency.fair_queue import FairQueue
from flagstaff.telemetry.metrics import Metrics
from flagstaff.values.errors import unavailable

# RFC 9106, 4: the second recommended option (t=3, p=4, 64 MiB), which is also argon2-cffi's default.
TIME_COST, MEMORY_COST_KIB, PARALLELISM = 3, 64 * 1024, 4
_SALT_BYTES, _HASH_BYTES, _VERSION = 16, 32, 0x13  # the same, and its version; only the process loads the library
ANSWER_SECONDS = 30.0  # a hash takes a tenth of a second; a busy, slow machine may need some more
_WAITING = 256  # about ten seconds of work; later clients would give up before their turn
_WAITING_OF_ONE_CLIENT = 64
# Run as a file, which imports Argon2 but not the package around it: that takes as long as everything else at its start.
_PROGRAM = Path(__file__).with_name("password_worker.py")

log = structlog.get_logger(__name__)


class Passwords:
    """Hashes and verifies passwords in a separate process, in which clients take turns.

    Raises Error LIMITED when too many requests of one client wait, UNAVAILABLE when too many wait in all or when the
    process does not start or answer.
    """

    def __init__(
        self,
        *,
        time_cost: int = TIME_COST,
        memory_cost_kib: int = MEMORY_COST_KIB,
        answer_seconds: float = ANSWER_SECONDS,
    ) -> None:
        """Does not start the process yet. The costs are Argon2's; a process that takes longer to answer is replaced."""
        costs = (time_cost, memory_cost_kib, PARALLELISM)
        self._queue = FairQueue(
            at_once=1,
            waiting=_WAITING,
            waiting_of_one=_WAITING_OF_ONE_CLIENT,
            too_many="Too many people are logging in at once. Try again shortly.",
            too_many_of_one="Too many requests from your address are waiting. Try again shortly.",
        )
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="password")
        self._worker = _Worker(costs, answer_seconds)
        self._nobody = _made_up_hash(*costs)

    @property
    def restarts(self) -> int:
        """The number of times that the process has been replaced because it had ended or did not answer."""
        return self._worker.restarts

    def export_metrics(self, metrics: Metrics) -> None:
        """Export the replacements of the process."""
        metrics.add_counter("password_restarts", "Replacements of the password process.", lambda: self.restarts)

    async def hash(self, password: str, *, salt: bytes | None = None, client: Hashable = None) -> str:
        """The password's Argon2id hash, with its salt and parameters. Without `salt`, of 16 bytes, it is random."""
        return str(await self._ask(client, password, None, salt))

    async def verify(self, password: str, password_hash: str | None, *, client: Hashable = None) -> bool:
        """Return whether the password is the hashed one; for no hash at all, False after just as long."""
        return bool(await self._ask(client, password, password_hash or self._nobody)) and password_hash is not None

    def close(self) -> None:
        """End the process."""
        self._worker.close()
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _ask(
        self, client: Hashable, password: str, password_hash: str | None, salt: bytes | None = None
    ) -> str | bool:
        loop = asyncio.get_running_loop()
        async with self._queue.take(client):
            answer = await loop.run_in_executor(self._thread, self._worker.ask, password, password_hash, salt)
        if answer is None:
            raise unavailable("Passwords cannot be checked right now. Try again shortly.")
        return answer


class _Worker:
    """The process, started when first needed and restarted after it has died. For one thread at a time."""

    def __init__(self, costs: tuple[int, int, int], answer_seconds: float) -> None:
        self._command = [sys.executable, "-P", str(_PROGRAM), *map(str, costs)]
        self._process: subprocess.Popen[bytes] | None = None
        self._answer_seconds = answer_seconds
        self._closed = False
        self._was_ended = False
        self.restarts = 0

    def ask(self, password: str, password_hash: str | None, salt: bytes | None) -> str | bool | None:
        """The answer to a request; None if the process died twice in a row or did not start or answer."""
        values = {"password": password, "password_hash": password_hash, "salt": salt and salt.hex()}
        request = json.dumps(values).encode() + b"\n"
        try:
            answer = self._exchange(request) or self._exchange(request)
        except TimeoutError:
            log.error("password_process_stuck", seconds=self._answer_seconds)  # noqa: TRY400 - no code is to blame
            answer = b""
        except OSError as error:  # no memory, no descriptor, no such file
            log.error("password_process_not_started", error=str(error))  # noqa: TRY400 - no code is to blame
            answer = b""
        return json.loads(answer) if answer else None

    def close(self) -> None:
        self._closed = True
        self._end()

    def _exchange(self, request: bytes) -> bytes:
        """Send one line and return the answer; nothing if the process has died. The next call starts another.

        Raises TimeoutError when there is no answer in time, another OSError when no process can be started.
        """
        if self._closed:
            return b""
        self._process = process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(request)
            process.stdin.flush()
            is_answered = self._is_answered(process.stdout.fileno())
            answer = process.stdout.readline() if is_answered else b""
        except (OSError, ValueError):  # ValueError: `close` has closed the pipe
            is_answered, answer = True, b""
        if not answer:
            self._end()
            self._was_ended = True
        if not is_answered:
            raise TimeoutError
        return answer

    def _is_answered(self, descriptor: int) -> bool:
        """Wait until the process has written something, or has ended; False at the deadline."""
        waiting = select.poll()
        waiting.register(descriptor, select.POLLIN)
        return bool(waiting.poll(self._answer_seconds * 1000))

    def _start(self) -> subprocess.Popen[bytes]:
        # In a separate session, so that Ctrl-C in a terminal reaches only the server.
        process = subprocess.Popen(  # noqa: S603 - our own module
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
        if self._was_ended:
            self.restarts += 1
            self._was_ended = False
            log.warning("password_process_replaced", restarts=self.restarts)
        return process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):  # the process can no longer read what was not written
                    pipe.close()


def _made_up_hash(time_cost: int, memory_cost_kib: int, parallelism: int) -> str:
    """A hash used for accounts that do not exist, so that they take as long as others. No password matches it.

    It is not computed, because that took a seventh of the server's start. The format is the reference implementation's.
    """
    salt, digest = (b64encode(secrets.token_bytes(size)).rstrip(b"=").decode() for size in (_SALT_BYTES, _HASH_BYTES))
    return f"$argon2id$v={_VERSION}$m={memory_cost_kib},t={time_cost},p={parallelism}${salt}${digest}"
