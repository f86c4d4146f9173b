"""Spans of requests, and of what is done for them. Only the request decides whether there are any.

Attributes have templates of paths, names of tables and outcomes: never a parameter, a path as it was sent, a header, or
anything about an account.
"""

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from random import getrandbits
from typing import NamedTuple, TypeVar

from opentelemetry.context import Context, attach, detach
from opentelemetry.propagators.textmap import TextMapPropagator
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import ParentBased, Sampler, TraceIdRatioBased
from opentelemetry.trace import (
    Span,
    SpanKind,
    Status,
    StatusCode,
    format_span_id,
    format_trace_id,
    get_current_span,
    set_span_in_context,
)

Headers = Iterable[tuple[bytes, bytes]]
Attributes = Mapping[str, str | int]
Given = TypeVar("Given")
Returned = TypeVar("Returned")

HIDDEN = "REDACTED"
"""For a path that no route describes: it may have anything in it."""

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_FAILED = 500
_ERROR = Status(StatusCode.ERROR)
_NOWHERE = Context()
_LOW_BITS = 64  # of a trace's id, by which samplers decide
_W3C = {"traceparent", "tracestate"}
_TRACEPARENT = re.compile(rb"00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})")


class TraceIds(RandomIdGenerator):
    """Random ids; the next trace may have one that was drawn before."""

    drawn: int | None = None

    def generate_trace_id(self) -> int:
        """An id for a trace that begins."""
        drawn, self.drawn = self.drawn, None
        return drawn or super().generate_trace_id()


class Beginning(NamedTuple):
    """The beginning of a sampled request's span: its caller's context, or the id of a new trace."""

    context: Context
    trace_id: int | None


class Sampling:
    """Decides which requests are traced, before anything is done for a span: most are not, where it matters.

    `sampler` decides the same. It is asked again for spans that are made, but would take ten times as long for others.
    """

    def __init__(self, ratio: float, propagator: TextMapPropagator, *, follows_parent: bool) -> None:
        """`ratio` of the traces are kept, or with `follows_parent` of those that begin here."""
        roots = TraceIdRatioBased(ratio)
        self.sampler: Sampler = ParentBased(roots) if follows_parent else roots
        self._follows_parent = follows_parent
        self._bound = roots.bound
        self._names = frozenset(name.encode() for name in propagator.fields)
        self._is_w3c = propagator.fields <= _W3C
        self._propagator = propagator

    def draw(self, headers: Headers) -> Beginning | None:
        """None unless the request with these headers, whose names are in lower case, is traced."""
        for name, value in headers:
            if name in self._names:
                return None if self._is_left_out(value) else self._draw_child(headers)
        low = getrandbits(_LOW_BITS)
        return Beginning(_NOWHERE, getrandbits(_LOW_BITS) << _LOW_BITS | low) if low < self._bound else None

    def _is_left_out(self, traceparent: bytes) -> bool:
        """Return whether a header is a usual `traceparent` that is not traced: reading all of one takes longer."""
        found = _TRACEPARENT.fullmatch(traceparent) if self._is_w3c else None
        return found is not None and not self._is_kept(int(found[1], 16), is_sampled=bool(int(found[2], 16) & 1))

    def _is_kept(self, trace_id: int, *, is_sampled: bool) -> bool:
        return is_sampled if self._follows_parent else trace_id & TraceIdRatioBased.TRACE_ID_LIMIT < self._bound

    def _draw_child(self, headers: Headers) -> Beginning | None:
        given = {name.decode(): value.decode("latin-1") for name, value in headers if name in self._names}
        context = self._propagator.extract(given, _NOWHERE)
        caller = get_current_span(context).get_span_context()
        if not caller.is_valid:
            return self.draw(())
        return (
            Beginning(context, None) if self._is_kept(caller.trace_id, is_sampled=caller.trace_flags.sampled) else None
        )


