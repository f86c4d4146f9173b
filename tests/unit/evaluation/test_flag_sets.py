"""Flags that are compiled apart from those that are served, in small steps."""

from flagstaff.evaluation.compiler import TargetedFlag
from flagstaff.evaluation.explanations.flag_sets import FlagSet, compile_flags, compile_segments
from tests.support.builders import make_environment, make_flag, make_segment
from tests.support.steps import finish

ENVIRONMENT = make_environment()
KEYS = [f"flag-{number}" for number in range(9)]
FLAGS = {key: TargetedFlag(make_flag(ENVIRONMENT, key=key)) for key in KEYS}


def test_each_flag_and_each_segment_is_compiled_in_a_step_of_its_own() -> None:
    segments = [make_segment(key=f"segment-{number}") for number in range(9)]
    assert sum(1 for _ in compile_flags(FLAGS.values())) >= len(FLAGS)
    assert sum(1 for _ in compile_segments(segments)) >= len(segments)


def test_a_set_is_compiled_to_a_snapshot_of_all_its_flags() -> None:
    snapshot = finish(FlagSet(ENVIRONMENT, FLAGS, {}).compile())
    assert sorted(snapshot.places) == KEYS
