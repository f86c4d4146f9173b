"""A snapshot is assembled in small steps, between which evaluations are answered."""

from collections.abc import Iterator
from functools import cached_property

from flagstaff.evaluation.assembly import assemble, compile_environment
from flagstaff.evaluation.compiler import CompiledFlag, TargetedFlag, compile_flag
from flagstaff.evaluation.targets import Targeting
from tests.support.builders import make_environment, make_flag

COUNT = 100


def test_each_flag_is_looked_at_in_a_step_of_its_own() -> None:
    environment = make_environment()
    flags = [make_flag(environment, key=f"flag-{number}", rollout_percentage=number) for number in range(COUNT)]
    read = 0

    def compiled() -> Iterator[CompiledFlag]:
        nonlocal read
        for flag in flags:
            read += 1
            yield compile_flag(TargetedFlag(flag))

    steps = assemble(environment, compiled())
    for number in range(1, COUNT + 1):
        next(steps)
        assert read == number
    assert sum(1 for _ in steps) > COUNT


def test_the_first_evaluation_has_nothing_left_to_prepare() -> None:
    environment = make_environment()
    flag = make_flag(environment, rollout_percentage=50, stickiness="company")
    targeting = compile_environment(environment, [TargetedFlag(flag)]).targeting
    assert targeting is not None
    computed = {name for name, value in vars(Targeting).items() if isinstance(value, cached_property)}
    assert computed <= vars(targeting).keys()
