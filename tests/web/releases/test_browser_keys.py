"""Strangers with a browser's key choose users and send evaluations and events of them: a release can ignore these."""

from collections.abc import Sequence
from typing import Any

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from flagstaff.evaluation.bucketing import bucket
from tests.support.api import Caller, Json, flag_path
from tests.support.releases import (
    create_release,
    evaluate_users,
    read_release,
    read_results,
    send_events,
    until_results,
    until_served,
    until_state,
    until_step,
    until_stored,
)
from tests.support.sdk_keys import create_key

HALF: Json = {"after_seconds": 0, "changes": {"enabled": True, "rollout_percentage": 50}}
LATER: Json = {"after_seconds": 3600, "changes": {"rollout_percentage": 100}}
TURN_OFF: Json = {"metric": "errors", "action": "turn_off"}
FLAG = "new-checkout"
CHOSEN = 250


async def begin(caller: Caller, flag: Json, **values: Any) -> Json:
    """A release at 50 % whose guard watches errors, with its first step applied."""
    release = await create_release(caller, flag, HALF, LATER, guards=[TURN_OFF], **values)
    begun = await until_step(caller, release, 0)
    await until_served(caller, flag)
    return begun


def people(name: str, count: int, *, on: bool | None = None) -> list[str]:
    """So many users; with `on`, those whom the flag's hash, which is public, puts with the flag at 50 %, or without."""
    found, number = list[str](), 0
    while len(found) < count:
        user = f"{name}-{number}"
        if on is None or (bucket(FLAG, user) < 50) is on:
            found.append(user)
        number += 1
    return found


def errors(users: Sequence[str], ids: str | None = None) -> list[Json]:
    """An error of each user; `ids` begins those of the events."""
    return [{"metric": "errors", "user_id": user, **({"id": f"{ids}-{user}"} if ids else {})} for user in users]


@pytest.fixture
async def browser_key(ada: Caller, project: Json) -> str:
    """The text of a browser's key."""
    key: str = (await create_key(ada, project, kind="browser"))["key"]
    return key


@pytest.mark.parametrize("given", ["browser_keys", "", None, 1, ["all"]])
async def test_what_counts_is_all_or_server_keys(ada: Caller, flag: Json, metric: Json, given: object) -> None:
    assert metric
    answer = await ada.post(
        f"{flag_path(flag)}/releases", json={"steps": [HALF], "guards": [TURN_OFF], "counts": given}
    )
    assert answer.status_code == 400
    assert [each["field"] for each in answer.json()["errors"]] == ["counts"]


@pytest.mark.both_databases
async def test_strangers_with_a_browser_key_neither_raise_an_alarm_nor_mute_a_guard_where_only_server_keys_count(
    flagstaff: Flagstaff, ada: Caller, project: Json, flag: Json, metric: Json, browser_key: str
) -> None:
    assert metric
    release = await begin(ada, flag, counts="server_keys")
    assert release["counts"] == "server_keys"
    server_key = project["sdk_key"]
    treated, control = people("shopper", 30, on=True), people("shopper", 30, on=False)
    # The page's key tells which group each user is in, and its owner chooses: a split that is wrong, errors of those
    # without the flag, so that it looks harmless, and the ids of the server's events, so that these are repetitions.
    chosen = people("chosen", CHOSEN, on=True)
    answers = await evaluate_users(ada, browser_key, [*chosen, *control], FLAG)
    assert [answers[user]["enabled"] for user in (chosen[0], control[0])] == [True, False]
    await evaluate_users(ada, server_key, [*treated, *control], FLAG)
    await send_events(ada, browser_key, *errors(control), *errors(treated, "order"))
    await until_stored(flagstaff)
    results = await until_results(
        ada, release, lambda found: found["browser_keys"]["events"] == 60 and found["users"] == 60
    )
    assert results["browser_keys"] == {"evaluations": CHOSEN + 30, "events": 60, "count": False}
    assert [each["users"] for each in results["steps"][0]["arms"]] == [30, 30]
    assert (results["split"]["is_wrong"], results["metrics"][0]["evidence"]) == (False, 1)
    assert results["split"]["evidence"] < 1
    assert (await read_release(ada, release))["state"] == "running"
    await send_events(ada, server_key, *errors(treated, "order"))
    stopped = await until_state(ada, release, "stopped")
    assert stopped["reason"].startswith("Checkout errors: 100 % with the flag and 0 % without it")
    assert not (await ada.get(flag_path(flag))).json()["enabled"]
    after = await read_results(ada, release)
    assert (after["users"], after["split"]["is_wrong"]) == (60, False)


@pytest.mark.both_databases
async def test_an_outlook_is_not_told_the_users_and_events_of_pages_where_only_server_keys_count(
    flagstaff: Flagstaff, ada: Caller, project: Json, flag: Json, metric: Json, browser_key: str
) -> None:
    assert metric
    shoppers, visitors = people("shopper", 30), people("visitor", 40)
    await evaluate_users(ada, project["sdk_key"], shoppers, FLAG)
    await evaluate_users(ada, browser_key, [*shoppers, *visitors], FLAG)
    await send_events(ada, project["sdk_key"], *errors(shoppers[:6]))
    await send_events(ada, browser_key, *errors(visitors), *errors(shoppers[6:]))
    await until_stored(flagstaff)
    body: Json = {"steps": [HALF, LATER], "guards": [TURN_OFF]}
    found: dict[str, Json] = {}
    for counts in ("all", "server_keys"):
        answer = await ada.post(f"{flag_path(flag)}/outlook", json={**body, "counts": counts})
        assert answer.status_code == 200, answer.text
        found[counts] = answer.json()
    assert [found[each]["guards"][0]["basis"]["users"] for each in found] == [70, 6]
    assert found["server_keys"]["guards"][0]["basis"]["rate"] == pytest.approx(6 / 30)
    assert found["server_keys"]["users_per_day"] == pytest.approx(30)
    assert found["all"]["users_per_day"] >= 70


