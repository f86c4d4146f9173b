"""What calls cost, compared in one run: calls take turns, so that other work on the machine affects all alike."""

import time
from collections.abc import Callable


def fastest_in_turn(*calls: Callable[[], object], repeat: int = 20) -> list[float]:
    """Return the processor time of each call in seconds: the least of several."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(repeat):
        for call, own in zip(calls, times, strict=True):
            began = time.thread_time()
            call()
            own.append(time.thread_time() - began)
    return [min(own) for own in times]


def in_units(call: Callable[[], object], repeat: int = 20) -> float:
    """Return the processor time of a call as a multiple of a millisecond's work of an idle machine."""
    taken, unit = fastest_in_turn(call, lambda: {str(number): [number] for number in range(5000)}, repeat=repeat)
    return taken / unit
