"""Counts the requests of callers in memory until they are stored, at next to no cost for each request.

A connection has one address, and nearly always one key and one user agent. So it counts in a tally of its own, and only
when one of these changes, or the tally was collected, is its caller looked up. Everything is bounded, because clients
choose their user agents, and anyone can have a browser's key.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, MutableMapping
from itertools import islice
from typing import Any
from uuid import UUID

from flagstaff.concurrency.pacing import Turns
from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from flagstaff.history.callers import Caller, SdkProtocol, network_of, read_user_agent
from flagstaff.serving.known_sdk_keys import Access
from flagstaff.values.errors import Code, Error

WAITING_MAX = 20_000
WAITING_OF_KEY_MAX = 1_000
_OF_NO_CALLER = frozenset({Code.UNAUTHENTICATED, Code.LIMITED})


class Tally:
    """The requests of a caller on a connection since it was collected, the last with this head in this environment.

    `named` is what in a head names the caller.
    """

    __slots__ = ("caller", "environment", "head", "named", "requests")

    def __init__(self) -> None:
        self.caller: Caller | None = None
        self.head: object = None
        self.named: object = None
        self.environment: EnvironmentSnapshot | None = None
        self.requests = 0


class CallerCounts:
    """The counts that wait to be stored."""

    def __init__(
        self,
        client_of: Callable[[MutableMapping[str, Any]], str],
        *,
        waiting_max: int = WAITING_MAX,
        waiting_of_key_max: int = WAITING_OF_KEY_MAX,
    ) -> None:
        """`client_of` returns the client that limits count a request by.

        At most so many callers are told apart, in all and with one key; the rest are counted together.
        """
        self._client_of = client_of
        self._waiting_max = waiting_max
        self._waiting_of_key_max = waiting_of_key_max
        self._counts: dict[Caller, int] = {}
        self._of_key: Counter[tuple[UUID, UUID | None]] = Counter()
        self._tallies: set[Tally] = set()

    def begin(self, tally: Tally, environment: EnvironmentSnapshot, caller: Caller) -> None:
        """Let a tally count the requests of this caller."""
        self._settle(tally)
        tally.caller, tally.environment = caller, environment
        self._tallies.add(tally)

    def end(self, tally: Tally) -> None:
        """Count the last requests of a connection that has ended."""
        self._settle(tally)
        self._tallies.discard(tally)

    def identify(
        self, scope: MutableMapping[str, Any], protocol: SdkProtocol, access: Access, environment: EnvironmentSnapshot
    ) -> Caller:
        """The caller of a request."""
        user_agent = next((value for name, value in scope["headers"] if name == b"user-agent"), None)
        return caller_of(protocol, access, environment, read_user_agent(user_agent), self._client_of(scope))

    def add(self, caller: Caller, requests: int) -> None:
        """Count requests of a caller. With 0, it is only noted that the caller is there, such as on an open stream."""
        counts = self._counts
        if caller not in counts and not caller.is_others:
            key = caller.environment_id, caller.key_id
            if len(counts) >= self._waiting_max or self._of_key[key] >= self._waiting_of_key_max:
                caller = caller.others
            else:
                self._of_key[key] += 1
        counts[caller] = counts.get(caller, 0) + requests

    async def take(self, most: int) -> Mapping[Caller, int]:
        """Take the counts of so many callers, those that have waited longest first."""
        tallies, self._tallies = self._tallies, set()
        turns = Turns()
        for tally in tallies:
            self._settle(tally)
            tally.head = tally.environment = None
            await turns.give()
        taken = {caller: self._counts.pop(caller) for caller in tuple(islice(self._counts, most))}
        self._of_key.subtract((each.environment_id, each.key_id) for each in taken if not each.is_others)
        self._of_key += Counter()  # forgets the keys that have none any more
        return taken

    def give_back(self, counts: Mapping[Caller, int]) -> None:
        """Count what was taken and could not be stored."""
        for caller, requests in counts.items():
            self.add(caller, requests)

    def _settle(self, tally: Tally) -> None:
        if tally.requests and tally.caller is not None:
            self.add(tally.caller, tally.requests)
            tally.requests = 0


def caller_of(
    protocol: SdkProtocol, access: Access, environment: EnvironmentSnapshot, user_agent: str, client: Hashable
) -> Caller:
    """The caller of a request; `client` is what limits count it by."""
    return Caller(environment.environment_id, protocol, access.key_id, user_agent, network_of(str(client)))


def environment_of_refused(access: Access, error: Error) -> EnvironmentSnapshot | None:
    """The environment in which a refused request counts; None if the key or the client was not accepted.

    Refused requests with the project's own key are not counted, because it is for all environments.
    """
    return None if error.code in _OF_NO_CALLER else access.environment
