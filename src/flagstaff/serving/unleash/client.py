"""Unleash's client API as a plain ASGI route: the flags of an environment for SDKs that evaluate them themselves.

A 401 or 403 makes some clients give up for good, and so does a refused report. Both are only sent when they are right.
"""

from collections.abc import Awaitable, Callable
from typing import NamedTuple
from urllib.parse import parse_qs

import msgspec
from starlette.types import Receive, Scope, Send

from flagstaff.concurrency.worker import in_worker
from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from flagstaff.history.applications import Client, Report
from flagstaff.history.callers import SdkProtocol
from flagstaff.http.bodies import LargeBodies, read_body
from flagstaff.http.errors import MethodNotAllowedError
from flagstaff.http.nesting import require_shallow
from flagstaff.http.operations import CONTEXT_BODY, REPORT_BODY, Endpoint
from flagstaff.projects.sdk_keys import KeyKind
from flagstaff.serving.access import SERVER_ONLY, KeyAccess
from flagstaff.serving.context import UNREADABLE
from flagstaff.serving.entity_tags import has_answer, send_chunks, send_json, send_unchanged, tag_header
from flagstaff.serving.known_sdk_keys import Access
from flagstaff.serving.local_flags import LocalFlagsCache
from flagstaff.serving.reports_collector import Applications
from flagstaff.serving.unleash import reports
from flagstaff.serving.unleash.errors import credential_in
from flagstaff.serving.unleash.payloads import payload_of
from flagstaff.serving.unleash.streaming import DELTA, STREAMING
from flagstaff.values.errors import Code, Error, invalid_field

PREFIX = "/unleash/"
_CLIENT = f"{PREFIX}api/client"
_FEATURES, _REGISTER = f"{_CLIENT}/features", f"{_CLIENT}/register"
_METRICS, _BATCHES, _EDGE_STATE = f"{_CLIENT}/metrics", f"{_CLIENT}/metrics/bulk", f"{_CLIENT}/metrics/edge"
_VALIDATE = (f"{PREFIX}edge/validate", f"{PREFIX}api/edge/validate")
ENDPOINT = Endpoint(
    PREFIX,
    CONTEXT_BODY,
    others=(_FEATURES, _REGISTER, STREAMING, DELTA, *_VALIDATE),
)
REPORTS_ENDPOINT = Endpoint(_METRICS, REPORT_BODY, others=(_METRICS, _BATCHES, _EDGE_STATE))
_MAX_QUERY_FIELDS = 100
_MAX_TOKENS = 100
_COUNTS_PER_REPORT = 500  # a larger report counts as several
_HEADERS = ((b"cache-control", b"private, no-cache"),)  # a client's own cache may keep the features, and ask
# Unleash's SDK for Node.js then leaves the answer unread and opens the stream. If that is refused, it asks again with
# the tag that it has, so this answer has none. Other SDKs ignore it, and may need the tag.
_MOVE_TO_STREAM = (b"fetch-mode", b"streaming")
_NODE = "unleash-node-sdk:"
_TYPES = {KeyKind.SERVER: "client", KeyKind.BROWSER: "frontend"}
_encode = msgspec.json.Encoder().encode


class _Tokens(msgspec.Struct):
    tokens: list[str]


_read_tokens = msgspec.json.Decoder(_Tokens).decode
Handle = Callable[[Scope, Receive, Send], Awaitable[None]]


class _Operation(NamedTuple):
    method: str
    handle: Handle


