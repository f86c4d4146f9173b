"""Turns on the event loop, by client."""

import asyncio
from collections import Counter
from functools import partial
from itertools import pairwise

import pytest

from flagstaff.concurrency.loop_turns import PASS_SECONDS, LoopClient, LoopTurns, Rank, working_for
from flagstaff.concurrency.pacing import pause

ADA, EVE, KEY = (LoopClient(Rank.KNOWN, name) for name in ("ada", "eve", "key"))
STRANGER = LoopClient(Rank.STRANGER, "192.0.2.1")
CHANGE = LoopClient(Rank.CHANGE, "ada")


class Time:
    """A clock that moves only when work is done."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


async def fill(turns: LoopTurns, time: Time) -> None:
    """Use up the room of the present pass."""
    assert turns.has_room(KEY)
    time.now += PASS_SECONDS


async def drain(turns: LoopTurns) -> None:
    while len(turns):
        await asyncio.sleep(0)


async def test_what_finds_no_room_in_a_pass_waits_and_clients_take_turns() -> None:
    time, done = Time(), list[str]()
    turns = LoopTurns(time)
    await fill(turns, time)
    assert turns.is_busy()
    assert not turns.has_room(EVE)

    for number in range(3):
        turns.call(ADA, partial(done.append, f"ada {number}"))
    turns.call(EVE, partial(done.append, "eve"))
    assert not done, "nothing is called in the pass that is full"
    await drain(turns)

    assert done == ["ada 0", "eve", "ada 1", "ada 2"]


async def test_a_pass_calls_what_waits_for_a_millisecond_and_leaves_room_for_others() -> None:
    time, done = Time(), list[int]()
    turns = LoopTurns(time)
    await fill(turns, time)

    def work(number: int) -> None:
        time.now += 0.0006
        done.append(number)

    for number in range(5):
        turns.call(ADA, partial(work, number))
    seen = []
    while len(turns):
        await asyncio.sleep(0)
        seen.append((len(done), turns.has_room(EVE)))
    assert [later - before for (before, _), (later, _) in pairwise([(0, True), *seen])] == [2, 2, 1]
    assert all(room for _, room in seen), "one that does not wait finds room beside them"
    assert not turns.has_room(ADA) or not len(turns)


async def test_a_client_that_waits_is_not_passed_by_its_own_later_requests() -> None:
    time = Time()
    turns = LoopTurns(time)
    await fill(turns, time)
    turns.call(ADA, lambda: None)
    turns.call(ADA, lambda: None)
    turns._end()
    assert not len(turns)
    await fill(turns, time)
    turns.call(ADA, lambda: None)
    time.now -= PASS_SECONDS
    assert turns.has_room(EVE)
    assert not turns.has_room(ADA)
    await drain(turns)


async def test_one_that_changes_something_goes_first_and_every_rank_gets_on() -> None:
    time, done = Time(), list[str]()
    turns = LoopTurns(time)
    await fill(turns, time)
    for _ in range(20):
        turns.call(STRANGER, partial(done.append, "stranger"))
        turns.call(ADA, partial(done.append, "known"))
        turns.call(CHANGE, partial(done.append, "change"))
    await drain(turns)

    assert Counter(done[:40]) == {"change": 20, "known": 10, "stranger": 10}
    assert all({"change", "known", "stranger"} == set(done[start : start + 4]) for start in range(0, 40, 4))
    assert Counter(done) == {"change": 20, "known": 20, "stranger": 20}


async def test_a_task_that_waits_goes_on_alone_in_a_pass() -> None:
    turns, running = LoopTurns(), list[int]()

    async def work(number: int) -> None:
        await turns.wait(ADA)
        running.append(number)

    works = [asyncio.ensure_future(work(number)) for number in range(10)]
    seen = []
    while len(running) < 10:
        await asyncio.sleep(0)
        seen.append(len(running))
    assert max(later - before for before, later in pairwise(seen)) == 1
    assert running == list(range(10))
    await asyncio.gather(*works)


async def test_one_that_has_left_takes_nobody_s_turn() -> None:
    turns = LoopTurns()
    left = asyncio.ensure_future(turns.wait(ADA))
    await asyncio.sleep(0)
    left.cancel()
    await asyncio.gather(left, return_exceptions=True)
    await asyncio.wait_for(turns.wait(ADA), 10)
    assert not len(turns)


async def test_work_that_fails_does_not_stop_what_waits_behind_it(caplog: pytest.LogCaptureFixture) -> None:
    time, done = Time(), list[str]()
    turns = LoopTurns(time)
    await fill(turns, time)
    turns.call(ADA, lambda: 1 / 0)
    turns.call(ADA, partial(done.append, "later"))
    await drain(turns)
    assert done == ["later"]
    assert "ZeroDivisionError" in caplog.text


async def test_pieces_of_long_work_take_the_turns_of_those_for_whom_they_are_made() -> None:
    done = list[str]()

    async def make(client: LoopClient, name: str, pieces: int) -> None:
        with working_for(client):
            for _ in range(pieces):
                await pause()
                done.append(name)

    many = [make(STRANGER, "stranger", 3) for _ in range(30)]
    await asyncio.gather(*many, make(ADA, "ada", 3))
    assert [place for place, each in enumerate(done) if each == "ada"][-1] < 15, done
