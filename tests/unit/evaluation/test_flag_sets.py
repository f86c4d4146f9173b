"""Flags that are compiled apart from those that are served."""

from flagstaff.evaluation.compiler import TargetedFlag
from flagstaff.evaluation.explanations.flag_sets import FlagSet
from tests.support.builders import make_environment, make_flag

ENVIRONMENT = make_environment()
KEYS = [f"flag-{number}" for number in range(9)]
FLAGS = {key: TargetedFlag(make_flag(ENVIRONMENT, key=key)) for key in KEYS}


def test_a_set_is_compiled_to_a_snapshot_of_all_its_flags() -> None:
    snapshot = FlagSet(ENVIRONMENT, FLAGS, {}).compile()
    assert sorted(snapshot.places) == KEYS