class ClientRoute:
    """Answers everything below `/unleash/` that has no route of its own."""

    def __init__(
        self, key_access: KeyAccess, local_flags: LocalFlagsCache, applications: Applications, *, moves_to_stream: bool
    ) -> None:
        """`moves_to_stream` says whether to move clients that poll, and that can be moved, to the stream."""
        self._key_access = key_access
        self._local_flags = local_flags
        self._applications = applications
        self._moves_to_stream = moves_to_stream
        self._large_bodies = LargeBodies()
        self._operations = {
            _FEATURES: _Operation("GET", self._features),
            _REGISTER: _Operation("POST", self._register),
            _METRICS: _Operation("POST", self._metrics),
            _BATCHES: _Operation("POST", self._batch),
            _EDGE_STATE: _Operation("POST", self._edge_state),
            **dict.fromkeys(_VALIDATE, _Operation("POST", self._validate)),
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        operation = self._operations.get(scope["path"])
        if operation is None:
            raise Error(Code.NOT_FOUND, f"There is nothing at this path. Set the URL of the SDK to …{PREFIX}api.")
        if scope["method"] != operation.method:
            raise MethodNotAllowedError(operation.method)
        await operation.handle(scope, receive, send)

    async def _features(self, scope: Scope, _receive: Receive, send: Send) -> None:
        prefix = _prefix_in(scope["query_string"])
        _, environment = await self._open(scope)
        local = await self._local_flags.current(environment)
        payload = await payload_of(local, prefix)
        client = reports.client_in(scope["headers"])
        is_moved = self._moves_to_stream and await self._can_be_moved(environment, client)
        self._applications.record_poll(environment.environment_id, client, local.revision)
        if has_answer(scope["headers"], payload.tag):
            await send_unchanged(payload.tag, send, _HEADERS)
            return
        document, header = payload.document, _MOVE_TO_STREAM if is_moved else tag_header(payload.tag)
        await send_chunks(document.chunks(), document.length, send, [header, *_HEADERS])

    async def _can_be_moved(self, environment: EnvironmentSnapshot, client: Client) -> bool:
        """Return whether a client can be moved to the stream: only by its first request, as a proxy may refuse that."""
        is_able = client.connection and client.sdk.startswith(_NODE)
        return bool(is_able) and await self._applications.is_new(environment.environment_id, client)

    async def _register(self, scope: Scope, receive: Receive, send: Send) -> None:
        _, environment = await self._open(scope)
        async with self._large_bodies.reading(scope, receive, environment.project_id) as body:
            reports.check_registration(body)
        await _accept(send)

    async def _metrics(self, scope: Scope, receive: Receive, send: Send) -> None:
        access, environment = await self._open_for_report(scope)
        client = reports.client_in(scope["headers"])
        async with self._large_bodies.reading(scope, receive, environment.project_id) as body:
            self._record_reports(access, await in_worker(reports.read_metrics, body, environment, client))
        await _accept(send)

    async def _batch(self, scope: Scope, receive: Receive, send: Send) -> None:
        access, environment = await self._open_for_report(scope)
        client = reports.client_in(scope["headers"])
        async with self._large_bodies.reading(scope, receive, environment.project_id) as body:
            self._record_reports(access, await in_worker(reports.read_batch, body, environment, client))
        await _accept(send)

    async def _edge_state(self, scope: Scope, receive: Receive, send: Send) -> None:
        _, environment = await self._open(scope)
        async with self._large_bodies.reading(scope, receive, environment.project_id) as body:
            await in_worker(reports.check_edge_state, body)
        await _accept(send)

    async def _validate(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Tell an Edge which of its keys are valid. It has no key of its own, so those that are not valid are counted.

        A list without keys counts as one that is not valid.
        """
        body = await read_body(receive)
        if body is None:
            return
        require_shallow(body)
        try:
            tokens = _read_tokens(body).tokens
        except UNREADABLE:
            raise invalid_field("tokens", "must be a list of SDK keys") from None
        if len(tokens) > _MAX_TOKENS:
            raise invalid_field("tokens", f"must contain at most {_MAX_TOKENS} items")
        valid = []
        for token in tokens or [""]:
            access = await self._key_access.find(token)
            self._key_access.count(scope, access)
            if access is not None and access.environment is not None:
                valid.append(
                    {
                        "token": token,
                        "type": _TYPES[access.kind],
                        "projects": [access.environment.project_id.hex],
                        "environment": access.environment.environment_key,
                    }
                )
        await send_json(_encode({"tokens": valid}), send)

    async def _open(self, scope: Scope) -> tuple[Access, EnvironmentSnapshot]:
        credential = credential_in(scope["headers"])
        return await self._key_access.open(scope, credential, SdkProtocol.UNLEASH, SERVER_ONLY)

    async def _open_for_report(self, scope: Scope) -> tuple[Access, EnvironmentSnapshot]:
        access, environment = await self._open(scope)
        self._key_access.admit_report(access)  # before the body is read, which takes milliseconds
        return access, environment

    def _record_reports(self, access: Access, found: list[Report]) -> None:
        size = sum(each.size for each in found)
        given = size + sum(each.dropped for each in found)
        self._key_access.admit_report(access, given // _COUNTS_PER_REPORT)  # also if there is no room: it was read
        self._applications.require_room(size)
        for each in found:
            self._applications.record_report(each)


def _prefix_in(query: bytes) -> str:
    """The start of the keys of the flags that are asked for."""
    try:
        fields = parse_qs(query.decode("latin-1"), max_num_fields=_MAX_QUERY_FIELDS)
    except ValueError:
        raise invalid_field("query", f"must have at most {_MAX_QUERY_FIELDS} fields") from None
    return fields.get("namePrefix", [""])[-1]


async def _accept(send: Send) -> None:
    """Send a 202, the only status that all clients take for success."""
    await send({"type": "http.response.start", "status": 202, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})
