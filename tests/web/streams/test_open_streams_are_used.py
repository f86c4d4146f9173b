"""Open streams as callers: they are in use as long as they are open."""

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.values.moments import format_moment
from tests.support.api import Caller, Json, environment_path
from tests.support.clock import Clock
from tests.support.jobs import do_now
from tests.support.sdk_keys import create_key, keys_path
from tests.web.streams.conftest import Streamer


async def test_a_stream_and_its_key_are_in_use_until_it_is_closed(
    flagstaff: Flagstaff, streamer: Streamer, ada: Caller, project: Json, environment: Json, clock: Clock
) -> None:
    key = await create_key(ada, project)

    async def used_at() -> tuple[str, str, int]:
        """Return when the caller and the key were last used, and how often the caller has asked."""
        await do_now(flagstaff, "callers-streams", "callers-write", "last-seen")
        (caller,) = (await ada.get(f"{environment_path(environment)}/callers")).json()
        assert (caller["protocol"], caller["user_agent"], caller["sdk_key_id"]) == ("stream", "shop/1.0", key["id"])
        listed = (await ada.get(f"{keys_path(project)}/{key['id']}")).json()
        return caller["last_used_at"], listed["last_used_at"], caller["requests_last_24_hours"]

    stream = await streamer.open(
        "/unleash/api/client/streaming", authorization=key["key"], user_agent="shop/1.0", unleash_appname="shop"
    )
    await stream.next()
    opened = format_moment(clock())
    assert await used_at() == (opened, opened, 1)
    clock.advance(hours=3)
    now = format_moment(clock())
    assert await used_at() == (now, now, 1)
    assert (await ada.delete(f"{keys_path(project)}/{key['id']}")).status_code == 204
    assert await stream.is_over()
    clock.advance(hours=3)
    await do_now(flagstaff, "callers-streams", "callers-write")
    (caller,) = (await ada.get(f"{environment_path(environment)}/callers")).json()
    assert caller["last_used_at"] == now
