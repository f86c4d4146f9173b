"""Generates load with wrk on a separate core."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from bench.machine import NotReadyError

_SCRIPT = Path(__file__).with_name("evaluate.lua")
_MILLISECONDS = {"us": 0.001, "ms": 1.0, "s": 1000.0}


@dataclass(frozen=True)
class Load:
    """A server's results under load."""

    requests: int
    requests_per_second: float
    p50_ms: float
    p99_ms: float


def put_load(
    url: str,
    *,
    core: int | str,
    seconds: int,
    connections: int,
    sdk_key: str = "none",
    method: str = "POST",
    user: int = 0,
    is_ofrep: bool = False,
) -> Load:
    """Send requests to a URL as fast as it responds. Raises NotReadyError if a response is an error.

    The requests are of 20,000 users, from the number `user`, each with an address and three attributes.
    """
    command = ("taskset", "-c", str(core), "wrk", "--threads=1", f"--connections={connections}", "--latency")
    script = (f"--duration={seconds}s", f"--script={_SCRIPT}", url, "--", method, sdk_key, str(user))
    protocol = ("ofrep",) if is_ofrep else ()
    said = subprocess.run((*command, *script, *protocol), check=True, capture_output=True, text=True).stdout
    if "Non-2xx" in said or "Socket errors" in said:
        raise NotReadyError(f"Some requests to {url} failed:\n{said}")
    return Load(
        requests=int(_find(r"(\d+) requests in", said)[0]),
        requests_per_second=float(_find(r"Requests/sec:\s+([\d.]+)", said)[0]),
        p50_ms=_milliseconds(said, 50),
        p99_ms=_milliseconds(said, 99),
    )


def _milliseconds(said: str, percent: int) -> float:
    number, unit = _find(rf"{percent}%\s+([\d.]+)(us|ms|s)\b", said)
    return float(number) * _MILLISECONDS[unit]


def _find(pattern: str, said: str) -> tuple[str, ...]:
    found = re.search(pattern, said)
    if found is None:
        raise NotReadyError(f"wrk said what the bench does not understand:\n{said}")
    return found.groups()
