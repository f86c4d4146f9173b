"""The worst-case cost of evaluating one flag."""

from collections.abc import Callable

import pytest

from flagstaff.evaluation.compiler import TargetedFlag
from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from flagstaff.evaluation.snapshot_assembly import compile_environment
from flagstaff.evaluation.subset import evaluate_flag, find_flag
from flagstaff.flags.prerequisites import Prerequisite
from flagstaff.flags.variants import Variant
from tests.support.builders import make_environment, make_flag, make_rule
from tests.support.loops import require_compiled
from tests.support.turns import fastest_in_turn, in_units

VARIANTS = (Variant("a", 1, '"a"'), Variant("b", 1, '"b"'))
LONGEST = "\N{GRINNING FACE}" * 1024


@pytest.fixture(autouse=True)
def compiled() -> None:
    """Skip the test if the loops were not compiled."""
    require_compiled()


def make_snapshot(count: int, needed: int = 0) -> EnvironmentSnapshot:
    """Return flags with variants, a share and a rollout, the first of which needs others, directly or indirectly."""
    environment, targeted = make_environment(), []
    for number in range(count):
        first = 20 * number + 1
        needs = [Prerequisite(f"flag-{each}") for each in range(first, first + 20)] if first <= needed else ()
        flag = make_flag(
            environment,
            key=f"flag-{number}",
            rollout_percentage=50,
            variants=VARIANTS,
            prerequisites=tuple(needs),
        )
        targeted.append(TargetedFlag(flag, [make_rule(flag, rule_value="nobody", rollout_percentage=50)]))
    return compile_environment(environment, targeted)


def test_one_flag_that_needs_a_thousand_others() -> None:
    snapshot = make_snapshot(1_200, needed=1_000)
    flag = find_flag(snapshot, "flag-0")
    assert flag is not None
    assert flag.part is not None
    assert len(flag.part.positions) == 1_001
    assert in_units(lambda: evaluate_flag(snapshot, flag, LONGEST, None)) < 1


def test_one_flag_that_is_asked_for_the_first_time_costs_the_same_in_the_largest_environment() -> None:
    def asking(snapshot: EnvironmentSnapshot) -> Callable[[], None]:
        def ask() -> None:
            snapshot.single_flags.clear()
            flag = find_flag(snapshot, "flag-49")
            assert flag is not None
            evaluate_flag(snapshot, flag, "ada", None)

        return ask

    largest, small = fastest_in_turn(asking(make_snapshot(5_000)), asking(make_snapshot(50)))
    assert largest < 5 * small
