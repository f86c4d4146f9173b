"""One stream for the log entries of Flagstaff and its libraries. Secrets must never appear in it."""

import logging
import os
import re
import sys
from collections.abc import Mapping
from typing import Any, Literal, TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

REDACTED = "[redacted]"

_SECRET_NAME = re.compile(r"password|passwd|secret|token|authorization|cookie|sdk_?key|credential", re.IGNORECASE)
# Bearer tokens, SDK keys, access tokens, JWTs, password hashes, tokens in links, and the credentials in URLs.
_SECRET_VALUE = re.compile(
    r"(?P<before>\bBearer\s+|\bsdk_|\bfst_|\beyJ|\$argon2|[?&]token=|://(?=[^/\s@]*@))"
    r"(?P<secret>(?<=://)[^/\s@]*|[^\s\"'&]+)",
    re.IGNORECASE,
)
_MAX_DEPTH = 6
_LITTLE_MEMORY_BYTES = 8 * 1024 * 1024
_LAST_WORDS = b"flagstaff: This process has no memory left, and ends, so that it can be started again.\n"
_BAD_REQUEST = 400
_TIME = "%H:%M:%S"
_SHORT: dict[str, Any] = {"pad_level": False, "pad_event_to": 0}


def configure_logging(
    log_format: Literal["auto", "json", "console"], stream: TextIO | None = None, *, worker: int | None = None
) -> None:
    """Write all entries to `stream`, by default standard error, with the number of the worker, if any.

    They are JSON lines or readable text; `auto` uses readable text on a terminal. There, entries are short.
    """

    def add_worker(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        return {**event, "worker": worker}

    stream = stream or sys.stderr
    on_terminal = stream.isatty()
    if log_format == "json" or (log_format == "auto" and not on_terminal):
        renderer: Processor = structlog.processors.JSONRenderer()
    else:
        # Strings are shown as their repr, so that clients cannot send control characters to the terminal. Tracebacks
        # are plain, because rich ones show local variables, which may be secrets.
        renderer = structlog.dev.ConsoleRenderer(
            colors=on_terminal,
            repr_native_str=True,
            exception_formatter=structlog.dev.plain_traceback,
            **(_SHORT if on_terminal else {}),
        )
    is_short = on_terminal and not isinstance(renderer, structlog.processors.JSONRenderer)
    beginnings: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt=_TIME if is_short else "iso", utc=not is_short),
        *([add_worker] if worker is not None else []),
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *beginnings,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=beginnings,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                _end_without_memory,
                structlog.processors.StackInfoRenderer(),
                structlog.processors.format_exc_info,
                redact,
                *([_shorten] if is_short else []),
                renderer,
            ],
        )
    )
    logging.basicConfig(handlers=[handler], level=logging.INFO, force=True)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
    logging.getLogger("uvicorn.access").setLevel(logging.WARNING)  # http.middleware logs requests in more detail
    # The command itself tells a person of the start and the stop.
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING if is_short else logging.NOTSET)
    logging.getLogger("alembic").setLevel(logging.WARNING)  # the caller logs migrations


def _end_without_memory(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """End the process at once when a MemoryError is logged and even a little memory cannot be had.

    It could answer no request, would log each as an error, and could not stop in order. Every error that nobody expects
    is logged, so one place sees them all. A MemoryError for a size that no machine has ends nothing.
    """
    given = event.get("exc_info")
    error = sys.exc_info()[1] if given is True else given[1] if isinstance(given, tuple) else given
    if isinstance(error, MemoryError):
        try:
            bytearray(_LITTLE_MEMORY_BYTES)
        except MemoryError:
            os.write(sys.stderr.fileno(), _LAST_WORDS)
            os._exit(1)
    return event


def _shorten(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """An entry for a person, who needs no name of a logger, and of a request that succeeded only what was done."""
    event.pop("logger", None)
    if event["event"] == "request" and "path" in event:
        path = ascii(event.pop("path"))[1:-1]  # clients must not send control characters to the terminal
        status, milliseconds = event.pop("status"), event.pop("milliseconds")
        event["event"] = f"{event.pop('method')} {path} {status} in {milliseconds:.0f} ms"
        if status < _BAD_REQUEST:
            return {name: event[name] for name in ("timestamp", "level", "event")}
    return event


def redact(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Replace values with secret names, and parts of texts that look like secrets."""
    return {name: _redacted(name, value) for name, value in event.items()}


def _redacted(name: str, value: Any, depth: int = 0) -> Any:
    if _SECRET_NAME.search(name) and value is not None:
        return REDACTED
    if isinstance(value, str):
        return _SECRET_VALUE.sub(rf"\g<before>{REDACTED}", value)
    if depth == _MAX_DEPTH:
        return REDACTED
    if isinstance(value, Mapping):
        return {str(key): _redacted(str(key), item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_redacted("", item, depth + 1) for item in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    return _redacted(name, str(value), depth + 1)
