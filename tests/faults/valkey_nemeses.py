"""Faults of Valkey, without which each instance limits on its own. No request waits for Valkey."""

import asyncio
import time
from abc import abstractmethod
from random import Random

from tests.faults.clients import count_allowed
from tests.faults.fleet import LIMIT, Fleet, valkey_link
from tests.faults.nemesis import EVERY_INSTANCE, Nemesis
from tests.faults.network_nemeses import STATES

_DETECTED_WITHIN_SECONDS = 15
_ANSWERED_WITHIN_SECONDS = 60  # three times the limit, one request after the other
_RECOVERED_WITHIN_SECONDS = 30


class ValkeyGone(Nemesis):
    """The base of these faults: each instance notices that Valkey is gone, and limits on its own."""

    victims = EVERY_INSTANCE

    def __init__(self, random: Random) -> None:
        self.seconds = random.uniform(1, 6)
        self._address = f"198.51.100.{random.randrange(250)}"
        self._began = 0.0
        self._healed = 0.0

    async def start(self, fleet: Fleet) -> None:
        self._began = time.monotonic()
        await self.take_away(fleet)

    async def heal(self, fleet: Fleet) -> None:
        await self.give_back(fleet)
        self._healed = time.monotonic()

    @abstractmethod
    async def take_away(self, fleet: Fleet) -> None:
        """Make Valkey unavailable."""

    @abstractmethod
    async def give_back(self, fleet: Fleet) -> None:
        """Make it available."""

    async def check(self, fleet: Fleet) -> list[str]:
        try:
            await fleet.until_limits_are_shared(_DETECTED_WITHIN_SECONDS, 1)
        except TimeoutError:
            return [f"an instance shared limits {_DETECTED_WITHIN_SECONDS} s after Valkey was gone"]
        self.detected_seconds = time.monotonic() - self._began
        try:
            async with asyncio.timeout(_ANSWERED_WITHIN_SECONDS):
                key, ports = fleet.project["sdk_key"], [each.port for each in fleet.instances]
                allowed = [await count_allowed([each], key, self._address, most=LIMIT) for each in ports]
        except TimeoutError:
            return ["evaluations waited for Valkey"]
        return [
            f"instance {number} allowed {each} evaluations of {LIMIT} a minute without Valkey"
            for number, each in enumerate(allowed)
            if each != LIMIT
        ]

    async def record_recovery(self, fleet: Fleet) -> None:
        await fleet.until_limits_are_shared(_RECOVERED_WITHIN_SECONDS)
        self.recovered_seconds = time.monotonic() - self._healed


class ValkeyKilled(ValkeyGone):
    """SIGKILL, and a start without data."""

    def __str__(self) -> str:
        return "Valkey killed (SIGKILL)"

    async def take_away(self, fleet: Fleet) -> None:
        fleet.valkey.kill()

    async def give_back(self, fleet: Fleet) -> None:
        await asyncio.to_thread(fleet.valkey.start)


class ValkeyPaused(ValkeyGone):
    """SIGSTOP and SIGCONT: connections can be opened, but nothing is answered."""

    def __str__(self) -> str:
        return "Valkey stopped (SIGSTOP)"

    async def take_away(self, fleet: Fleet) -> None:
        fleet.valkey.pause()

    async def give_back(self, fleet: Fleet) -> None:
        fleet.valkey.resume()


class ValkeyPartitioned(ValkeyGone):
    """The instances lose Valkey, in one of the states of a link except slow, which only delays exchanges."""

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self._state = random.choice([each for each in STATES if each != "slow"])

    def __str__(self) -> str:
        return f"partition from Valkey: {self._state.replace('_', '-')}"

    async def take_away(self, fleet: Fleet) -> None:
        await self._change(fleet, self._state)

    async def give_back(self, fleet: Fleet) -> None:
        await self._change(fleet, "open")

    async def _change(self, fleet: Fleet, state: str) -> None:
        await asyncio.gather(*(fleet.proxy.change(valkey_link(each), state) for each in EVERY_INSTANCE))
