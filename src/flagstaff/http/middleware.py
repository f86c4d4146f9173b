"""The outermost layer of a request: its id, log entry, metrics, common headers, and the handler of last resort.

For any error further in, the client gets one problem document and the log one entry.
"""

import asyncio
import itertools
import re
import secrets
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

import structlog
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.typing import FilteringBoundLogger

from flagstaff.database.commits import Commits, watching
from flagstaff.http.addresses import Addresses
from flagstaff.http.bounded_log import BoundedLog
from flagstaff.http.common_headers import NOT_STORED, CommonHeaders
from flagstaff.http.errors import ErrorForm, Problem, internal_problem, problem_of, send_problem
from flagstaff.http.limits import Limits
from flagstaff.http.operations import ACCOUNT_ID, only_reads
from flagstaff.http.responses import IS_STREAM
from flagstaff.http.trace_context import trace_id_in
from flagstaff.settings import Settings
from flagstaff.telemetry import Metrics
from flagstaff.values.errors import Error, unavailable, unconfirmed

log: FilteringBoundLogger = structlog.get_logger("flagstaff.access")

_acceptable_id = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_PATHS_LOGGED, _OTHER_PATHS = 20, ""
_PATH_MAX_LENGTH = 512
"""The characters of a path that an entry has at most; a head may have 16 times as many."""


class RequestIds:
    """Request ids, unique across processes. A caller may send a short plain one."""

    def __init__(self) -> None:
        self._prefix = secrets.token_hex(6)
        self._count = itertools.count(1)

    def choose(self, given: bytes | None) -> str:
        """The caller's id if it is safe to log, otherwise a new one."""
        if given is not None and _acceptable_id.fullmatch(given):
            return given.decode()
        return f"{self._prefix}-{next(self._count):x}"


@dataclass(slots=True)
class _Exchange:
    """A request in progress: what its response has sent so far."""

    status: int = 0
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)


class Edge:
    """The outermost middleware."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        settings: Settings,
        request_ids: RequestIds,
        common_headers: CommonHeaders,
        metrics: Metrics,
        limits: Limits,
        find_counts: Callable[[str], defaultdict[int, int] | None],
        error_forms: Mapping[str, ErrorForm],
    ) -> None:
        """`find_counts` finds, by its path, what counts a request that is not logged, because the history has it.

        Errors at paths that start with one of `error_forms` get that form.
        """
        self._app = app
        self._addresses = Addresses(settings.path_prefix)
        self._request_ids = request_ids
        self._common_headers = common_headers
        self._metrics = metrics
        self._limits = limits
        self._access_log = settings.access_log
        self._limited_logs: dict[str, BoundedLog] = {}
        self._log_without_account = BoundedLog(log, 1_000, 10)
        self._find_counts = find_counts
        self._error_forms = error_forms

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        given = dict(scope["headers"])
        request_id = self._request_ids.choose(given.get(b"x-request-id"))
        scope.setdefault("state", {})["request_id"] = request_id
        self._addresses.enter(scope)
        origin = given.get(b"origin")
        exchange = _Exchange(headers=self._common_headers.of(request_id, scope["path"], origin))

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                exchange.status = message["status"]
                message["headers"] = own = [*message.get("headers", ()), *exchange.headers]
                if all(name != b"cache-control" for name, _ in own):
                    own.append(NOT_STORED)
            await send(message)

        ids = {"request_id": request_id}
        if (trace_id := trace_id_in(given.get(b"traceparent"))) is not None:
            ids["trace_id"] = trace_id
        with structlog.contextvars.bound_contextvars(**ids):
            if origin is not None and b"access-control-request-method" in given and scope["method"] == "OPTIONS":
                exchange.headers.extend(self._common_headers.cross_origin.preflight(scope["path"], origin))
                await send_problem(Problem(204, (), b""), send_with_headers)
            else:
                await self._pass_on(scope, receive, send_with_headers, exchange)
            self._record(scope, exchange, time.perf_counter() - began)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send, exchange: _Exchange) -> None:
        request_id: str = scope["state"]["request_id"]
        commits = Commits()
        try:
            self._addresses.require_known(scope)
            with watching(commits):
                await self._app(scope, receive, send)
        except Error as error:
            await self._send_error(problem_of(error, request_id), scope, send)
        except asyncio.CancelledError:  # the server is stopping and has waited long enough
            if exchange.status:
                raise
            await self._send_error(problem_of(_stopping(scope, commits), request_id), scope, send)
        except ClientDisconnect:
            return  # the client left before it had sent its request; `_record` finds that there is no response
        except Exception as error:
            # The framework wraps an Error that is raised after the response has begun.
            if exchange.status and isinstance(error.__cause__, Error):
                reason = error.__cause__.message
                log.warning("response_cut_short", method=scope["method"], path=_logged(scope["path"]), reason=reason)
                return  # the server closes the connection, because the response is incomplete
            log.exception("request_failed", method=scope["method"], path=_logged(scope["path"]))
            if not exchange.status:
                await self._send_error(internal_problem(request_id), scope, send)

    async def _send_error(self, answer: Problem, scope: Scope, send: Send) -> None:
        path: str = scope["path"]
        form = next((form for start, form in self._error_forms.items() if path.startswith(start)), None)
        await send_problem(form(answer, path) if form else answer, send)

    def _record(self, scope: Scope, exchange: _Exchange, seconds: float) -> None:
        if not exchange.status:
            return  # the client left before there was a response
        route = getattr(scope.get("route"), "path", "none")
        if (counts := self._find_counts(scope["path"])) is not None:
            counts[exchange.status] += 1
            return
        if not scope["state"].get(IS_STREAM):  # which lasts as long as its client likes
            self._metrics.observe_request(scope["method"], route, exchange.status, seconds)
        if self._access_log:
            peer, account_id = scope.get("client"), scope["state"].get(ACCOUNT_ID)
            self._log_of(scope["path"], exchange.status, known=account_id is not None).info(
                "request",
                method=scope["method"],
                path=_logged(scope["path"]),
                status=exchange.status,
                milliseconds=round(seconds * 1000, 2),
                client=self._limits.address_of(peer, scope["headers"]),
                peer=peer[0] if peer else None,
                **({"account_id": str(account_id)} if account_id else {}),
            )

    def _log_of(self, path: str, status: int, *, known: bool) -> FilteringBoundLogger | BoundedLog:
        """The log of a request. What anyone can send is bounded, so that it cannot fill the disk."""
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            return self._limited_log(path)
        return log if known else self._log_without_account

    def _limited_log(self, path: str) -> BoundedLog:
        """The log of requests beyond a limit. A flood at one path does not hide those at others."""
        if path not in self._limited_logs and len(self._limited_logs) >= _PATHS_LOGGED:
            path = _OTHER_PATHS
        if path not in self._limited_logs:
            self._limited_logs[path] = BoundedLog(log, 100, 10)
        return self._limited_logs[path]


def _logged(path: str) -> str:
    return path if len(path) <= _PATH_MAX_LENGTH else f"{path[:_PATH_MAX_LENGTH]}…"


def _stopping(scope: Scope, commits: Commits) -> Error:
    if only_reads(scope) or not commits.have_begun:
        return unavailable("The server is stopping. Nothing was changed. Try again shortly.")
    return unconfirmed("The server is stopping, and it is not known whether the change was stored.")
