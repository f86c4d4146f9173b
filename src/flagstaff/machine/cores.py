"""The number of processor cores that this process may use."""

import math
import os
from pathlib import Path


def usable_cores(groups: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup")) -> int:
    """The cores on which the process may run, or fewer if its control groups limit its processor time; at least 1."""
    cores = len(os.sched_getaffinity(0))
    group = groups / _group(own)
    quotas = (_quota(each / "cpu.max") for each in (group, *group.parents) if each.is_relative_to(groups))
    return max(1, min(cores, *(math.ceil(each) for each in quotas if each is not None), cores))


def _group(own: Path) -> str:
    """The process's group in the hierarchy of control groups, version 2; empty if there is none."""
    try:
        lines = own.read_text().splitlines()
    except OSError:
        return ""
    return next((line.removeprefix("0::").lstrip("/") for line in lines if line.startswith("0::")), "")


def _quota(path: Path) -> float | None:
    """The limit in cores, if there is one."""
    try:
        allowed, period = path.read_text().split()
        return int(allowed) / int(period)
    except (OSError, ValueError):  # there is no file, or it says "max"
        return None
