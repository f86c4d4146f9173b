"""Questions to other instances: waiting writes share one question, and each is asked about after its commit."""

import asyncio
from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass, field
from uuid import UUID, uuid4

import pytest

from flagstaff.cluster.questions_store import Present, Questions
from flagstaff.concurrency.supervisor import Supervisor
from flagstaff.database.messages import Message, read_question
from flagstaff.database.revisions import Wanted
from flagstaff.values.errors import Error, unavailable
from tests.support.snapshots import until


@dataclass
class Others:
    """The other instances. A test decides which are present, which answer, and when a reading ends."""

    present: Present = field(default_factory=lambda: Present({"b": "b:8000"}, {"b"}))
    answering: set[str] = field(default_factory=set)
    supervisor: Supervisor = field(default_factory=Supervisor)
    error: Error | None = None
    readings: int = 0
    sent: list[list[str]] = field(default_factory=list)
    may_read: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.may_read.set()
        self.questions = Questions("a", read=self.read, send=self.send, start_task=self.supervisor.start)

    async def read(self) -> Present:
        self.readings += 1
        await self.may_read.wait()
        return self.present

    async def send(self, messages: Collection[Message]) -> None:
        if self.error:
            raise self.error
        assert all(each.to is None for each in messages)
        self.sent.append([each.text for each in messages])
        for instance in self.answering:
            for number, _ in self.asked_last():
                self.questions.record_answer(instance, number)

    def asked_last(self) -> list[tuple[str, UUID]]:
        """Return the numbers and projects of the last statement."""
        words = [message.split() for message in self.sent[-1]]
        return [
            (asked.number, project) for each in words for asked, project in read_question(each[1], each[2], each[3:])
        ]

    async def ask(self, *project_ids: UUID, missing: set[str] | None = None) -> None:
        """Wait until all instances serve what is committed to these projects."""
        wanted = dict.fromkeys(project_ids, Wanted(None))
        await self.questions.ask(wanted, set() if missing is None else missing)


@pytest.fixture
async def others() -> AsyncIterator[Others]:
    made = Others()
    yield made
    async with asyncio.timeout(10):
        await made.supervisor.drain(10)


async def test_a_lost_connection_ends_the_wait_of_every_write(others: Others) -> None:
    others.error = unavailable("The connection was lost.")
    async with asyncio.timeout(30):
        ended = await asyncio.gather(*(others.ask(uuid4()) for _ in range(3)), return_exceptions=True)
    assert ended == [others.error] * 3
    others.error, others.answering = None, {"b"}
    await others.ask(uuid4())


async def test_without_other_instances_nothing_is_asked(others: Others) -> None:
    others.present = Present({}, set())
    await others.ask(uuid4())
    assert (others.readings, others.sent) == (1, [])


async def test_many_writes_at_once_share_a_reading_and_a_message(others: Others) -> None:
    others.answering = {"b"}
    projects = [uuid4() for _ in range(120)]
    async with asyncio.timeout(30):
        await asyncio.gather(*(others.ask(project) for project in projects * 3))
    assert others.readings == 1
    assert [len(messages) for messages in others.sent] == [1]
    assert [project for _, project in others.asked_last()] == projects


async def test_the_previous_release_is_asked_in_single_messages_of_one_statement(others: Others) -> None:
    others.present, others.answering = Present({"old": ""}, set()), {"old"}
    await asyncio.gather(*(others.ask(uuid4()) for _ in range(5)))
    assert [[len(message.split()) for message in messages] for messages in others.sent] == [[4] * 5]


async def test_a_write_that_comes_during_a_round_is_asked_about_after_a_later_reading(others: Others) -> None:
    project = uuid4()
    others.may_read.clear()
    first = asyncio.create_task(others.ask(project))
    await until(lambda: others.readings == 1)
    second = asyncio.create_task(others.ask(project))
    await asyncio.sleep(0)  # the second write has begun to wait
    others.may_read.set()
    await until(lambda: len(others.sent) == 2)
    ((number, _),) = others.asked_last()
    assert others.readings == 2
    others.questions.record_answer("b", number)
    await second
    assert not first.done(), "the answer to the second question is not one to the first"
    others.answering = {"b"}
    await first


