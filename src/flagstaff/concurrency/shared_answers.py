"""Answers that many requests share."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from flagstaff.values.errors import Error

SHARED_SECONDS = 1.0

T = TypeVar("T")


class Shared(Generic[T]):
    """One answer for all requests within a second, because anyone may ask and computing it takes time."""

    def __init__(self, ask: Callable[[], Awaitable[T]], clock: Callable[[], float] = time.monotonic) -> None:
        """`ask` returns the answer or raises an Error, which is shared as well."""
        self._ask = ask
        self._clock = clock
        self._lock = asyncio.Lock()
        self._answer: T | Error
        self._expires_at = float("-inf")

    async def __call__(self) -> T:
        """The answer; raises Error as `ask` does."""
        async with self._lock:
            if self._clock() >= self._expires_at:
                self._answer = await self._try()
                self._expires_at = self._clock() + SHARED_SECONDS
            answer = self._answer
        if isinstance(answer, Error):
            raise answer.with_traceback(None)
        return answer

    async def _try(self) -> T | Error:
        try:
            return await self._ask()
        except Error as error:
            return error
