"""The memory of bodies that are being received: bounded for each client, for all strangers, and in all.

Otherwise, a stranger could have nine hundred connections each keep a quarter of a megabyte of a body that never ends.
"""

from collections import Counter
from collections.abc import Callable

from starlette.types import Scope

from flagstaff.concurrency.loop_turns import LoopClient, Rank
from flagstaff.telemetry.metrics import Metrics

_MIB = 1024 * 1024
OF_ONE_STRANGER, OF_STRANGERS = 4 * _MIB, 32 * _MIB
"""The bytes of bodies from one address without a valid key or token, and from all of them."""
OF_ONE_CLIENT, OF_CLIENTS = 64 * _MIB, 256 * _MIB
"""The bytes of long bodies with one SDK key or of one account, and of all of them."""
SHORT_BYTES = 16 * 1024
"""A body of a known client that has no more does not count, so that a flag can be turned off whatever others send."""


class BodyMemory:
    """The bytes that are held for each client. A body that finds no room is refused."""

    def __init__(self, find_client: Callable[[Scope], LoopClient]) -> None:
        """`find_client` finds the client of a request by its head."""
        self.find_client = find_client
        self.refused = 0
        """The number of bodies for which there was no room."""
        self._of_one: Counter[LoopClient] = Counter()
        self._of_all: Counter[bool] = Counter()  # of strangers and of others

    def export_metrics(self, metrics: Metrics) -> None:
        """Export the bytes in memory and the number of refusals."""
        metrics.add_gauge("body_bytes", "Bytes of long bodies that are being received.", self._of_all.total)
        metrics.add_counter("bodies_refused", "Bodies for which there was no room.", lambda: self.refused)

    def take(self, client: LoopClient, size: int) -> bool:
        """Count bytes that a client has sent, unless there is no room for them."""
        is_stranger = client.rank is Rank.STRANGER
        of_one, of_all = (OF_ONE_STRANGER, OF_STRANGERS) if is_stranger else (OF_ONE_CLIENT, OF_CLIENTS)
        if self._of_one[client] + size > of_one or self._of_all[is_stranger] + size > of_all:
            self.refused += 1
            return False
        self._of_one[client] += size
        self._of_all[is_stranger] += size
        return True

    def give_back(self, client: LoopClient, size: int) -> None:
        """Stop counting bytes."""
        self._of_all[client.rank is Rank.STRANGER] -= size
        self._of_one[client] -= size
        if not self._of_one[client]:
            del self._of_one[client]
