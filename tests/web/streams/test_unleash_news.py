"""The events that streams of Unleash's clients get about a new state."""

import asyncio
from dataclasses import replace
from uuid import UUID

from flagstaff.concurrency.supervisor import Supervisor
from flagstaff.evaluation.snapshot import KnownEnvironment
from flagstaff.evaluation.snapshot_assembly import compile_environment
from flagstaff.evaluation.unleash.local_flags import LocalFlags
from flagstaff.serving.local_flags import LocalFlagsCache
from flagstaff.serving.streams import Reconnect
from flagstaff.serving.unleash.streaming import Features
from tests.support.builders import make_environment


async def test_a_state_that_is_old_when_it_has_been_compared_is_not_told() -> None:
    """A stream that opened in the meantime started with the later state."""
    environment = compile_environment(make_environment(), [])
    present = 2

    async def load(_project_id: UUID, environment_id: UUID) -> LocalFlags:
        return LocalFlags(environment_id, "production", present, {"new": (b'"state %d"' % present,)})

    cache = LocalFlagsCache(load, Supervisor())
    features = Features(cache)
    gone = {str(number): (b"{}",) for number in range(20_000)}  # comparing them takes many pieces
    features.record_held(LocalFlags(environment.environment_id, "production", 1, gone))
    telling = asyncio.create_task(features.news(KnownEnvironment.of(replace(environment, revision=2))))
    while cache.find(replace(environment, revision=2)) is None:
        await asyncio.sleep(0)
    present = 3
    features.record_held(await cache.current(replace(environment, revision=3)))
    assert not telling.done()
    assert isinstance(await telling, Reconnect), "so many removals are too long for an event"
    assert await features.news(KnownEnvironment.of(replace(environment, revision=3))) is None, (
        "what was told last is the later state"
    )
