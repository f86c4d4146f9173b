"""Evaluations in memory, until they are collected."""

from datetime import UTC, datetime

import pytest

from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from flagstaff.evaluation.snapshot_assembly import compile_environment
from flagstaff.history.buffer import BATCH_GROUPS, Buffer
from tests.support.builders import make_environment


def make_snapshot() -> EnvironmentSnapshot:
    return compile_environment(make_environment(), ())


def test_an_empty_buffer_has_no_batch() -> None:
    assert Buffer().take() == []


def test_evaluations_are_taken_once_in_their_order() -> None:
    buffer, snapshot = Buffer(), make_snapshot()
    for user in "abc":
        buffer.record(snapshot, user, None, b"")
    assert buffer.records == 3
    ((group,),) = [batch.groups for batch in buffer.take()]
    assert group.users == ["a", "b", "c"]
    assert group.times == sorted(group.times)
    assert (group.attributes, group.has_all) == (None, False)
    assert (buffer.records, buffer.take()) == (0, [])


@pytest.mark.parametrize("has_all", [True, False])
def test_attributes_stay_with_their_evaluations(*, has_all: bool) -> None:
    buffer, with_attributes, without = Buffer(has_all=has_all), make_snapshot(), make_snapshot()
    buffer.record(with_attributes, "a", None, b"", b'{"plan":"gold"}')
    buffer.record(without, "b", None, b"")
    buffer.record(with_attributes, "c", None, b"", b"{}")
    ((first, second),) = [batch.groups for batch in buffer.take()]
    assert (first.users, first.attributes, first.has_all) == (["a", "c"], [b'{"plan":"gold"}', b"{}"], has_all)
    assert (second.users, second.attributes) == (["b"], None)


def test_the_time_that_rules_looked_at_is_that_of_the_record() -> None:
    buffer, at = Buffer(), datetime(2026, 11, 20, 10, 0, 0, 123456, tzinfo=UTC)
    buffer.record(make_snapshot(), "a", None, b"", at=at)
    ((group,),) = [batch.groups for batch in buffer.take()]
    assert group.times == [1_795_168_800_123_456_000]


def test_a_batch_has_a_bounded_number_of_groups() -> None:
    buffer = Buffer()
    for _ in range(BATCH_GROUPS + 1):
        buffer.record(make_snapshot(), "a", None, b"")
    assert [len(batch.groups) for batch in buffer.take()] == [BATCH_GROUPS, 1]
