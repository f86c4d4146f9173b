"""Evaluate as a plain ASGI route: one flag, and all flags for the requests that the lane does not handle."""

from starlette.types import Receive, Scope, Send

from flagstaff.web.edge.bodies import read_body
from flagstaff.web.edge.errors import MethodNotAllowedError
from flagstaff.web.edge.limits import Limits
from flagstaff.web.sdk.evaluate import PATH, Evaluate, sdk_key_in


class EvaluateRoute:
    """Reads a request, has `Evaluate` answer it and sends the answer; the edge handles errors."""

    def __init__(self, evaluate: Evaluate, limits: Limits) -> None:
        self._evaluate = evaluate
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            raise MethodNotAllowedError("POST")
        self._evaluate.admit(self._limits.client(scope))
        sdk_key = sdk_key_in(scope["headers"])
        body = await read_body(receive)
        if body is None:
            return
        access = self._evaluate.find(sdk_key) or await self._evaluate.load(sdk_key)
        flag_key = scope["path"].removeprefix(PATH).removeprefix("/")
        evaluate = self._evaluate
        answer = evaluate.answer_flag(access, body, flag_key) if flag_key else evaluate.answer(access, body)
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(answer))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": answer})
