"""The cores that a process may use: those it is bound to, or fewer if its processor time is limited."""

import os
from pathlib import Path

import pytest

from flagstaff.machine.cores import usable_cores


def limited(folder: Path, group: str, limits: dict[str, str]) -> int:
    """Return the cores of a process in this control group; `limits` are the contents of `cpu.max` by group."""
    for name, text in limits.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "cpu.max").write_text(text)
    own = folder / "own"
    own.write_text(f"1:name=systemd:/x\n0::{group}\n")
    return usable_cores(folder, own)


@pytest.mark.parametrize("text", ["max 100000", "", "half a core"])
def test_without_a_limit_that_can_be_read_it_is_the_cores_that_the_process_is_bound_to(
    tmp_path: Path, text: str
) -> None:
    assert limited(tmp_path, "/a", {"a": text}) == len(os.sched_getaffinity(0))


def test_without_control_groups_it_is_the_cores_that_the_process_is_bound_to(tmp_path: Path) -> None:
    assert usable_cores(tmp_path, tmp_path / "missing") == len(os.sched_getaffinity(0))


def test_a_process_bound_to_one_core_uses_one(tmp_path: Path) -> None:
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        assert usable_cores(tmp_path, tmp_path / "missing") == 1
    finally:
        os.sched_setaffinity(0, before)


@pytest.mark.parametrize(
    "limits", [{"a/b": "20000 100000"}, {"a/b": "max 100000", "a": "100000 100000"}, {"": "90000 100000"}]
)
def test_the_lowest_limit_of_the_group_and_those_above_it_counts_rounded_up(
    tmp_path: Path, limits: dict[str, str]
) -> None:
    assert limited(tmp_path, "/a/b", limits) == 1
