"""Evaluate as a plain ASGI route."""

from starlette.types import Receive, Scope, Send

from flagstaff.web.errors import problem, send_problem
from flagstaff.web.evaluate import Evaluate
from flagstaff.web.limits import Limits


class EvaluateRoute:
    """Collects a request, lets `Evaluate` answer and sends the answer; errors are the edge's."""

    def __init__(self, evaluate: Evaluate, limits: Limits) -> None:
        self._evaluate = evaluate
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            detail = "This address knows the method POST only."
            await send_problem(problem(405, detail, scope["state"]["request_id"], headers=[(b"allow", b"POST")]), send)
            return
        self._evaluate.admit(self._limits.client(scope))
        keys = [value for name, value in scope["headers"] if name == b"x-sdk-key"]
        body = await _read(receive)
        answer = self._evaluate.answer(keys[0].decode("latin-1") if len(keys) == 1 else None, body)
        if not isinstance(answer, bytes):
            answer = await answer
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(answer))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": answer})


async def _read(receive: Receive) -> bytes:
    parts = []
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)
