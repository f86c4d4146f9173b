"""Limits what an access token that may write but not read a resource is shown: ids, keys and secrets shown once.

A conflict is shown without its reason, which can name other things, such as flags that need this one.
"""

import json
from typing import Any

from starlette.types import Message, Send

from flagstaff.changes.changes import Actor
from flagstaff.concurrency.worker import in_worker
from flagstaff.http.operations import Operation
from flagstaff.http.responses import encode_json

SHOWN = ("id", "key", "sdk_key", "token", "secret")
"""The fields that remain. Of a project, `sdk_key` is null without `keys:read`."""

_CONFLICT = 409
_NO_REASON = "The present state does not allow this. Nothing was changed."

_decode_at = json.JSONDecoder().raw_decode


def may_see(actor: Actor, operation: Operation) -> bool:
    """Return whether someone who may do an operation is shown what it is done to: anyone but some access tokens."""
    return actor.limits is None or operation.shown_with <= actor.limits.permissions


def showing_only_identity(send: Send, operation: Operation) -> Send:
    """Pass on a response whose body is reduced to these fields, and those that the operation tells.

    A conflict is passed on without its reason; other errors, and responses without a body, as they are. The body is
    read item by item, because lists can have megabytes.
    """
    shown = (*SHOWN, *operation.tells)
    start: Message | None = None
    parts: list[bytes] = []

    async def send_on(message: Message) -> None:
        nonlocal start
        if message["type"] == "http.response.start" and (message["status"] < 300 or message["status"] == _CONFLICT):
            start = message
        elif start is None:
            await send(message)
        else:
            parts.append(message.get("body", b""))
            if not message.get("more_body"):
                if start["status"] == _CONFLICT:
                    body = _without_reason(b"".join(parts), operation)
                else:
                    body = await in_worker(_reduce, parts, shown)
                await send({**start, "headers": _headers_of(start, len(body))})
                await send({"type": "http.response.body", "body": body})

    return send_on


def _headers_of(start: Message, length: int) -> list[tuple[bytes, bytes]]:
    """The headers without the tag, which is a time or a hash of what is left out."""
    kept = [each for each in start["headers"] if each[0].lower() not in {b"etag", b"content-length"}]
    return kept if start["status"] == 204 else [*kept, (b"content-length", b"%d" % length)]


def _without_reason(body: bytes, operation: Operation) -> bytes:
    problem = _identity(json.loads(body), ("type", "title", "status", "request_id"))
    needed = " and ".join(sorted(operation.shown_with))
    return encode_json({**problem, "detail": f"{_NO_REASON} A token with {needed} is told the reason."})


def _reduce(parts: list[bytes], shown: tuple[str, ...]) -> bytes:
    text = b"".join(parts).decode()
    if not text:
        return b""
    if not text.startswith("["):
        return encode_json(_identity(_decode_at(text)[0], shown))
    items, place = [], 1
    while text[place] != "]":
        item, place = _decode_at(text, place + (text[place] == ","))
        items.append(_identity(item, shown))
    return encode_json(items)


def _identity(item: dict[str, Any], shown: tuple[str, ...]) -> dict[str, Any]:
    return {name: item[name] for name in shown if name in item}
