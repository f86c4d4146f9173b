"""All nemeses by name, and how a random one is chosen."""

from collections.abc import Callable
from random import Random

from tests.faults.database_nemeses import Crashed, FailedOver, Restarted, SessionsTerminated, Stalled
from tests.faults.fleet import Fleet
from tests.faults.nemesis import EVERY_INSTANCE, Nemesis
from tests.faults.network_nemeses import partitions
from tests.faults.page_nemeses import Crowded, Frozen, KilledAtOnce, Offline, Refused
from tests.faults.process_nemeses import ClockJumped, DiskFull, Killed, Paused, PausedAndForgotten
from tests.faults.valkey_nemeses import ValkeyKilled, ValkeyPartitioned, ValkeyPaused


class NoFault(Nemesis):
    """No fault, as a baseline for the figures."""

    seconds = 4
    victims = EVERY_INSTANCE

    def __init__(self, random: Random) -> None:
        """Accept the same argument as other nemeses."""

    def __str__(self) -> str:
        return "no fault"

    async def start(self, fleet: Fleet) -> None:
        """Do nothing."""

    async def heal(self, fleet: Fleet) -> None:
        """Do nothing."""


_OF_INSTANCES: dict[str, Callable[[Random], Nemesis]] = {
    "kill": Killed,
    "pause": Paused,
    "pause-forgotten": PausedAndForgotten,
    "clock": ClockJumped,
    **partitions(),
    "disk-full": DiskFull,
}
_OF_THE_DATABASE: dict[str, Callable[[Random], Nemesis]] = {
    "sessions": SessionsTerminated,
    "stall": Stalled,
    "restart": Restarted,
    "crash": Crashed,
    "failover": FailedOver,
}
_OF_VALKEY: dict[str, Callable[[Random], Nemesis]] = {
    "valkey-kill": ValkeyKilled,
    "valkey-pause": ValkeyPaused,
    "valkey-partition": ValkeyPartitioned,
}
_OF_PAGES: dict[str, Callable[[Random], Nemesis]] = {
    "pages-frozen": Frozen,
    "pages-offline": Offline,
    "pages-refused": Refused,
    "pages-crowded": Crowded,
    "pages-killed": KilledAtOnce,
}
NEMESES: dict[str, Callable[[Random], Nemesis]] = {
    "none": NoFault,
    **_OF_INSTANCES,
    **_OF_THE_DATABASE,
    **_OF_VALKEY,
    **_OF_PAGES,
}


class Together(Nemesis):
    """A fault of instances or pages, during which one of the database or of Valkey begins and ends."""

    victims = EVERY_INSTANCE

    def __init__(self, of_instances: Nemesis, of_a_server: Nemesis) -> None:
        self.seconds = max(of_instances.seconds, of_a_server.seconds)
        self.wrong_clock_seconds = of_instances.wrong_clock_seconds
        self._of_instances = of_instances
        self._of_a_server = of_a_server

    def __str__(self) -> str:
        return f"{self._of_instances}; {self._of_a_server}"

    async def prepare(self, fleet: Fleet) -> None:
        await self._of_a_server.prepare(fleet)

    async def start(self, fleet: Fleet) -> None:
        await self._of_instances.start(fleet)
        await self._of_a_server.start(fleet)

    async def heal(self, fleet: Fleet) -> None:
        await self._of_a_server.heal(fleet)  # no instance starts without it
        await self._of_instances.heal(fleet)


def draw(random: Random) -> Nemesis:
    """Choose a random nemesis; every third one combines two."""
    if random.randrange(3):
        return random.choice([NEMESES[name] for name in NEMESES if name != "none"])(random)
    one, other = random.choice([*_OF_INSTANCES, *_OF_PAGES]), random.choice(list(_OF_THE_DATABASE))
    return Together(NEMESES[one](random), NEMESES[other](random))
