"""Fair bounds: who has little keeps it, and who has most loses first."""

from hypothesis import given
from hypothesis import strategies as st

from flagstaff.values.fair_shares import fair_bounds, find_level

_sizes = st.dictionaries(st.tuples(st.sampled_from("abc"), st.integers(1, 4)), st.integers(0, 100), max_size=12)


@given(sizes=_sizes, of_project=st.integers(0, 100), of_all=st.integers(0, 400))
def test_nobody_loses_anything_who_has_less_than_a_fair_share(
    sizes: dict[tuple[str, int], int], of_project: int, of_all: int
) -> None:
    bounds = fair_bounds(sizes, of_project=of_project, of_all=of_all)
    assert bounds.keys() == sizes.keys()
    assert sum(bounds.values()) <= of_all
    assert all(bounds[place] <= min(size, of_project) for place, size in sizes.items())
    accounts = {account for account, _ in sizes}
    for account in accounts:
        bounded = [place for place in sizes if place[0] == account]
        before = sum(min(sizes[place], of_project) for place in bounded)
        if before <= of_all // len(accounts):
            assert sum(bounds[place] for place in bounded) == before
    if sum(min(size, of_project) for size in sizes.values()) <= of_all:
        assert bounds == {place: min(size, of_project) for place, size in sizes.items()}


def test_the_largest_account_loses_and_of_its_projects_the_largest() -> None:
    sizes = {("ada", 1): 10, ("ada", 2): 30, ("eve", 1): 900, ("eve", 2): 50, ("eve", 3): 700}
    assert fair_bounds(sizes, of_project=800, of_all=340) == {
        ("ada", 1): 10,
        ("ada", 2): 30,
        ("eve", 1): 125,
        ("eve", 2): 50,
        ("eve", 3): 125,
    }


def test_a_level_uses_what_there_is() -> None:
    assert find_level([5, 1, 9], 20) == 9
    assert find_level([5, 1, 9], 10) == 4
    assert find_level([5, 5], 3) == 1
    assert find_level([], 3) == 0
