"""A process without memory ends with one line; one that was asked for too much at once goes on."""

import subprocess
import sys

_HAVE_LITTLE_MEMORY = """
import resource, structlog
from flagstaff.telemetry import configure_logging

configure_logging("json")
log = structlog.get_logger("requests")
pages = int(open("/proc/self/statm").read().split()[0])
most = pages * resource.getpagesize() + 64 * 2**20
resource.setrlimit(resource.RLIMIT_AS, (most, most))
"""
_USE_IT_UP = """
held = []
for request in range(1_000):
    try:
        while True:
            held.append(bytearray(2**20))
    except MemoryError:
        log.exception("request_failed")
"""
_ASK_FOR_TOO_MUCH = """
for request in range(3):
    try:
        bytearray(2**50)
    except MemoryError:
        log.exception("request_failed")
"""


def run(work: str) -> subprocess.CompletedProcess[str]:
    """Run a program with little memory."""
    command = [sys.executable, "-c", _HAVE_LITTLE_MEMORY + work]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_a_process_without_memory_ends_with_one_line() -> None:
    ended = run(_USE_IT_UP)
    assert ended.returncode == 1
    assert ended.stderr == "flagstaff: This process has no memory left, and ends, so that it can be started again.\n"


def test_a_request_that_asks_for_too_much_memory_fails_alone() -> None:
    ended = run(_ASK_FOR_TOO_MUCH)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.count('"event": "request_failed"') == 3
