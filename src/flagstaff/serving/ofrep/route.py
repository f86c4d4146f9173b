"""OFREP as a plain ASGI route: one flag, and all flags of the environment that the SDK key opens."""

from starlette.types import Receive, Scope, Send

from flagstaff.evaluation.ofrep_dialect import flag_set_member
from flagstaff.http.bodies import read_body
from flagstaff.http.errors import MethodNotAllowedError
from flagstaff.http.revisions import revision_header
from flagstaff.serving.entity_tags import send_json, send_tagged
from flagstaff.serving.ofrep.answers import Ofrep
from flagstaff.serving.ofrep.errors import PATH
from flagstaff.serving.ofrep.streams import offer, wants_stream
from flagstaff.serving.stream_tokens import StreamTokens
from flagstaff.values.errors import Code, Error


class OfrepRoute:
    """Answers everything below `/ofrep/`; the edge gives errors the form of `ofrep_form`."""

    def __init__(self, ofrep: Ofrep, stream_tokens: StreamTokens) -> None:
        self._ofrep = ofrep
        self._stream_tokens = stream_tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope["path"]
        if path != PATH and not path.startswith(f"{PATH}/"):
            raise Error(Code.NOT_FOUND, f"There is nothing at this path. Evaluate at {PATH} or {PATH}/{{key}}.")
        if scope["method"] != "POST":
            raise MethodNotAllowedError("POST")
        body = await read_body(receive)
        if body is None:
            return
        access, environment = await self._ofrep.open(scope)
        if path != PATH:
            answer = self._ofrep.answer_one(access, environment, body, path.removeprefix(f"{PATH}/"))
            await send_json(answer, send, [revision_header(environment.revision)])
            return
        whole = await self._ofrep.answer_all(environment, body)
        body, tag = whole.body, whole.tag
        if asks := wants_stream(scope["query_string"]):  # others do not know these members, and some refuse them
            offered = offer(self._stream_tokens, access)
            body = body[:-1] + offered.member + flag_set_member(environment) + body[-1:]
            tag += offered.tag
        # The tag ignores the revision, so that a change of what this user does not get costs a 304.
        await send_tagged(body, tag, scope["headers"], send, [revision_header(environment.revision)], is_weak=asks)
