"""Long work on the event loop, done a millisecond at a time."""

import asyncio
from time import perf_counter

SLICE_SECONDS = 0.001


class Turns:
    """Lets others use the event loop after each millisecond of work."""

    def __init__(self) -> None:
        self._ends_at = perf_counter() + SLICE_SECONDS

    async def give(self) -> None:
        """Call this between small steps; most calls return at once."""
        if perf_counter() >= self._ends_at:
            await asyncio.sleep(0)
            self._ends_at = perf_counter() + SLICE_SECONDS
