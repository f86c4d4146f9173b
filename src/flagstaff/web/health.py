"""Is it alive, is it ready, and how does it fare: for load balancers and monitoring."""

from fastapi import APIRouter, Request
from pydantic import BaseModel
from starlette.responses import Response

from flagstaff.web.edge.problems import problems
from flagstaff.web.edge.responses import json_response

router = APIRouter(tags=["Health"])


class StatusOut(BaseModel):
    """That all is well."""

    status: str


@router.head("/health", include_in_schema=False)
@router.get("/health", response_model=StatusOut)
async def health() -> Response:
    """The process is alive."""
    return json_response({"status": "ok"})


@router.head("/ready", include_in_schema=False)
@router.get("/ready", response_model=StatusOut, responses=problems(503))
async def ready(request: Request) -> Response:
    """The database can be reached and is migrated. Evaluations go on from memory even while it is not."""
    await request.app.state.check_readiness()
    return json_response({"status": "ready"})


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def metrics(request: Request) -> Response:
    """Figures for Prometheus."""
    body, media_type = request.app.state.metrics.render()
    return Response(body, headers={"content-type": media_type})
