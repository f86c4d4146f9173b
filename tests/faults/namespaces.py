"""Network namespaces, with a cable for each link of the proxy that can be unplugged, so that packets are lost.

A proxy that stops reading still acknowledges the data that it receives. Without a cable nothing is acknowledged, and
neither side is notified, as in a real partition.
"""

import ctypes
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_CLONE_NEWNET = 0x40000000
_OWN = Path("/proc/thread-self/ns/net")


@dataclass(frozen=True)
class Cable:
    """A namespace with one end of a pair of devices; the instances reach `address` over the other."""

    name: str
    address: str

    def set(self, state: str) -> None:
        """Plug the cable in (`up`) or unplug it (`down`)."""
        _ip("-n", self.name, "link", "set", "inside", state)


@contextmanager
def lay_cables(count: int) -> Iterator[list[Cable]]:
    """Lay this number of cables, or none without the rights or tools for them (root, iproute2)."""
    cables: list[Cable] = []
    try:
        if os.geteuid() == 0 and shutil.which("ip"):
            with suppress(subprocess.CalledProcessError):
                cables = [_lay(number) for number in range(count)]
        yield cables
    finally:
        for number in range(count):
            with suppress(subprocess.CalledProcessError, FileNotFoundError):
                _ip("netns", "delete", _name(number))


@contextmanager
def inside(name: str) -> Iterator[None]:
    """Create sockets of this thread in a namespace; they stay in it after the block."""
    own = os.open(_OWN, os.O_RDONLY)
    try:
        _enter(Path("/run/netns") / name)
        try:
            yield
        finally:
            _set_namespace(own)
    finally:
        os.close(own)


def _lay(number: int) -> Cable:
    name, outside = _name(number), f"fs{os.getpid()}-{number}"
    network = f"198.18.{os.getpid() % 256}."  # in the range for benchmarks
    _ip("netns", "add", name)
    _ip("link", "add", outside, "type", "veth", "peer", "name", "inside", "netns", name)
    _ip("address", "add", f"{network}{4 * number + 1}/30", "dev", outside)
    _ip("-n", name, "address", "add", f"{network}{4 * number + 2}/30", "dev", "inside")
    _ip("link", "set", outside, "up")
    _ip("-n", name, "link", "set", "inside", "up")
    return Cable(name, f"{network}{4 * number + 2}")


def _name(number: int) -> str:
    return f"flagstaff-{os.getpid()}-{number}"


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


def _enter(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        _set_namespace(descriptor)
    finally:
        os.close(descriptor)


def _set_namespace(descriptor: int) -> None:
    if ctypes.CDLL(None, use_errno=True).setns(descriptor, _CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")
