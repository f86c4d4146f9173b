"""Carries messages between the workers on one SQLite database: their parent passes them on.

A message for all others is passed on to all before the next one, so that they receive such messages in one order, as
from PostgreSQL. A message for one worker is passed on to that one.
Leases are in memory that the workers and the parent share. When a worker ends, the parent tells the others to reload,
because it may have committed a change that it could not tell, and notes that it holds no lease.
"""

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Protocol

from flagstaff.cluster.instance_reports_store import decode_report
from flagstaff.cluster.instances import LeaseState, ListedInstance
from flagstaff.cluster.leases_store import Member, Reading, Row
from flagstaff.database.messages import Message
from flagstaff.values.errors import unavailable

_AT_ONCE_BYTES = 64 * 1024
_PAUSE_SECONDS = 0.005


class LeaseBoard(Protocol):
    """The rows of the workers, by slot: ids, renewals, and whether they are leaving."""

    def write_lease(self, slot: int, worker: str, renewals: int, *, is_leaving: bool) -> None:
        """Replace the row of a worker."""

    def read_leases(self) -> list[tuple[int, str, int, bool]]:
        """The slots and rows of all workers, also of those before."""

    def write_report(self, slot: int, report: bytes) -> bool:
        """Replace the report of a worker."""

    def read_report(self, slot: int) -> bytes:
        """The report of a worker, or of the one before; empty if there is none."""


def worker_name(instance_name: str, slot: int) -> str:
    """Return the name of a worker where instances are listed."""
    return f"{instance_name}/worker-{slot}"


class WorkerFeed:
    """This worker's connection to its parent."""

    def __init__(self, parent: socket.socket, board: LeaseBoard, slot: int, member: Member) -> None:
        """`member` is this worker, under the name of its instance."""
        self._parent = parent
        self._board = board
        self._slot = slot
        self._renewals = 0
        self._member = member
        self._received = b""
        self._messages: asyncio.Queue[str | None] = asyncio.Queue()
        self._sending = asyncio.Lock()

    @asynccontextmanager
    async def session(self) -> AsyncIterator[None]:
        """Be connected inside this context. Messages are kept until `receive` returns them."""
        loop = asyncio.get_running_loop()
        self._messages = asyncio.Queue()
        loop.add_reader(self._parent, self._read)
        try:
            yield
        finally:
            loop.remove_reader(self._parent)

    async def receive(self, wait_seconds: float) -> str | None:
        """The next message, or None if none comes in time; raises Error UNAVAILABLE when the parent has ended."""
        try:
            async with asyncio.timeout(max(wait_seconds, 0)):
                message = await self._messages.get()
        except TimeoutError:
            return None
        if message is None:
            raise unavailable("The parent of the workers has ended.")
        return message

    async def send(self, messages: Iterable[Message]) -> None:
        """Send messages to those that they are for; raises Error UNAVAILABLE when the parent has ended."""
        async with self._sending:  # so that messages keep their order while the parent is slow to read
            slots = {worker: slot for slot, worker, _, _ in self._board.read_leases()}
            for message in messages:
                line = f"tell {slots.get(message.to or '', '-')} {message.text}\n".encode()
                while not self._has_sent(line):  # noqa: ASYNC110 - only the kernel knows when there is room
                    await asyncio.sleep(_PAUSE_SECONDS)

    async def renew(self, member: Member, report: str | None) -> Reading:
        """Renew the lease, and return the rows of the others."""
        began_at = time.monotonic()
        if report is not None:
            self._board.write_report(self._slot, report.encode())
        self._renewals += 1
        self._board.write_lease(self._slot, member.id, self._renewals, is_leaving=False)
        return Reading(self._rows(member.id), began_at)

    async def read(self, instance: str) -> Reading:
        """The rows of the others."""
        began_at = time.monotonic()
        return Reading(self._rows(instance), began_at)

    async def leave(self, instance: str) -> None:
        """Note that this worker is leaving."""
        self._board.write_lease(self._slot, instance, self._renewals, is_leaving=True)

    async def list_instances(self) -> list[ListedInstance]:
        """The workers that have not ended. Whether their leases have lapsed is not in the memory."""
        return [
            self._listed(slot, worker) for slot, worker, _, is_leaving in self._board.read_leases() if not is_leaving
        ]

    def _rows(self, instance: str) -> list[Row]:
        return [
            Row(
                worker,
                worker_name(self._member.address, slot),
                renewals,
                is_leaving,
                holds_lease=True,
                acknowledges=True,
            )
            for slot, worker, renewals, is_leaving in self._board.read_leases()
            if worker != instance
        ]

    def _listed(self, slot: int, worker: str) -> ListedInstance:
        report = decode_report(self._board.read_report(slot))
        state = LeaseState.LEAVING if report and report.is_draining else LeaseState.LIVE
        name = worker_name(self._member.address, slot)
        started_at = report.started_at if report else None
        return ListedInstance(worker, name, self._member.version, started_at, state, None, report)

    def _has_sent(self, line: bytes) -> bool:
        """Send a line, which the kernel takes whole or not at all."""
        try:
            self._parent.send(line, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError as error:
            raise unavailable("The parent of the workers has ended.") from error
        return True

    def _read(self) -> None:
        try:
            some = self._parent.recv(_AT_ONCE_BYTES, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        except OSError:
            some = b""
        if not some:
            asyncio.get_running_loop().remove_reader(self._parent)
            self._messages.put_nowait(None)
            return
        *lines, self._received = (self._received + some).split(b"\n")
        for line in lines:
            self._messages.put_nowait(line.decode())
