"""What a worker tells the others through their parent."""

import socket
from collections.abc import Iterator

import pytest

from flagstaff.cli.parent_channel import TELL, Channel, read_told
from flagstaff.cluster.leases_store import Member, Row
from flagstaff.cluster.worker import WorkerBoard
from flagstaff.cluster.worker_feed import WorkerFeed
from flagstaff.database.messages import Message

OTHER = "0" * 15 + "2"


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    """The worker's end of its connection to the parent, and the parent's."""
    worker, parent = socket.socketpair()
    with worker, parent:
        yield worker, parent


async def told(ends: tuple[socket.socket, socket.socket], *messages: Message) -> list[tuple[int | None, str]]:
    """What the parent reads of messages, while another worker has the slot 2."""
    board = WorkerBoard(3)
    board.write_lease(2, OTHER, 1, is_leaving=False)
    await WorkerFeed(ends[0], board, 0, Member("0" * 15 + "1", "host", "1.0")).send(messages)
    return [read_told(line.removeprefix(TELL)) for line in Channel(ends[1]).read()]


async def test_a_message_for_all_goes_to_all_others(ends: tuple[socket.socket, socket.socket]) -> None:
    assert await told(ends, Message("change a b -")) == [(None, "change a b -")]


async def test_a_message_for_one_worker_goes_to_its_slot_alone(ends: tuple[socket.socket, socket.socket]) -> None:
    assert await told(ends, Message("served a b c 5", OTHER)) == [(2, "served a b c 5")]


async def test_a_message_for_a_worker_that_has_no_lease_goes_to_all_others(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    assert await told(ends, Message("served a b c 5", "0" * 15 + "3")) == [(None, "served a b c 5")]


async def test_each_other_worker_holds_a_lease_and_acknowledges_changes(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    board = WorkerBoard(3)
    member = Member("0" * 15 + "1", "host", "1.0")
    feed = WorkerFeed(ends[0], board, 0, member)
    board.write_lease(2, OTHER, 5, is_leaving=False)
    other = Row(OTHER, "host/worker-2", 5, is_leaving=False, holds_lease=True, acknowledges=True)
    assert (await feed.renew(member, None)).rows == (await feed.read(member.id)).rows == [other]
