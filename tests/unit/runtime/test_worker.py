"""The memory that workers share, and the sums of their metrics in it."""

import re
from collections.abc import Callable

from flagstaff.cluster.worker import WorkerBoard
from flagstaff.telemetry import Metrics


def serving_board(count: int) -> WorkerBoard:
    board = WorkerBoard(count)
    for slot in range(count):
        board.record_state(slot, is_serving=True, restarts=0)
    return board


def value(metrics: Metrics, sample: str) -> float:
    """Return the value of a sample in the exported text."""
    text = metrics.render()[0].decode()
    found = re.search(rf"^{re.escape(sample)} (\S+)$", text, re.MULTILINE)
    assert found, text
    return float(found[1])


def test_figures_without_room_are_refused_and_the_earlier_ones_stay() -> None:
    board = WorkerBoard(2)
    assert board.read_figures(1) == b""
    assert board.write_figures(1, b"earlier")
    assert not board.write_figures(1, bytes(5 * 1024 * 1024))
    assert (board.read_figures(0), board.read_figures(1)) == (b"", b"earlier")


def test_a_text_that_is_half_written_is_not_read_and_the_one_before_stays() -> None:
    board = WorkerBoard(2)
    for read, write in ((board.read_figures, board.write_figures), (board.read_report, board.write_report)):
        assert write(1, b"earlier text")
        assert write(1, b"laterr text!")
        damage(board, b"laterr text!")
        assert read(1) == b"earlier text"
        assert write(1, b"the newest text")
        assert read(1) == b"the newest text"


def test_a_text_that_is_damaged_without_one_before_is_none() -> None:
    board = WorkerBoard(1)
    board.write_figures(0, b"the only text")
    damage(board, b"the only text")
    assert board.read_figures(0) == b""


def test_a_lease_that_is_half_written_is_not_taken_for_that_of_another_worker() -> None:
    board = WorkerBoard(2)
    board.write_lease(1, "a" * 16, 7, is_leaving=False)
    board.write_lease(1, "b" * 16, 1, is_leaving=False)
    damage(board, b"b" * 16)
    assert board.read_leases() == [(1, "a" * 16, 7, False)]
    board.end_lease(1)
    damage(board, b"a" * 16)
    assert board.read_leases() == []


def damage(board: WorkerBoard, text: bytes) -> None:
    """Truncate a text to its first bytes, at the place where it was last written."""
    memory = board._memory
    place = memory.rfind(text)
    assert place >= 0
    memory[place + 3 : place + len(text)] = b"?" * (len(text) - 3)


def test_a_worker_that_does_not_serve_is_a_problem() -> None:
    board = serving_board(3)
    assert board.problems() == []
    board.record_state(1, is_serving=False, restarts=2)
    assert board.problems() == ["1 of 3 workers are not running."]
    assert (board.serving, board.restarts) == ([0, 2], 2)


def test_the_lease_of_a_worker_that_has_ended_is_left_beside_that_of_its_successor() -> None:
    board = WorkerBoard(2)
    assert board.read_leases() == []
    board.write_lease(1, "a" * 16, 7, is_leaving=False)
    board.end_lease(1)
    board.write_lease(1, "b" * 16, 1, is_leaving=False)
    assert board.read_leases() == [(1, "b" * 16, 1, False), (1, "a" * 16, 7, True)]


def test_each_worker_exports_the_sum_of_all() -> None:
    board = serving_board(2)
    workers = [Metrics(board, slot) for slot in range(2)]
    for slot, metrics in enumerate(workers):
        metrics.evaluate_responses[200] += slot + 1
        metrics.observe_request("GET", "/api/me", 200, 0.01)
        metrics.add_gauge("open", "Open.", constantly(slot + 10))
        metrics.add_gauge("size", "Size.", constantly(slot + 10), max)
        metrics.add_counter("away_seconds", "Away.", constantly(slot + 10), max)
        metrics.add_labelled_gauge("task_up", "Up.", "task", lambda slot=slot: {"feed": slot}, min)  # type: ignore[misc]
        metrics.publish()
    for metrics in workers:
        assert value(metrics, 'flagstaff_evaluate_responses_total{status="200"}') == 3
        assert value(metrics, 'flagstaff_http_requests_total{method="GET",route="/api/me",status="200"}') == 2
        assert (
            value(metrics, 'flagstaff_http_request_duration_seconds_bucket{le="+Inf",method="GET",route="/api/me"}')
            == 2
        )
        assert value(metrics, "flagstaff_open") == 21
        assert value(metrics, "flagstaff_size") == 11
        assert value(metrics, "flagstaff_away_seconds_total") == 11
        assert value(metrics, 'flagstaff_task_up{task="feed"}') == 0


def test_counters_never_go_back_when_a_worker_ends_and_is_replaced() -> None:
    board = serving_board(2)
    survivor, victim = (Metrics(board, slot) for slot in range(2))
    victim.evaluate_responses[200] += 5
    victim.add_gauge("open", "Open.", constantly(3))
    survivor.add_gauge("open", "Open.", constantly(1))
    assert value(victim, 'flagstaff_evaluate_responses_total{status="200"}') == 5
    assert value(survivor, "flagstaff_open") == 4
    board.record_state(1, is_serving=False, restarts=0)
    assert value(survivor, 'flagstaff_evaluate_responses_total{status="200"}') == 5
    assert value(survivor, "flagstaff_open") == 1
    board.record_state(1, is_serving=True, restarts=1)
    successor = Metrics(board, 1)
    successor.evaluate_responses[200] += 2
    assert value(successor, 'flagstaff_evaluate_responses_total{status="200"}') == 7


def test_a_counter_of_which_the_highest_is_shown_goes_on_when_its_worker_is_replaced() -> None:
    board = serving_board(2)
    for slot, seconds in enumerate((1, 5)):
        metrics = Metrics(board, slot)
        metrics.add_counter("away_seconds", "Away.", constantly(seconds), max)
        metrics.publish()
    successor = Metrics(board, 1)
    successor.add_counter("away_seconds", "Away.", constantly(2), max)
    assert value(successor, "flagstaff_away_seconds_total") == 7


def constantly(value: float) -> Callable[[], float]:
    return lambda: value
