"""Cycles of prerequisites."""

import pytest

from flagstaff.flags.prerequisites import find_cycle, find_cyclic, in_order


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
    assert find_cyclic(lists) == set(cyclic)
    assert {key for key in lists if find_cycle(lists, key)} <= set(cyclic)


@pytest.mark.parametrize(
    ("needs", "order"),
    [
        ({}, ""),
        ({"a": "bx", "b": "cx", "c": "x"}, "cba"),
        ({"b": "a", "a": "b", "c": "a", "d": "x", "e": "d"}, "deabc"),
    ],
)
def test_each_flag_comes_after_those_that_it_needs_and_a_cycle_comes_last(needs: dict[str, str], order: str) -> None:
    assert in_order({key: list(needed) for key, needed in needs.items()}) == list(order)
