"""Cycles of prerequisites."""

import pytest

from flagstaff.domain.prerequisites import find_cycle, find_cyclic
from tests.support.steps import finish


@pytest.mark.parametrize(
    ("needs", "cyclic"),
    [
        ({}, ""),
        ({"a": "b"}, ""),
        ({"a": "bc", "b": "c", "c": ""}, ""),
        ({"a": "a"}, "a"),
        ({"a": "b", "b": "a", "c": "d"}, "ab"),
        ({"a": "b", "b": "cd", "c": "b", "d": "e"}, "abc"),  # a only needs flags of a cycle
    ],
)
def test_flags_that_lead_to_a_cycle_are_found(needs: dict[str, str], cyclic: str) -> None:
    """Each flag is a letter."""
    lists = {key: list(needed) for key, needed in needs.items()}
    assert finish(find_cyclic(lists)) == set(cyclic)
    assert {key for key in lists if find_cycle(lists, key)} <= set(cyclic)
