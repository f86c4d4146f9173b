"""A short selection of the faults that found most bugs. `make test-faults` has all of them."""

from pathlib import Path
from random import Random

import pytest

from tests.faults.fleet import open_fleet
from tests.faults.nemeses import NEMESES, Together
from tests.faults.report import HEAD, complaints, row
from tests.faults.rounds import Arena, Pace

_PACE = Pace(evaluate_seconds=0.05, toggle_seconds=0.15)  # other tests run at the same time


@pytest.mark.parametrize(
    ("mode", "faults"),
    [
        ("serve", {"pause-forgotten valkey-kill": 4.0}),
        ("refuse", {"pause-forgotten": 4.0, "partition-reset": 4.0, "crash": 1.0}),
    ],
)
async def test_no_evaluation_after_a_confirmed_change_sees_the_older_state(
    tmp_path: Path, mode: str, faults: dict[str, float]
) -> None:
    async with open_fleet(tmp_path, {"FLAGSTAFF_WHEN_CUT_OFF": mode}, faketime=None) as fleet:
        arena = await Arena.of(fleet)
        for names, seconds in faults.items():
            together = [NEMESES[name](Random(1)) for name in names.split()]
            nemesis = Together(*together) if len(together) > 1 else together[0]
            nemesis.seconds = seconds
            played = await arena.play(nemesis, _PACE, marks_allowed=mode == "serve")
            report = "\n".join((HEAD, row(played), *complaints(played)))
            assert not played.violations, report
            assert not played.problems, report
        for instance in fleet.instances:
            assert "Traceback" not in instance.log
