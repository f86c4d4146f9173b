"""The owners of SDK keys, by which requests take turns on the event loop (concurrency/loop_turns.py)."""

from collections.abc import Hashable
from typing import NamedTuple
from uuid import UUID

from flagstaff.concurrency.loop_turns import LoopClient, Rank


class KeyOwner(NamedTuple):
    """The project of an SDK key. A public key is in browsers, so whoever uses it is told apart by the address."""

    project_id: UUID
    is_public: bool

    def client_at(self, address: Hashable) -> LoopClient:
        """The client that uses the key from an address."""
        return LoopClient(Rank.KNOWN, (self.project_id, address) if self.is_public else self.project_id)
