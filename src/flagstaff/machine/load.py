"""The load of this process: its work in a second, and the time for which its event loop keeps others waiting."""

import asyncio
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

TICK_SECONDS = 0.25
_TICKS = 12  # over which the rates are taken
LAG_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
_STATM = Path("/proc/self/statm")


class Rates(NamedTuple):
    """Rates over the last few seconds: evaluations per second, cores in use, and the longest lag."""

    evaluations_per_second: float
    cpu: float
    event_loop_lag_seconds: float


class LoadMeter:
    """Measures with a timer. The lag is how late the timer is: everything else that was due waited as long."""

    def __init__(
        self,
        *,
        count_evaluations: Callable[[], int],
        observe_lag: Callable[[float], None],
        clock: Callable[[], float] = time.monotonic,
        cpu_clock: Callable[[], float] = time.process_time,
    ) -> None:
        """`count_evaluations` returns how many there were so far; `observe_lag` is called with each lag, in seconds."""
        self._count_evaluations = count_evaluations
        self._observe_lag = observe_lag
        self._clock = clock
        self._cpu_clock = cpu_clock
        self._timer: asyncio.TimerHandle | None = None
        self._ticks = 0
        self._longest = 0.0
        self._due_at = 0.0
        self._since = self._readings()
        self.rates = Rates(0, 0, 0)

    def start(self) -> None:
        """Measure until `stop`."""
        self._since = self._readings()
        self._set_timer()

    def stop(self) -> None:
        """Stop measuring."""
        if self._timer is not None:
            self._timer.cancel()

    def record_tick(self) -> None:
        """Note that the timer has come."""
        lag = max(self._clock() - self._due_at, 0)
        self._observe_lag(lag)
        self._longest = max(self._longest, lag)
        self._ticks += 1
        if self._ticks == _TICKS:
            self._take_rates()
        self._set_timer()

    def _set_timer(self) -> None:
        self._due_at = self._clock() + TICK_SECONDS
        self._timer = asyncio.get_running_loop().call_later(TICK_SECONDS, self.record_tick)

    def _take_rates(self) -> None:
        before, self._since = self._since, self._readings()
        evaluations, cpu, now = (new - old for new, old in zip(self._since, before, strict=True))
        self.rates = Rates(evaluations / now, cpu / now, self._longest)
        self._ticks, self._longest = 0, 0.0

    def _readings(self) -> tuple[float, float, float]:
        return self._count_evaluations(), self._cpu_clock(), self._clock()


def memory_bytes() -> int:
    """The memory that this process has in RAM; where the system does not tell, the most that it has had."""
    try:
        return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024
