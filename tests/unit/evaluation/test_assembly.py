"""A snapshot is assembled in small steps, between which evaluations are answered."""

from collections.abc import Iterator

from flagstaff.evaluation.assembly import assemble
from flagstaff.evaluation.compiler import CompiledFlag, TargetedFlag, compile_flag
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
