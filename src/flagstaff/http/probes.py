"""The checks for monitoring: whether this process is ready, and its metrics."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Probes:
    """The checks behind `/ready` and `/metrics`.

    `require_staying` raises Error UNAVAILABLE once the process is stopping. `check` raises it, with `works`, for what
    does not work. `render_figures` returns the text that Prometheus reads, and its content type.
    """

    require_staying: Callable[[], None]
    check: Callable[[], Awaitable[None]]
    render_figures: Callable[[], Awaitable[tuple[bytes, str]]]
