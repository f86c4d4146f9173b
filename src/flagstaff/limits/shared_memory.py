"""The exchange between the processes of one machine, through memory that they share.

Each process has a ring of records that only it writes, so no lock is needed, and none can be left behind by a process
that is killed. A process that replaces another reads all rings, also its predecessor's, and so continues its counts.
"""

import mmap
import struct
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple
from zlib import crc32

from flagstaff.concurrency.pacing import Turns
from flagstaff.limits.exchange import SLOTS, Heard, Told

RECORDS = 32_768
"""The records of a ring: at 48 bytes each, 1.5 MB for each process."""
_KEYS = 50_000  # whose hits are remembered until this process asks for them, at a few hundred bytes each

# Its number, which grows for ever; the time; the seconds of the window; hits; digest; a checksum of all of this.
_RECORD = struct.Struct("<QdIi16s4xI")
_CHECKED_BYTES = _RECORD.size - 4
_HEAD = struct.Struct("<Q")
_HEAD_BYTES = 64  # the number of the next record, alone in its cache line


class _Record(NamedTuple):
    moment: float
    window_seconds: int
    hits: int
    digest: bytes


class SharedMemory:
    """Memory for the processes that are forked after it was made."""

    def __init__(self, workers: int, *, records: int = RECORDS) -> None:
        """`records` is how many each ring holds."""
        self._workers = workers
        self._records = records
        self._ring_bytes = _HEAD_BYTES + records * _RECORD.size
        self._memory = mmap.mmap(-1, workers * self._ring_bytes)

    def exchange(self, worker: int, clock: Callable[[], float] = time.monotonic) -> "MemoryExchange":
        """The exchange for a process, by its number from 0. A process that replaces another has the same number."""
        return MemoryExchange([self._ring(number) for number in range(self._workers)], worker, clock)

    def _ring(self, number: int) -> "_Ring":
        begin = number * self._ring_bytes
        return _Ring(memoryview(self._memory)[begin : begin + self._ring_bytes], self._records)


class _Ring:
    """The records of one process."""

    def __init__(self, memory: memoryview, records: int) -> None:
        self._memory = memory
        self._records = records
        self._read = 0

    def write(self, moment: float, told: Sequence[Told]) -> None:
        """Add records. Only the process whose ring this is may do so."""
        number = self._head()
        for each in told:
            if each.hits:
                at = self._at(number)
                packed = _RECORD.pack(number, moment, each.window_seconds, each.hits, each.digest, 0)[:_CHECKED_BYTES]
                self._memory[at : at + _RECORD.size] = packed + crc32(packed).to_bytes(4, "little")
                number += 1
        self.skip_to(number)
        _HEAD.pack_into(self._memory, 0, number)

    def skip_to(self, number: int) -> None:
        """Do not read the records before this one."""
        self._read = number

    def read(self) -> Iterator[_Record]:
        """Records that were not read before; those that were overwritten meanwhile are lost."""
        head = self._head()
        for number in range(max(self._read, head - self._records), head):
            at = self._at(number)
            packed = bytes(self._memory[at : at + _RECORD.size])
            found, moment, window_seconds, hits, digest, checksum = _RECORD.unpack(packed)
            is_whole = checksum == crc32(packed[:_CHECKED_BYTES])
            if found < number or (found == number and not is_whole):
                return  # some processors show the new head before the record
            self._read = number + 1
            if found == number:  # otherwise the writer is a round ahead
                yield _Record(moment, window_seconds, hits, digest)

    def _head(self) -> int:
        (number,) = _HEAD.unpack_from(self._memory, 0)
        return int(number)

    def _at(self, number: int) -> int:
        return _HEAD_BYTES + number % self._records * _RECORD.size


class _Slot:
    """Hits of a key that share the time of the latest one."""

    __slots__ = ("began", "hits", "latest")

    def __init__(self, record: _Record) -> None:
        self.began = self.latest = record.moment
        self.hits = record.hits


class MemoryExchange:
    """A channel between processes. It never fails: a process that does not answer is not waited for."""

    advice = ""

    def __init__(self, rings: Sequence[_Ring], worker: int, clock: Callable[[], float]) -> None:
        self._rings = rings
        self._own = rings[worker]
        self._clock = clock
        # The others' hits that this process has not asked for, by digests; the key that was quiet for longest first.
        self._unheard: OrderedDict[bytes, deque[_Slot]] = OrderedDict()

    @property
    def participants(self) -> int:
        """The number of processes."""
        return len(self._rings)

    async def join(self) -> None:
        """Read what the others have told."""
        turns = Turns()
        for ring in self._rings:
            for record in ring.read():
                self._collect(record)
                await turns.give()

    async def tell(self, told: Sequence[Told]) -> Sequence[Heard]:
        """Tell the others, and return what they have told about the same keys."""
        await self.join()
        now = self._clock()
        self._own.write(now, told)
        return [self._hear(each, now) for each in told]

    async def close(self) -> None:
        """Nothing is open."""

    def _collect(self, record: _Record) -> None:
        slots = self._unheard.get(record.digest)
        if slots is None:
            if len(self._unheard) >= _KEYS:
                self._unheard.popitem(last=False)
            self._unheard[record.digest] = deque([_Slot(record)])
            return
        _add(slots, record)
        if slots[0].latest + record.window_seconds <= slots[-1].latest:
            slots.popleft()
        self._unheard.move_to_end(record.digest)

    def _hear(self, told: Told, now: float) -> Heard:
        slots = self._unheard.pop(told.digest, ())
        return Heard([(max(0.0, now - slot.latest), slot.hits) for slot in slots if slot.hits], None)


def _add(slots: deque[_Slot], record: _Record) -> None:
    """Add hits in the order of time: the rings are read one after the other."""
    for index in range(len(slots) - 1, -1, -1):
        slot = slots[index]
        if record.moment >= slot.began + record.window_seconds / SLOTS:
            slots.insert(index + 1, _Slot(record))
            return
        if record.moment >= slot.began:
            slot.latest = max(slot.latest, record.moment)
            slot.hits += record.hits
            return
    slots.appendleft(_Slot(record))