@pytest.mark.both_databases
async def test_strangers_with_a_browser_key_do_not_stop_a_release_where_only_server_keys_count(
    ada: Caller, project: Json, flag: Json, metric: Json, browser_key: str
) -> None:
    assert metric
    release = await begin(ada, flag, counts="server_keys")
    treated, control = people("shopper", 30, on=True), people("shopper", 30, on=False)
    await evaluate_users(ada, project["sdk_key"], [*treated, *control], FLAG)
    await send_events(ada, browser_key, *errors(treated))
    # In one order and in the other: the events of some users are read before their evaluations.
    early = people("early", 30, on=True)
    await send_events(ada, browser_key, *errors(early))
    await until_results(ada, release, lambda found: found["browser_keys"]["events"] == 60)
    await evaluate_users(ada, project["sdk_key"], early, FLAG)
    results = await until_results(ada, release, lambda found: found["users"] == 90)
    assert results["metrics"][0]["evidence"] == 1
    assert [each["users_with_events"] for each in results["metrics"][0]["arms"]] == [0, 0]
    assert (await read_release(ada, release))["state"] == "running"


@pytest.mark.both_databases
async def test_where_all_keys_count_those_of_pages_are_counted_apart_and_the_words_say_who_could_cause_an_alarm(
    flagstaff: Flagstaff, ada: Caller, project: Json, flag: Json, metric: Json, browser_key: str
) -> None:
    assert metric
    release = await begin(ada, flag)
    assert release["counts"] == "all"
    await evaluate_users(ada, browser_key, people("chosen", CHOSEN, on=True), FLAG)
    await send_events(ada, browser_key, *errors(people("other", 2)))
    await send_events(ada, project["sdk_key"], *errors(people("other", 3)))
    paused = await until_state(ada, release, "paused")
    assert "Anybody who has a browser key" in paused["reason"]
    await until_stored(flagstaff)
    results = await until_results(
        ada, release, lambda found: found["users"] == CHOSEN and found["browser_keys"]["events"] == 2
    )
    assert results["browser_keys"] == {"evaluations": CHOSEN, "events": 2, "count": True}
    assert results["split"]["words"] == paused["reason"]


@pytest.mark.both_databases
@pytest.mark.parametrize("split_action", ["pause", "notify"])
async def test_another_application_with_a_server_key_can_raise_the_alarm_but_does_not_mute_a_guard(
    ada: Caller, project: Json, flag: Json, metric: Json, split_action: str
) -> None:
    assert metric
    other_key = (await create_key(ada, project, name="Another application"))["key"]
    release = await begin(ada, flag, counts="server_keys", split_action=split_action)
    await evaluate_users(ada, other_key, people("chosen", CHOSEN, on=True), FLAG)
    results = await until_results(ada, release, lambda found: found["split"]["is_wrong"])
    assert "Whoever has a server key" in results["split"]["words"]
    assert results["browser_keys"] == {"evaluations": 0, "events": 0, "count": False}
    treated, control = people("shopper", 75, on=True), people("shopper", 75, on=False)
    await evaluate_users(ada, project["sdk_key"], [*treated, *control], FLAG)
    await send_events(ada, project["sdk_key"], *errors([*treated, control[0]]))
    stopped = await until_state(ada, release, "stopped")
    assert stopped["reason"].startswith("Checkout errors: ")
    assert not (await ada.get(flag_path(flag))).json()["enabled"]


@pytest.mark.both_databases
async def test_what_a_revoked_server_key_has_sent_still_counts_and_what_was_not_recorded_does_not(
    flagstaff: Flagstaff, ada: Caller, project: Json, flag: Json, metric: Json
) -> None:
    """Counted again, as after an update: of keys that are gone, the history has the kind."""
    assert metric
    key = await create_key(ada, project)
    release = await begin(ada, flag, counts="server_keys")
    users = people("shopper", 60)
    await evaluate_users(ada, key["key"], users, FLAG)
    await send_events(ada, key["key"], *errors(users[:10]))
    await until_stored(flagstaff)
    await until_results(ada, release, lambda found: had_events(found) == 10 and found["users"] == 60)
    assert (await ada.delete(f"/api/projects/{project['id']}/sdk-keys/{key['id']}")).status_code == 204
    await forget_counts(flagstaff)
    await evaluate_users(ada, project["sdk_key"], ["shopper-0"], FLAG)
    await until_results(ada, release, lambda found: had_events(found) == 10 and found["users"] == 60)
    async with flagstaff.database.write_history() as connection:  # as the release before has stored it
        await connection.execute(tables.event_segments.update().values(key_kind=None))
    await forget_counts(flagstaff)
    await evaluate_users(ada, project["sdk_key"], ["shopper-1"], FLAG)
    again = await until_results(ada, release, lambda found: found["browser_keys"]["events"] == 10)
    assert had_events(again) == 0


def had_events(results: Json) -> int:
    """The users with an event."""
    return sum(each["users_with_events"] for each in results["metrics"][0]["arms"])


async def forget_counts(flagstaff: Flagstaff) -> None:
    """Delete what was counted for releases."""
    async with flagstaff.database.write_history() as connection:
        for table in (tables.counted_releases, tables.step_exposures, tables.step_events):
            await connection.execute(table.delete())
