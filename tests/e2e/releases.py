"""Makes metrics and releases with users and events, for tests of their pages."""

import asyncio
from collections.abc import Callable
from typing import Any

from tests.e2e.people import POLL_SECONDS, Person
from tests.support.api import Json, created, flag_path, project_path

USERS = 60
WAIT_SECONDS = 60


async def create_metric(ada: Person, project: Json, **values: Any) -> Json:
    """Create a metric of failed checkouts."""
    body = {"name": "Checkout failed", "key": "checkout-failed", "kind": "binary", "better": "down", **values}
    return created(await ada.api.post(f"{project_path(project)}/metrics", json=body))


async def create_release(ada: Person, flag: Json, **values: Any) -> Json:
    """Create a release that turns the flag on for half of the users at once, and for all of them in an hour."""
    body = {
        "name": "Slow start",
        "steps": [
            {"after_seconds": 0, "changes": {"rollout_percentage": 50}},
            {"after_seconds": 3600, "changes": {"rollout_percentage": 100}},
        ],
        **values,
    }
    return created(await ada.api.post(f"{flag_path(flag)}/releases", json=body))


async def wait_for_release(ada: Person, flag: Json, release: Json, is_wanted: Callable[[Json], bool]) -> Json:
    """Wait until a release meets a condition, and return it."""
    path = f"{flag_path(flag)}/releases/{release['id']}"
    async with asyncio.timeout(WAIT_SECONDS):
        while not is_wanted(found := (await ada.api.get(path)).json()):
            await asyncio.sleep(POLL_SECONDS)
    return found


async def wait_for_results(ada: Person, flag: Json, release: Json, is_wanted: Callable[[Json], bool]) -> Json:
    """Wait until the results of a release meet a condition, and return them."""
    path = f"{flag_path(flag)}/releases/{release['id']}/results"
    async with asyncio.timeout(WAIT_SECONDS):
        while not is_wanted(found := (await ada.api.get(path)).json()):
            await asyncio.sleep(POLL_SECONDS)
    return found


async def expose(ada: Person, project: Json, flag: Json, users: int = USERS) -> tuple[list[str], list[str]]:
    """Evaluate a flag for users; return those for whom it is on and those for whom it is off."""
    names = [f"user-{number}" for number in range(users)]
    answers = [
        (await ada.api.evaluate(project["sdk_key"], context={"user_id": name})).json()["flags"][flag["key"]]["enabled"]
        for name in names
    ]
    both = list(zip(names, answers, strict=True))
    return [name for name, is_on in both if is_on], [name for name, is_on in both if not is_on]


async def report(ada: Person, project: Json, metric: str, users: list[str], **values: Any) -> None:
    """Send an event of a metric for each of some users."""
    events = [{"metric": metric, "user_id": user, **values} for user in users]
    body = {"environment": "production", "events": events}
    answer = await ada.api.post("/sdk/v1/events", json=body, headers={"x-sdk-key": project["sdk_key"]})
    assert answer.status_code == 202, answer.text