class RequestSpan:
    """The span of a request; `traceparent` names it to whoever is called. `status` is 0 without a response."""

    def __init__(self, span: Span) -> None:
        self._span = span
        context = span.get_span_context()
        self.span_id = format_span_id(context.span_id)
        self.traceparent = f"00-{format_trace_id(context.trace_id)}-{self.span_id}-01".encode()

    def end(self, method: str, route: str | None, status: int) -> None:
        """End the span, unless it has ended. `route` is the template of the path, or None if nothing is there."""
        if not self._span.is_recording():
            return
        if route is not None:
            self._span.update_name(f"{_known(method, 'HTTP')} {route}")
            self._span.set_attributes({"http.route": route, "url.path": route})
        _record_status(self._span, status)
        self._span.end()


class Tracing:
    """Makes spans."""

    def __init__(self, provider: TracerProvider, ids: TraceIds, sampling: Sampling, server: Attributes) -> None:
        """`server` has the attributes of every request's span."""
        self._tracer = provider.get_tracer("flagstaff", version("flagstaff"))
        self._ids = ids
        self._server = dict(server)
        self.draw = sampling.draw

    @contextmanager
    def request(self, beginning: Beginning, method: str, scheme: str) -> Iterator[RequestSpan]:
        """The span of a sampled request, which is the parent of all others inside; the caller ends it."""
        attributes = {
            **self._server,
            "http.request.method": _known(method, "_OTHER"),
            "url.scheme": scheme,
            "url.path": HIDDEN,
        }
        span = self._begin(beginning, _known(method, "HTTP"), attributes, None)
        token = attach(set_span_in_context(span, beginning.context))
        try:
            yield RequestSpan(span)
        finally:
            detach(token)

    def record(self, beginning: Beginning, name: str, attributes: Attributes, status: int, began: int) -> None:
        """Make the whole span of a request that began at `began`, in nanoseconds since 1970, and was just answered."""
        span = self._begin(beginning, name, {**self._server, **attributes}, began)
        _record_status(span, status)
        span.end()

    def begin_call(self, name: str, attributes: Attributes) -> Span | None:
        """Begin the span of a call to another service; None unless the caller's request is traced."""
        if not self.is_on():
            return None
        return self._tracer.start_span(name, kind=SpanKind.CLIENT, attributes=attributes)

    @staticmethod
    def end_call(span: Span | None, error: BaseException | None = None, *, status: int = 0) -> None:
        """End the span of a call, if there is one. An error is named by its class: its message may have anything."""
        if span is None:
            return
        if error is not None:
            span.set_attribute("error.type", type(error).__qualname__)
            span.set_status(_ERROR)
        _record_status(span, status)
        span.end()

    def call(
        self, name: str, attributes: Attributes, work: Callable[[Given], Awaitable[Returned]]
    ) -> Callable[[Given], Awaitable[Returned]]:
        """`work`, which calls another service, so that its calls become spans."""

        async def traced(given: Given) -> Returned:
            span = self.begin_call(name, attributes)
            try:
                returned = await work(given)
            except BaseException as error:
                self.end_call(span, error)
                raise
            self.end_call(span)
            return returned

        return traced

    @staticmethod
    def is_on() -> bool:
        """Return whether the caller's request is traced."""
        return get_current_span().is_recording()

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """A span for a part of the work on a request, and the parent of those inside, if the request is traced."""
        if not self.is_on():
            yield
            return
        span = self._tracer.start_span(name)
        token = attach(set_span_in_context(span))
        failure: BaseException | None = None
        try:
            yield
        except BaseException as error:
            failure = error
            raise
        finally:
            detach(token)
            self.end_call(span, failure)

    def _begin(self, beginning: Beginning, name: str, attributes: Attributes, began: int | None) -> Span:
        self._ids.drawn = beginning.trace_id
        return self._tracer.start_span(name, beginning.context, SpanKind.SERVER, attributes, start_time=began)


def _record_status(span: Span, status: int) -> None:
    if status:
        span.set_attribute("http.response.status_code", status)
    if status >= _FAILED:
        span.set_attribute("error.type", str(status))
        span.set_status(_ERROR)


def _known(method: str, otherwise: str) -> str:
    return method if method in _METHODS else otherwise