async def test_who_does_not_answer_is_asked_again_about_everything_in_one_statement(others: Others) -> None:
    missing: set[str] = set()
    asking = [asyncio.create_task(others.ask(uuid4(), missing=missing)) for _ in range(50)]
    await until(lambda: len(others.sent) == 3)
    assert [len(messages) for messages in others.sent] == [1] * 3
    assert (len(others.asked_last()), others.readings) == (50, 3)
    others.present = Present({}, set())  # its lease has lapsed
    await asyncio.gather(*asking)
    assert missing == set()


async def test_an_instance_that_has_come_later_is_not_waited_for(others: Others) -> None:
    asking = asyncio.create_task(others.ask(uuid4()))
    await until(lambda: len(others.sent) == 1)
    others.present = Present({"b": "b:8000", "c": "c:8000"}, {"b", "c"})
    await until(lambda: len(others.sent) == 2)
    others.questions.record_answer("b", others.asked_last()[0][0])
    await asking


async def test_a_write_that_does_not_wait_any_more_is_not_asked_about(others: Others) -> None:
    missing: set[str] = set()
    left, kept = uuid4(), uuid4()
    asking = asyncio.create_task(others.ask(left, missing=missing))
    staying = asyncio.create_task(others.ask(kept))
    await until(lambda: len(others.sent) == 1)
    asking.cancel()
    await asyncio.wait([asking])
    assert missing == {"b:8000"}
    others.answering = {"b"}
    await staying
    assert [project for _, project in others.asked_last()] == [kept]


async def test_an_instance_that_acknowledges_a_change_is_not_asked(others: Others) -> None:
    project = uuid4()
    changed = {project: Wanted(7, is_announced=True)}
    asking = asyncio.create_task(others.questions.ask(changed, set()))
    await until(lambda: others.readings == 1)
    others.questions.record_served("b", project, 6)
    others.questions.record_served("c", project, 7)
    others.questions.record_served("b", uuid4(), 7)
    await asyncio.sleep(0.01)
    assert not asking.done(), "an older revision, another instance, and another project"
    others.questions.record_served("b", project, 8)
    await asking
    assert others.sent == []
    await others.questions.ask({project: Wanted(8)}, set())
    assert others.sent == [], "it has said so before"


async def test_an_acknowledgement_that_comes_before_the_reading_counts(others: Others) -> None:
    project = uuid4()
    others.questions.record_served("b", project, 7)
    await others.questions.ask({project: Wanted(7, is_announced=True)}, set())
    assert (others.readings, others.sent) == (1, [])


async def test_who_does_not_acknowledge_in_time_is_asked(others: Others) -> None:
    others.answering = {"b"}
    async with asyncio.timeout(30):
        await others.questions.ask({uuid4(): Wanted(7, is_announced=True)}, set())
    assert (others.readings, len(others.sent)) == (2, 1)


async def test_who_has_not_said_that_it_acknowledges_is_asked_at_once(others: Others) -> None:
    others.present = Present({"b": "b:8000", "old": ""}, {"b"})
    others.answering = {"old"}
    project = uuid4()
    asking = asyncio.create_task(others.questions.ask({project: Wanted(7, is_announced=True)}, set()))
    await until(lambda: len(others.sent) == 1)
    assert others.readings == 1
    others.questions.record_served("b", project, 7)
    await asking


async def test_what_was_acknowledged_before_the_connection_was_lost_does_not_count(others: Others) -> None:
    project = uuid4()
    others.questions.record_served("b", project, 7)
    others.questions.forget_served()
    others.answering = {"b"}
    await others.questions.ask({project: Wanted(7, is_announced=True)}, set())
    assert len(others.sent) == 1
