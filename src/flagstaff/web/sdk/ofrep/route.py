"""OFREP as a plain ASGI route: one flag, and all flags of the environment that the SDK key opens."""

from collections.abc import Awaitable, Callable

from starlette.types import Receive, Scope, Send

from flagstaff.domain.errors import Code, Error
from flagstaff.evaluation.dialects import write_alone
from flagstaff.evaluation.ofrep import OFREP
from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from flagstaff.runtime.sdk_keys import Access
from flagstaff.runtime.stream_tokens import StreamTokens
from flagstaff.runtime.translations import Translations
from flagstaff.web.edge.bodies import read_body
from flagstaff.web.edge.errors import MethodNotAllowedError
from flagstaff.web.sdk.access import open_access
from flagstaff.web.sdk.entity_tags import send_json, send_tagged
from flagstaff.web.sdk.evaluations import Evaluations
from flagstaff.web.sdk.ofrep.errors import PATH
from flagstaff.web.sdk.ofrep.requests import OfrepRequest, credential_in, read_request
from flagstaff.web.sdk.ofrep.streams import offer, wants_stream

_IDENTIFIERS = ("targetingKey", "email", "user_email")


class OfrepRoute:
    """Answers everything below `/ofrep/`; the edge gives errors the form of `ofrep_form`."""

    def __init__(
        self,
        find: Callable[[str], Awaitable[Access | None]],
        evaluations: Evaluations,
        translations: Translations,
        stream_tokens: StreamTokens,
    ) -> None:
        """`find` finds what an SDK key opens."""
        self._find = find
        self._stream_tokens = stream_tokens
        self._evaluations = evaluations
        self._translations = translations

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope["path"]
        if path != PATH and not path.startswith(f"{PATH}/"):
            raise Error(Code.NOT_FOUND, f"There is nothing at this path. Evaluate at {PATH} or {PATH}/{{key}}.")
        if scope["method"] != "POST":
            raise MethodNotAllowedError("POST")
        body = await read_body(receive)
        if body is None:
            return
        access, environment = await open_access(self._find, credential_in(scope["headers"]))
        request = read_request(body)
        if path == PATH:
            await self._answer_all(access, environment, request, scope, send)
        else:
            await self._answer_one(environment, request, path.removeprefix(f"{PATH}/"), send)

    async def _answer_all(
        self, access: Access, environment: EnvironmentSnapshot, request: OfrepRequest, scope: Scope, send: Send
    ) -> None:
        translation = await self._translations.find(environment, OFREP)
        context = self._evaluations.context(environment, *request, identifiers=_IDENTIFIERS)
        answer = self._evaluations.all_flags(translation, environment, context)
        body, tag = answer.body, answer.tag
        if wants_stream(scope["query_string"]):  # others do not know the member, and some refuse it
            offered = offer(self._stream_tokens, access)
            body, tag = body[:-1] + offered.member + body[-1:], tag + offered.tag
        await send_tagged(body, tag, scope["headers"], send)

    async def _answer_one(
        self, environment: EnvironmentSnapshot, request: OfrepRequest, flag_key: str, send: Send
    ) -> None:
        context = self._evaluations.context(environment, *request, identifiers=_IDENTIFIERS)
        decision = self._evaluations.one_flag(environment, context, flag_key)
        await send_json(write_alone(OFREP, environment, decision), send)
