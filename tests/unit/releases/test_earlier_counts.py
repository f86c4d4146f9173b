"""Counts that releases of Flagstaff before counts by step have stored, which are still shown."""

import json

from flagstaff.metrics.metrics import Better, Kind, Metric
from flagstaff.releases.earlier_counts_store import read_earlier
from flagstaff.releases.plans import Action, Guard
from flagstaff.releases.releases import Applied, Arms, State
from flagstaff.releases.results import Results, finding_results
from tests.support.builders import AT, make_release

ARMS = Arms(("off", "on"), (0.5, 0.5), by_variant=False)
CELLS = [
    [{"users": 300, "events": 300, "total": 30_000.0, "squares": 3.1e6}],
    [{"users": 300, "events": 310, "total": 33_000.0, "squares": 3.8e6}],
]
STORED = {
    "segment": 7,
    "began_at": 5,
    "exposed": [[310, 320]],
    "new": [[310, 320]],
    "entered": [[310, 320]],
    "users": 630,
    "metrics": [
        {"cells": [[*CELLS[0], *CELLS[1]]], "scale": {"low": 50.0, "high": 200.0, "deviation": 20.0}},
    ],
    "points": [{"at": 9, "evidence": [None], "users": [1, 2]}],
}


def test_results_of_a_release_that_has_ended_before_are_still_shown() -> None:
    counted = read_earlier(json.dumps(STORED).encode())
    release = make_release(
        state=State.STOPPED,
        guards=(Guard("latency", Action.TURN_OFF),),
        applied=(Applied(0, AT, AT, arms=ARMS, rollout_percentage=50),),
    )
    metric = Metric(release.id, release.project_id, "latency", "Latency", None, Kind.VALUE, Better.DOWN, "ms", AT, AT)
    steps = finding_results(release, counted, {"latency": metric})
    results: Results | None = None
    while results is None:
        try:
            next(steps)
        except StopIteration as ended:
            results = ended.value
    (found,) = results.metrics
    assert [(arm.name, arm.users, arm.mean) for arm in found.arms] == [("off", 310, 100.0), ("on", 320, 110.0)]
    assert found.judgement.log_evidence > 3
    assert found.arms[1].difference is not None
    assert found.arms[1].difference.estimate == 10.0
