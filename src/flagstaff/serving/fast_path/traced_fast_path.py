"""The fast path when traces are asked for. A request that is not sampled is only looked at for its caller's trace."""

from time import time_ns
from typing import TYPE_CHECKING, ClassVar

from flagstaff.http.errors import Problem
from flagstaff.serving.fast_path.fast_path import FastPathProtocol, Head, Marks

if TYPE_CHECKING:
    from flagstaff.telemetry.otel.tracing import Tracing


class TracedFastPathProtocol(FastPathProtocol):
    """One connection whose requests may become spans."""

    tracing: ClassVar["Tracing"]

    _status = 200

    def _answer(self, head: Head, body: bytes) -> bool:
        beginning = self.tracing.draw(head.headers)
        if beginning is None:
            return super()._answer(head, body)
        endpoint, began = head.prepared.endpoint, time_ns()
        self._status = endpoint.success
        if not super()._answer(head, body):
            return False  # the application makes the span
        path = endpoint.path
        attributes = {"http.request.method": "POST", "http.route": path, "url.path": path, "url.scheme": "http"}
        self.tracing.record(beginning, f"POST {path}", attributes, self._status, began)
        return True

    def _answer_otherwise(self, answer: Problem, head: Head, request_id: str, marks: Marks) -> None:
        self._status = answer.status
        super()._answer_otherwise(answer, head, request_id, marks)
