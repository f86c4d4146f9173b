"""Evaluations in memory, until they are collected."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from flagstaff.evaluation.snapshot_assembly import compile_environment
from flagstaff.history.buffer import BATCH_GROUPS, Buffer
from flagstaff.history.callers import SdkProtocol
from flagstaff.projects.record_origins import Origin, Origins
from flagstaff.projects.sdk_keys import KeyInForce, KeyKind
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


def test_each_evaluation_has_the_key_and_the_protocol_of_its_request() -> None:
    buffer, snapshot, key_id = Buffer(instance="first"), make_snapshot(), uuid4()
    buffer.record(snapshot, "a", None, b"", protocol=SdkProtocol.EVALUATE)
    ((group,),) = [batch.groups for batch in buffer.take()]
    assert group.origins == Origins([Origin(snapshot.revision, None, "evaluate", "first")], (), [KeyKind.SERVER])
    sources = [(key_id, SdkProtocol.OFREP), (None, SdkProtocol.OFREP), (key_id, SdkProtocol.OFREP)]
    for of_request, protocol in sources:
        buffer.record(snapshot, "a", None, b"", key_id=of_request, protocol=protocol)
    ((group,),) = [batch.groups for batch in buffer.take()]
    assert group.origins is not None
    found = [group.origins.at(place) for place in range(3)]
    assert found == [Origin(snapshot.revision, *source, "first") for source in sources]


def test_each_evaluation_has_the_kind_of_the_key_of_its_request() -> None:
    server, browser, unknown = uuid4(), uuid4(), uuid4()
    keys = {
        b"1": KeyInForce(server, KeyKind.SERVER, None),
        b"2": KeyInForce(browser, KeyKind.BROWSER, None),
    }
    buffer, snapshot = Buffer(instance="first"), replace(make_snapshot(), sdk_keys=keys)
    of_requests = [browser, server, None, unknown, browser]
    for key_id in of_requests:
        buffer.record(snapshot, "a", None, b"", key_id=key_id)
    ((group,),) = [batch.groups for batch in buffer.take()]
    assert group.origins is not None
    found = [group.origins.kind_at(place) for place in range(len(of_requests))]
    assert found == [KeyKind.BROWSER, KeyKind.SERVER, KeyKind.SERVER, None, KeyKind.BROWSER]
    for key_id in (browser, browser):
        buffer.record(snapshot, "a", None, b"", key_id=key_id)
    ((group,),) = [batch.groups for batch in buffer.take()]
    assert group.origins is not None
    assert (group.origins.places, group.origins.kind_at(1)) == ((), KeyKind.BROWSER)
