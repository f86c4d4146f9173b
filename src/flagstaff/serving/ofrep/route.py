"""OFREP as a plain ASGI route: one flag, and all flags of the environment that the SDK key opens."""

from starlette.types import Receive, Scope, Send

from flagstaff.evaluation.ofrep_dialect import flag_set_member
from flagstaff.http.bodies import read_body
from flagstaff.http.clients import is_stranger
from flagstaff.http.errors import MethodNotAllowedError
from flagstaff.http.revisions import revision_header
from flagstaff.serving.entity_tags import has_answer, send_json, send_tagged, send_unchanged, tag_header
from flagstaff.serving.ofrep.answers import Ofrep
from flagstaff.serving.ofrep.errors import PATH
from flagstaff.serving.ofrep.streams import offer, wants_stream
from flagstaff.serving.refetches import Refetches
from flagstaff.serving.stream_tokens import StreamTokens
from flagstaff.values.errors import Code, Error


class OfrepRoute:
    """Answers everything below `/ofrep/`; the edge gives errors the form of `ofrep_form`."""

    def __init__(self, ofrep: Ofrep, stream_tokens: StreamTokens, refetches: Refetches, path_prefix: str) -> None:
        self._ofrep = ofrep
        self._stream_tokens = stream_tokens
        self._refetches = refetches
        self._path_prefix = path_prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope["path"]
        if path != PATH and not path.startswith(f"{PATH}/"):
            raise Error(Code.NOT_FOUND, f"There is nothing at this path. Evaluate at {PATH} or {PATH}/{{key}}.")
        if scope["method"] != "POST":
            raise MethodNotAllowedError("POST")
        if is_stranger(scope):
            await self._ofrep.open(scope)  # refuses it, before the body is read
        body = await read_body(receive)
        if body is None:
            return
        if path == PATH and wants_stream(scope["query_string"]):
            await self._answer_with_stream(scope, body, send)
            return
        access, environment = await self._ofrep.open(scope)
        headers = [revision_header(environment.revision)]
        if path == PATH:
            whole = await self._ofrep.answer_all(access, environment, body)
            await send_tagged(whole.body, whole.tag, scope["headers"], send, headers)
        else:
            answer = self._ofrep.answer_one(access, environment, body, path.removeprefix(f"{PATH}/"))
            await send_json(answer, send, headers)

    async def _answer_with_stream(self, scope: Scope, body: bytes, send: Send) -> None:
        """Answer with all flags and members that other clients do not ask for, and that some refuse.

        The tag ignores the revision, so that a change of what this user does not get costs a 304.
        """
        known = self._refetches.names.find(scope["headers"])
        access, environment = await self._ofrep.open(scope, known)
        whole, revision = await self._ofrep.answer_all(access, environment, body), environment.revision
        offered = offer(self._path_prefix, self._stream_tokens, access, revision, known or self._refetches.names.make())
        tag, headers = whole.tag + offered.tag, [revision_header(revision)]
        if known is not None and has_answer(scope["headers"], tag):
            self._refetches.confirm(known, revision)
            await send_unchanged(tag, send, headers, is_weak=True)
        else:
            members = offered.member + flag_set_member(environment)
            headers.append(tag_header(tag, is_weak=True))
            await send_json(whole.body[:-1] + members + whole.body[-1:], send, headers)
