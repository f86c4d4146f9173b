"""Evaluate as a plain ASGI route: one flag, and all flags for the requests that the fast path does not handle."""

from starlette.types import Receive, Scope, Send

from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from flagstaff.history.callers import SdkProtocol
from flagstaff.http.bodies import read_body
from flagstaff.http.clients import is_stranger
from flagstaff.http.errors import MethodNotAllowedError
from flagstaff.http.limits import Limits
from flagstaff.http.revisions import revision_header
from flagstaff.serving.caller_counts import CallerCounts, environment_of_refused
from flagstaff.serving.entity_tags import send_json
from flagstaff.serving.evaluate import PATH, Evaluate, sdk_key_in
from flagstaff.serving.known_sdk_keys import Access
from flagstaff.serving.page_origins import require_allowed
from flagstaff.serving.read_your_writes import ReadYourWrites
from flagstaff.serving.revisions import demanded_in
from flagstaff.values.errors import Error


class EvaluateRoute:
    """Reads a request, has `Evaluate` answer it and sends the answer; the edge handles errors."""

    def __init__(
        self, evaluate: Evaluate, limits: Limits, read_your_writes: ReadYourWrites, callers: CallerCounts
    ) -> None:
        self._evaluate = evaluate
        self._limits = limits
        self._callers = callers
        self._read_your_writes = read_your_writes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            raise MethodNotAllowedError("POST")
        self._evaluate.admit(self._limits.client(scope))
        sdk_key = sdk_key_in(scope["headers"])
        if is_stranger(scope):
            await self._evaluate.load(sdk_key)  # refuses it, before the body is read
        body = await read_body(receive)
        if body is None:
            return
        evaluate = self._evaluate
        access = evaluate.find(sdk_key) or await evaluate.load(sdk_key)
        demanded = demanded_in(scope["headers"])
        if demanded is not None:
            await self._read_your_writes.reach(access.project, demanded)
            access = evaluate.find(sdk_key) or await evaluate.load(sdk_key)  # of the present snapshot
        require_allowed(access, scope["headers"])
        flag_key = scope["path"].removeprefix(PATH).removeprefix("/")
        try:
            answered = await evaluate.answer_loaded(access, body, flag_key)
        except Error as error:
            if asked := environment_of_refused(access, error):
                self._count(scope, access, asked)
            raise
        answer, environment = answered
        self._count(scope, access, environment)
        await send_json(answer, send, [revision_header(environment.revision)])

    def _count(self, scope: Scope, access: Access, environment: EnvironmentSnapshot) -> None:
        self._callers.add(self._callers.identify(scope, SdkProtocol.EVALUATE, access, environment), 1)
