"""The Idempotency-Key header of operations that are repeatable: a request with a key is carried out once.

It follows the IETF's draft-ietf-httpapi-idempotency-key-header and Stripe, with two differences: a failed request
leaves its key unused, and of two concurrent requests the second waits for the first.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from flagstaff.api.entity_tags import tag_of
from flagstaff.concurrency.pacing import pause
from flagstaff.database.planned_writes import plan_ahead
from flagstaff.http.bodies import BODY
from flagstaff.http.services import SERVICES
from flagstaff.idempotency.idempotency_service import Answer, Idempotency
from flagstaff.values.errors import invalid_field

IDEMPOTENCY_KEY = "Idempotency-Key"
KEY_PATTERN = "^[!-~]{1,255}$"  # visible ASCII

_key = re.compile(KEY_PATTERN[1:-1])
_CONTENT_TYPE = (b"content-type", b"application/json")
_REPLAYED = (b"idempotency-replayed", b"true")


@dataclass
class _FailedError(Exception):
    """The application's response to a request that has failed and must change nothing."""

    messages: list[Message]


async def carry_out_once(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Let an application carry out a request with a key once, and answer repetitions with the stored response."""
    key = _read_key(scope)
    if key is None:
        await app(scope, receive, send)
        return

    async def carry_out() -> Answer:
        messages: list[Message] = []

        async def collect(message: Message) -> None:
            messages.append(message)

        await app(scope, receive, collect)
        status: int = messages[0]["status"]
        if status >= 300:
            raise _FailedError(messages)
        return Answer(status, [message.get("body", b"") for message in messages[1:]])

    state = scope["state"]
    fingerprint = _fingerprint(scope, await state[BODY].read())
    idempotency, actor = scope[SERVICES][Idempotency], state["authenticated"].actor
    try:
        answer = await plan_ahead(
            lambda: idempotency.carry_out_once(actor, key, fingerprint=fingerprint, carry_out=carry_out)
        )
    except _FailedError as failed:
        for message in failed.messages:
            await send(message)
        return
    await _send(answer, send)


async def _send(answer: Answer, send: Send) -> None:
    length = sum(map(len, answer.parts))
    headers = [_CONTENT_TYPE, (b"content-length", b"%d" % length), *_tag(answer.parts)]
    if answer.is_replayed:
        headers.append(_REPLAYED)
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    for part in answer.parts[:-1]:
        await send({"type": "http.response.body", "body": part, "more_body": True})
        await pause()
    await send({"type": "http.response.body", "body": answer.parts[-1]})


def _tag(parts: Sequence[bytes]) -> list[tuple[bytes, bytes]]:
    """The tag of a response that consists of a resource, which begins with its id. Lists of them can have megabytes."""
    if not parts[0].startswith(b'{"id":'):
        return []
    return [(b"etag", tag_of(msgspec.json.decode(b"".join(parts))).encode())]


def _read_key(scope: Scope) -> str | None:
    given = [value for name, value in scope["headers"] if name == b"idempotency-key"]
    if not given:
        return None
    key: str = given[0].decode("latin-1")
    if len(given) > 1 or not _key.fullmatch(key):
        raise invalid_field(IDEMPOTENCY_KEY, "must be one header of 1 to 255 visible ASCII characters")
    return key


def _fingerprint(scope: Scope, body: bytes) -> bytes:
    """A hash that identifies a request: its method, path, query and body."""
    digest = hashlib.sha256(f"{scope['method']} {scope['path']}".encode(errors="surrogatepass"))
    digest.update(b"?" + scope.get("query_string", b"") + b"\n" + body)
    return digest.digest()
