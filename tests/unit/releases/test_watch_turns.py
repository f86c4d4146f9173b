"""Turns of projects at what one process does for all."""

from uuid import UUID, uuid4

from flagstaff.releases.watch_turns import HALF_LIFE_SECONDS, WatchTurns


class Clock:
    """A clock that is moved by hand."""

    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def take(turns: WatchTurns) -> UUID:
    """The project whose turn it is."""
    turn = turns.next()
    assert turn is not None
    return turn[0]


def test_whoever_has_had_time_comes_after_all_who_have_had_less() -> None:
    clock = Clock()
    turns, (busy, other, neighbour) = WatchTurns(clock), [uuid4() for _ in range(3)]
    for project, seconds in ((busy, 0.4), (other, 0.1)):
        turns.begin([(project, uuid4())])
        assert turns.next() is not None
        turns.end(project, uuid4(), seconds, has_more=False)
    turns.begin([(each, uuid4()) for each in (busy, other, neighbour)])
    assert [take(turns) for _ in range(3)] == [neighbour, other, busy]
    assert turns.next() is None


def test_time_is_forgotten_so_that_nobody_waits_for_what_was_long_ago() -> None:
    clock = Clock()
    turns, (busy, other) = WatchTurns(clock), [uuid4() for _ in range(2)]
    turns.begin([])
    turns.end(busy, uuid4(), 1.0, has_more=False)
    clock.seconds = 4 * HALF_LIFE_SECONDS
    turns.begin([])
    turns.end(other, uuid4(), 0.1, has_more=False)
    turns.begin([(other, uuid4()), (busy, uuid4())])
    assert [take(turns), take(turns)] == [busy, other]


def test_an_environment_with_more_to_do_waits_behind_the_others_of_its_project() -> None:
    turns, project, places = WatchTurns(Clock()), uuid4(), [uuid4() for _ in range(3)]
    turns.begin([(project, each) for each in places])
    order = []
    for _ in range(4):
        turn = turns.next()
        assert turn is not None
        order.append(places.index(turn[1]))
        turns.end(*turn, 0.05, has_more=True)
    assert order == [0, 1, 2, 0]
    turns.begin([(project, each) for each in places])
    turn = turns.next()
    assert turn is not None
    assert places.index(turn[1]) == 1, "a new look goes on where the last one has stopped"
