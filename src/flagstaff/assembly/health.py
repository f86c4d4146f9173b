"""Liveness, readiness and metrics, for load balancers and monitoring."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Annotated, Generic, Literal, TypeVar

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from flagstaff.api.operations import reads
from flagstaff.http.operations import Caller
from flagstaff.http.probes import Probes
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import json_response
from flagstaff.http.services import service_of
from flagstaff.values.errors import Error

router = APIRouter(tags=["Health"])


SHARED_SECONDS = 1.0
Part = Literal["evaluations", "writes", "history"]

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


class StatusOut(ResponseModel):
    """The service works."""

    status: str


@router.head("/health", include_in_schema=False)
@router.get("/health", response_model=StatusOut)
@reads(Caller.ANYONE)
async def health() -> Response:
    """The process is alive."""
    return json_response({"status": "ok"})


@router.head("/ready", include_in_schema=False)
@router.get("/ready", response_model=StatusOut, responses=problems(400, 503))
@reads(Caller.ANYONE)
async def ready(request: Request, part: Annotated[Part | None, Query(alias="for")] = None) -> Response:
    """Whether everything works; otherwise a 503 with the problems in `detail`, and the working parts in `works`.

    `for` limits the check to one part: `evaluations`, which are answered from memory even while the database is
    unavailable; `writes`, which are changes; or `history`, to which evaluations are recorded.

    The answer is at most a second old, except that a stop is reported at once.
    """
    probes = service_of(request, Probes)
    probes.require_staying()
    try:
        await probes.check()
    except Error as error:
        if part is None or not error.extensions["works"][part]:
            raise
    return json_response({"status": "ready"})


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
@reads(Caller.ANYONE)
async def metrics(request: Request) -> Response:
    """Metrics for Prometheus, at most a second old."""
    body, media_type = await service_of(request, Probes).render_figures()
    return Response(body, headers={"content-type": media_type})
