"""The loops of evaluations in each of their forms."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

from flagstaff.evaluation import evaluator, loops, python_loops
from flagstaff.evaluation.bucketing import ROLLOUT_SEED
from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from tests.support.debian import leave_out

FUNCTIONS = ("apply_rules", "find_buckets", "find_variants", "join", "prepare", "select_bytes")


def require_compiled() -> None:
    """Skip the test if the loops were not compiled."""
    if loops.WHY_NOT_COMPILED is not None:
        leave_out(f"the loops of evaluations are not compiled: {loops.WHY_NOT_COMPILED}")


@contextmanager
def loops_of(module: ModuleType) -> Iterator[None]:
    """Use the loops of a module for evaluations."""
    with pytest.MonkeyPatch.context() as patch:
        for name in FUNCTIONS:
            patch.setattr(loops, name, getattr(module, name))
        yield


def evaluate(snapshot: EnvironmentSnapshot, *user: Any, **known: Any) -> tuple[bytes, bytes]:
    """Return the evaluator's result, after checking that the loops in use and those in Python give the same one."""
    found = evaluator.evaluate(snapshot, *user, **known)
    with loops_of(python_loops):
        assert evaluator.evaluate(_prepared_again(snapshot), *user, **known) == found
    return found


def _prepared_again(snapshot: EnvironmentSnapshot) -> EnvironmentSnapshot:
    """Return the same snapshot with its prefixes prepared by the loops in use."""
    return replace(
        snapshot,
        prepared_rollouts=loops.prepare(snapshot.rollouts, ROLLOUT_SEED),
        targeting=snapshot.targeting and replace(snapshot.targeting, kept={}),
    )
