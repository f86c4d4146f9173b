"""Local flags: never older than the snapshot, loaded once for many callers, served during a database outage."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstaff.concurrency.supervisor import Supervisor
from flagstaff.evaluation.snapshot import EnvironmentSnapshot, KnownEnvironment
from flagstaff.evaluation.snapshot_assembly import compile_environment
from flagstaff.evaluation.unleash.events import hydrate, tell
from flagstaff.evaluation.unleash.local_flags import LocalFlags, revision_in
from flagstaff.evaluation.unleash.past import MAX_CHANGES, MAX_STEPS, Past
from flagstaff.serving.local_flags import REMEMBERED, LocalFlagsCache
from flagstaff.serving.streams import EVENT_MAX_BYTES, Reconnect
from flagstaff.serving.unleash.streaming import Features
from flagstaff.values.errors import Code, Error, unavailable
from tests.support.builders import make_environment

ENVIRONMENT = make_environment()


class World:
    """Environments at a committed revision, and a loader that reads it when the test says so."""

    def __init__(self) -> None:
        self.revision = 1
        self.features: dict[str, bytes] = {}
        self.loads = 0
        self.exists = True
        self.failure: Error | None = None
        self.let_go = asyncio.Event()
        self.let_go.set()
        self.cache = LocalFlagsCache(self.load, Supervisor())

    async def load(self, _project_id: UUID, environment_id: UUID) -> LocalFlags | None:
        self.loads += 1
        read = self.revision
        await self.let_go.wait()
        if self.failure:
            raise self.failure
        return local(read, environment_id, self.features) if self.exists else None


def local(revision: int, environment_id: UUID, features: Mapping[str, bytes]) -> LocalFlags:
    return LocalFlags(environment_id, "production", revision, {key: (value,) for key, value in features.items()})


def snapshot(revision: int = 1) -> EnvironmentSnapshot:
    return replace(compile_environment(make_environment(), []), revision=revision)


@pytest.fixture
async def world() -> World:
    return World()


async def test_the_first_caller_loads_and_the_next_ones_look_up(world: World) -> None:
    environment = snapshot()
    assert world.cache.find(environment) is None
    first = await world.cache.current(environment)
    assert await world.cache.current(environment) is first
    assert world.cache.find(environment) is first
    assert world.loads == 1


async def test_callers_at_the_same_time_share_a_load(world: World) -> None:
    environment = snapshot()
    found = await asyncio.gather(*(world.cache.current(environment) for _ in range(20)))
    assert len({id(each) for each in found}) == world.loads == 1


async def test_a_new_revision_is_loaded(world: World) -> None:
    environment = snapshot()
    await world.cache.current(environment)
    world.revision = 2
    assert (await world.cache.current(replace(environment, revision=2))).revision == 2
    assert world.loads == 2


async def test_a_load_that_began_before_the_revision_is_not_enough(world: World) -> None:
    environment = snapshot()
    world.let_go.clear()
    early = asyncio.ensure_future(world.cache.current(environment))
    while not world.loads:
        await asyncio.sleep(0)
    world.revision = 2
    late = asyncio.ensure_future(world.cache.current(replace(environment, revision=2)))
    await asyncio.sleep(0)
    world.let_go.set()
    assert (await early).revision == 1
    assert (await late).revision == 2


async def test_the_current_state_is_served_while_the_database_is_away(world: World) -> None:
    environment = snapshot()
    loaded = await world.cache.current(environment)
    world.failure = unavailable()
    assert await world.cache.current(environment) is loaded
    with pytest.raises(Error) as raised:
        await world.cache.current(replace(environment, revision=2))
    assert raised.value.code is Code.UNAVAILABLE
    world.failure, world.revision = None, 2
    assert (await world.cache.current(replace(environment, revision=2))).revision == 2


async def test_an_environment_that_was_deleted_is_not_found(world: World) -> None:
    world.exists = False
    with pytest.raises(Error) as raised:
        await world.cache.current(snapshot())
    assert raised.value.code is Code.NOT_FOUND


async def test_the_environments_that_were_asked_for_last_are_kept(world: World) -> None:
    first, second, *others = (snapshot() for _ in range(REMEMBERED + 1))
    for each in (first, second):
        await world.cache.current(each)
    for each in others:
        world.cache.find(first)
        await world.cache.current(each)
    assert world.cache.find(first)
    assert world.cache.find(second) is None


async def test_the_flags_that_changed_since_a_state_are_known(world: World) -> None:
    environment = snapshot()
    tags = []
    for features in ({"one": b"1", "two": b"2"}, {"one": b"1", "two": b"3"}, {"two": b"3"}, {"two": b"3"}):
        world.features = features
        now = await world.cache.current(replace(environment, revision=world.revision))
        tags.append(now.compose().tag)
        world.revision += 1
    assert [now.past.since({tag}) for tag in tags] == [["one", "two"], ["one"], [], None]
    assert now.past.since(set(tags)) == ["one", "two"], "the client may have any of them"


def test_a_flag_that_is_as_before_counts_as_changed() -> None:
    """A client that polls may have received another state in between, from a stream."""
    first = flags(1, one=b"1")
    third = flags(3, one=b"1").after(flags(2, one=b"2").after(first))
    assert third.past.since({first.compose().tag}) == ["one"]


def test_the_oldest_changes_are_forgotten() -> None:
    past = Past()
    for number in range(MAX_STEPS + 1):
        past = past.followed_by(str(number), ["key"])
    assert (past.since({"0"}), past.since({"1"}), len(past.steps)) == (None, ["key"], MAX_STEPS)
    past = past.followed_by("large", ["key"] * (MAX_CHANGES - 1))
    assert [step.tag for step in past.steps] == [str(MAX_STEPS), "large"]
    past = past.followed_by("too large", ["key"] * (MAX_CHANGES + 1))
    assert past.since({"large"}) is past.since({"too large"}) is None


states = st.lists(
    st.dictionaries(st.sampled_from(["a", "b", "c", "d", "e"]), st.sampled_from([b"1", b"2"])), min_size=1, max_size=12
)


@given(states)
def test_the_changes_since_any_known_state_lead_to_the_present_one(found: list[dict[str, bytes]]) -> None:
    """A client that has received a later state in the meantime also gets the present one."""
    before: LocalFlags | None = None
    known: list[LocalFlags] = []
    for revision, features in enumerate(found):
        named = {key: b'{"name":"%b","value":%b}' % (key.encode(), value) for key, value in features.items()}
        loaded = local(revision, ENVIRONMENT.id, named)
        before = loaded if before is None else loaded.after(before)
        known.append(before)
    present = known[-1]
    for place, asked in enumerate(known[:-1]):
        changed = present.past.since({asked.compose().tag})
        assert changed is not None
        told = json.loads(tell(present, changed, ENVIRONMENT.project_id).whole())
        for had in known[place:]:
            assert applied(had, told) == hydrated(present)


def hydrated(had: LocalFlags) -> dict[str, Any]:
    """Return the features of a client that has received all of them, by key."""
    (event,) = json.loads(hydrate(had).whole())["events"]
    assert event["eventId"] == had.revision
    return {each["name"]: each for each in event["features"]}


def applied(had: LocalFlags, told: Any) -> dict[str, Any]:
    """Return the features of a client after an event."""
    features = hydrated(had)
    for event in told["events"]:
        if event["type"] == "feature-removed":
            features.pop(event["featureName"], None)
        else:
            features[event["feature"]["name"]] = event["feature"]
    return features


def flags(revision: int = 1, environment_id: UUID = ENVIRONMENT.id, **features: bytes) -> LocalFlags:
    return local(revision, environment_id, {k.replace("_", "-"): v for k, v in features.items()})


def test_the_tag_comes_from_the_content_and_names_the_revision() -> None:
    payload = flags(7, one=b"1", two=b"2").compose()
    assert payload.tag == flags(7, one=b"1", two=b"2").compose().tag
    assert (
        payload.document.whole() == b'{"version":2,"features":[1,2],"segments":[],"query":{"environment":"production"}}'
    )
    assert flags(7, one=b"12", two=b"").compose().tag != payload.tag
    assert flags(7, uuid4(), one=b"1", two=b"2").compose().tag != payload.tag
    assert revision_in(payload.tag) == revision_in(f'"{payload.tag}"') == revision_in(f'W/"{payload.tag}"') == 7
    assert revision_in(f"a:{'9' * 19}") == 10**19 - 1


@pytest.mark.parametrize("tag", ["", '""', '"x"', '"x:y"', '"x:-1"', f'"x:{"9" * 20}"', "x:²"])
def test_another_tag_names_no_revision(tag: str) -> None:
    assert revision_in(tag) is None


def test_a_prefix_chooses_flags() -> None:
    some = flags(pay_card=b"1", pay_cash=b"2", other=b"3")
    assert b'"features":[1,2]' in some.compose("pay-").document.whole()
    assert b'"features":[]' in some.compose("x").document.whole()
    for number in range(100):
        some.keep(str(number), some.compose(str(number)))
    assert len(some.payloads) <= 16


async def test_the_flags_of_environments_are_kept_up_to_a_number_of_bytes(world: World) -> None:
    world.features = {"one": b"1" * 1_000}
    environments = [replace(snapshot(), environment_id=uuid4()) for _ in range(3)]
    cache = LocalFlagsCache(world.load, Supervisor(), remembered_bytes=2_500)
    for each in environments:
        await cache.current(each)
    assert [cache.find(each) is not None for each in environments] == [False, True, True]
    world.features = {"one": b"1" * 10_000}
    last = replace(snapshot(), environment_id=uuid4())
    await cache.current(last)
    assert [cache.find(each) is not None for each in (*environments, last)] == [False, False, False, True]


async def test_streams_are_told_of_a_feature_that_is_again_as_it_was_if_one_began_with_it_otherwise(
    world: World,
) -> None:
    """A stream may open while the other streams are still receiving an earlier state, or cannot receive it."""
    feed, off, on = Features(world.cache), b'{"name":"one","enabled":false}', b'{"name":"one","enabled":true}'
    for revision, feature in enumerate((off, on), start=1):
        world.revision, world.features = revision, {"one": feature}
        feed.record_held(await world.cache.current(snapshot(revision)))
    world.revision, world.features = 3, {"one": off}
    told = await feed.news(KnownEnvironment.of(snapshot(3)))
    assert isinstance(told, bytes)
    assert off in told
    assert await feed.news(KnownEnvironment.of(snapshot(3))) is None


async def test_an_event_that_would_be_too_long_has_clients_connect_again(world: World) -> None:
    feed = Features(world.cache)
    feed.record_held(await world.cache.current(snapshot(1)))
    world.revision, world.features = 2, {"one": b"1" * EVENT_MAX_BYTES}
    assert isinstance(await feed.news(KnownEnvironment.of(snapshot(2))), Reconnect)
    assert await feed.news(KnownEnvironment.of(snapshot(2))) is None
