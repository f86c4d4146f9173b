"""Calls to identity providers, limited in time and size; they follow no redirect."""

import asyncio
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx
import msgspec
import structlog

from flagstaff.settings.providers import Provider
from flagstaff.values.errors import Code, Error

log = structlog.get_logger(__name__)

_CALL_SECONDS = 10.0
_ANSWER_MAX_BYTES = 256 * 1024
_CALLS_AT_ONCE = 16


class ProviderCalls:
    """Calls one provider. Its errors name the provider to the caller, and the reason only in the log."""

    def __init__(self, provider: Provider, http: httpx.AsyncClient, *, seconds: float = _CALL_SECONDS) -> None:
        self._provider = provider
        self._http = http
        self._seconds = seconds
        self._slots = asyncio.Semaphore(_CALLS_AT_ONCE)

    async def call(
        self, method: str, url: str, *, is_judged: bool = False, headers: Mapping[str, str] | None = None, **values: Any
    ) -> Mapping[str, Any]:
        """The JSON object that the provider returns. If it judges the sign-in, a 4xx means that this is not valid.

        Raises:
            Error: UNAUTHENTICATED for that, UNAVAILABLE for any other failure.
        """
        # Not compressed, so that the limit holds for what is read.
        sent = {"accept": "application/json", "accept-encoding": "identity", **(headers or {})}
        try:
            async with (
                asyncio.timeout(self._seconds),
                self._slots,
                self._http.stream(method, url, headers=sent, **values) as response,
            ):
                body = bytearray()
                async for part in response.aiter_raw():
                    body += part
                    if len(body) > _ANSWER_MAX_BYTES:
                        raise self.away(f"an answer has more than {_ANSWER_MAX_BYTES // 1024} KiB")
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as error:
            raise self.away(type(error).__name__) from error
        path = urlsplit(url).path
        if is_judged and 400 <= response.status_code < 500:
            raise self.refuse(f"{path} answered {response.status_code}")
        try:
            answer = msgspec.json.decode(bytes(body))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            answer = None
        if response.status_code != 200 or not isinstance(answer, dict):
            raise self.away(f"{path} answered {response.status_code}")
        return answer

    def away(self, reason: str) -> Error:
        """The error for a provider that does not answer as it must."""
        log.warning("identity_provider_unavailable", provider=self._provider.key, reason=reason)
        message = f"{self._provider.name} cannot be reached right now or is not set up correctly. Try again shortly."
        return Error(Code.UNAVAILABLE, message, retry_after_seconds=5)

    def refuse(self, reason: str) -> Error:
        """The error for an answer that proves nothing."""
        log.warning("sign_in_refused", provider=self._provider.key, reason=reason)
        return Error(Code.UNAUTHENTICATED, f"The sign-in with {self._provider.name} is not valid. Sign in again.")
