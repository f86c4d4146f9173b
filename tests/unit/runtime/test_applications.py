"""The reports of applications: bounded, kept during an outage, and stored whatever they contain."""

from collections.abc import Callable
from uuid import UUID, uuid4

import pytest

from flagstaff.concurrency.supervisor import Supervisor
from flagstaff.history.applications import TEXT_MAX_LENGTH, Client, FlagCounts, Report, claimed
from flagstaff.serving.reports_collector import (
    CONNECTIONS_MAX,
    MISSING_MAX,
    WAITING_COUNTS_MAX,
    Applications,
    Noted,
)
from flagstaff.values.errors import Error, unavailable
from tests.support.clock import Clock

PLACE = UUID("01a1fb68-78d6-72a0-9594-54797a0c2450")


class Store:
    """Keeps what is written, or is unavailable."""

    def __init__(self) -> None:
        self.written: list[Noted] = []
        self.is_away = False

    async def write(self, noted: Noted) -> int:
        if self.is_away:
            raise unavailable()
        self.written.append(noted)
        return 0

    async def is_stored(self, environment_id: UUID, instance: Client) -> bool:
        if self.is_away:
            raise unavailable()
        noted = [each for write in self.written for each in write.connections]
        return any((each.environment_id, each.client) == (environment_id, instance) for each in noted)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def applications(store: Store, clock: Callable[[], object]) -> Applications:
    return Applications(store.write, store.is_stored, Supervisor(), clock)  # type: ignore[arg-type]


def client(number: int = 1) -> Client:
    return Client("checkout", f"pod-{number}", "", "sdk")


def report(flags: int) -> Report:
    return Report(PLACE, client(), uuid4().bytes, {f"flag-{number}": FlagCounts(1) for number in range(flags)})


@pytest.mark.parametrize(
    ("text", "kept"),
    [("a\0b", "ab"), ("a\ud800b", "ab"), ("é😀", "é😀"), ("x" * 999, "x" * TEXT_MAX_LENGTH), ("", ""), ("\0", "")],
)
def test_a_text_is_kept_as_it_can_be_stored(text: str, kept: str) -> None:
    assert claimed(text) == kept


async def test_what_the_store_does_not_take_is_kept_and_bounded(applications: Applications, store: Store) -> None:
    store.is_away = True
    applications.require_room(WAITING_COUNTS_MAX - 1)
    applications.record_report(report(WAITING_COUNTS_MAX - 1))
    for _ in range(2):
        with pytest.raises(Error):
            await applications.write()
    applications.require_room(1)
    with pytest.raises(Error, match="Send this one again later"):
        applications.require_room(2)
    assert applications.dropped == 2
    store.is_away = False
    await applications.write()
    assert [len(each.reports) for each in store.written] == [1]
    applications.require_room(WAITING_COUNTS_MAX)


async def test_nothing_is_written_when_there_is_nothing_new(applications: Applications, store: Store) -> None:
    applications.record_poll(PLACE, client(), 1)
    await applications.write()
    await applications.write()
    assert len(store.written) == 1


async def test_only_so_many_missing_flags_are_noted_as_asked_for_within_an_hour(
    applications: Applications, store: Store, clock: Clock
) -> None:
    for number in range(MISSING_MAX + 10):
        applications.record_asked(PLACE, f"flag-{number}", exists=False)
    applications.record_asked(PLACE, "flag-0", exists=False)
    applications.record_asked(PLACE, "existing", exists=True)
    applications.record_asked(uuid4(), "flag-0", exists=False)
    await applications.write()
    asked = store.written[0].asked
    assert len(asked) == MISSING_MAX + 2
    assert asked[PLACE, "flag-0"] == 2
    applications.record_asked(PLACE, "another", exists=False)
    await applications.write()
    assert len(store.written) == 1
    clock.advance(hours=1)
    applications.record_asked(PLACE, "another", exists=False)
    await applications.write()
    assert list(store.written[1].asked) == [(PLACE, "another")]


async def test_instances_that_are_known_stay_known_however_many_others_come(
    applications: Applications, store: Store, clock: Clock
) -> None:
    for number in range(CONNECTIONS_MAX + 10):
        applications.record_poll(PLACE, client(number), 1)
    await applications.write()
    assert len(store.written[0].connections) == CONNECTIONS_MAX
    clock.advance(minutes=11)
    applications.record_poll(PLACE, client(CONNECTIONS_MAX + 1), 1)
    await applications.write()
    assert [each.client for each in store.written[1].connections] == [client(CONNECTIONS_MAX + 1)]


async def test_open_streams_are_written_every_minute(applications: Applications, store: Store, clock: Clock) -> None:
    applications.record_stream(PLACE, client(), 1)
    await applications.write()
    clock.advance(seconds=59)
    await applications.write()
    assert len(store.written) == 1
    clock.advance(seconds=1)
    await applications.write()
    assert [each.seen_at for each in store.written[1].connections] == [clock.at]
    applications.record_closed(PLACE, client())
    await applications.write()
    assert [each.streams for each in store.written[2].connections] == [False]


async def test_what_the_store_can_never_take_does_not_stop_what_follows(
    applications: Applications, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(_: Noted) -> None:
        raise OverflowError

    applications.require_room(3)
    applications.record_report(report(3))
    with monkeypatch.context() as patch:
        patch.setattr(applications, "_write", refuse)
        with pytest.raises(OverflowError):
            await applications.write()
    assert applications.dropped == 3
    applications.require_room(WAITING_COUNTS_MAX)
    applications.record_report(report(1))
    await applications.write()
    assert [len(each.reports) for each in store.written] == [1]


async def test_an_instance_that_makes_room_while_a_write_fails_is_not_written(
    applications: Applications, store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(CONNECTIONS_MAX):
        applications.record_poll(PLACE, client(number), 1)
    clock.advance(minutes=11)

    async def fail_late(_: Noted) -> None:
        applications.record_poll(PLACE, client(CONNECTIONS_MAX), 1)
        raise unavailable()

    with monkeypatch.context() as patch:
        patch.setattr(applications, "_write", fail_late)
        with pytest.raises(Error):
            await applications.write()
    await applications.write()
    (noted,) = store.written
    assert {each.client.instance for each in noted.connections} == {
        f"pod-{number}" for number in range(1, CONNECTIONS_MAX + 1)
    }
