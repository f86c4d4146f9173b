"""The load of a process, measured by clocks that the test sets."""

import asyncio

from flagstaff.machine.load import TICK_SECONDS, LoadMeter, Rates, memory_bytes


class Machine:
    """The readings that the meter takes."""

    def __init__(self) -> None:
        self.now, self.cpu, self.evaluations = 100.0, 5.0, 0
        self.lags: list[float] = []
        self.meter = LoadMeter(
            count_evaluations=lambda: self.evaluations,
            observe_lag=self.lags.append,
            clock=lambda: self.now,
            cpu_clock=lambda: self.cpu,
        )

    def tick(self, late: float = 0.0) -> None:
        self.now += TICK_SECONDS + late
        self.cpu += 0.125
        self.evaluations += 50
        self.meter.record_tick()


async def test_rates_are_taken_over_the_last_ticks_and_the_lag_is_the_longest() -> None:
    machine = Machine()
    machine.meter.start()
    for late in (0, 0.5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0):
        assert machine.meter.rates == Rates(0, 0, 0)
        machine.tick(late)
    assert machine.meter.rates == Rates(600 / 3.5, 1.5 / 3.5, 0.5)
    for _ in range(12):
        machine.tick()
    assert machine.meter.rates == Rates(200, 0.5, 0)
    machine.meter.stop()
    assert sum(machine.lags) == 0.5


async def test_a_timer_measures_until_it_is_stopped() -> None:
    lags: asyncio.Queue[float] = asyncio.Queue()
    meter = LoadMeter(count_evaluations=lambda: 0, observe_lag=lags.put_nowait)
    meter.start()
    assert await lags.get() < 5
    meter.stop()


def test_the_memory_is_that_of_this_process() -> None:
    assert 10_000_000 < memory_bytes() < 10_000_000_000
