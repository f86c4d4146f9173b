"""A number for each worker that grows while its process runs, in memory that it shares with the parent.

A thread counts, not the event loop: a worker that is busy with one long step is not taken for one that is paused.
"""

import mmap
import struct
import time
from threading import Thread

BEAT_SECONDS = 0.25
_NUMBER = struct.Struct("=I")
_SLOT_BYTES = 64  # a cache line


class Heartbeats:
    """Memory for the workers that are forked after it was made."""

    def __init__(self, count: int) -> None:
        self._memory = mmap.mmap(-1, count * _SLOT_BYTES)

    def read(self, slot: int) -> int:
        """Return the number of heartbeats of a worker and of those before it in its slot."""
        number: int = _NUMBER.unpack_from(self._memory, slot * _SLOT_BYTES)[0]
        return number

    def start(self, slot: int) -> None:
        """Beat until this process ends, which is the worker with this slot."""
        Thread(target=self._beat, args=(slot,), name="heartbeat", daemon=True).start()

    def _beat(self, slot: int) -> None:
        while True:
            _NUMBER.pack_into(self._memory, slot * _SLOT_BYTES, (self.read(slot) + 1) & 0xFFFFFFFF)
            time.sleep(BEAT_SECONDS)
