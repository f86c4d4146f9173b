"""POST …/flags/{flag_id}/archive and …/unarchive, and the behaviour of archived flags."""

import asyncio
from collections import Counter
from typing import Any

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller, Json, environment_path, field_errors, flag_path, project_path
from tests.support.changes import changes_in
from tests.support.members import join
from tests.support.sdk_keys import KeyMaker
from tests.web.flags.conftest import Elsewhere

RED = {"key": "red", "weight": 1, "value": 1}


async def archive(caller: Caller, flag: Json) -> Json:
    answer = await caller.post(f"{flag_path(flag)}/archive")
    assert answer.status_code == 200, answer.text
    archived: Json = answer.json()
    return archived


async def unarchive(caller: Caller, flag: Json) -> Json:
    answer = await caller.post(f"{flag_path(flag)}/unarchive")
    assert answer.status_code == 200, answer.text
    live: Json = answer.json()
    return live


async def listed(caller: Caller, environment: Json, query: str = "") -> list[Json]:
    answer = await caller.get(f"{environment_path(environment)}/flags{query}")
    assert answer.status_code == 200, answer.text
    flags: list[Json] = answer.json()
    return flags


def refused(answer: Any, message: str) -> None:
    assert (answer.status_code, answer.json()["detail"]) == (409, message)


@pytest.mark.parametrize("verb", ["archive", "unarchive"])
async def test_it_needs_a_token(client: Caller, ada: Caller, flag: Json, verb: str) -> None:
    assert (await client.post(f"{flag_path(flag)}/{verb}")).status_code == 401
    assert (await ada.get(flag_path(flag))).json() == flag


@pytest.mark.parametrize("verb", ["archive", "unarchive"])
async def test_a_flag_is_found_nowhere_but_in_its_place(
    ada: Caller, flag: Json, elsewhere: list[Elsewhere], verb: str
) -> None:
    for why, caller, path in elsewhere:
        assert (await caller.post(f"{path}/{verb}")).status_code == 404, why
    assert (await ada.get(flag_path(flag))).json() == flag


async def test_a_viewer_may_not_archive_and_is_told_so_before_the_state(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, project: Json, flag: Json
) -> None:
    await join(flagstaff, project, eve, "viewer")
    for verb in ("archive", "unarchive"):
        answer = await eve.post(f"{flag_path(flag)}/{verb}")
        assert (answer.status_code, answer.json()["permission"]) == (403, "flags:write")
    await archive(ada, flag)
    for verb in ("archive", "unarchive"):
        assert (await eve.post(f"{flag_path(flag)}/{verb}")).status_code == 403
    assert (await eve.get(flag_path(flag))).json()["archived_at"] is not None


async def test_a_flag_that_others_need_is_not_archived_and_they_are_named(ada: Caller, environment: Json) -> None:
    base = await ada.create_flag(environment, key="base")
    needs = [{"flag_key": "base"}]
    needing = [await ada.create_flag(environment, key=key, prerequisites=needs) for key in ("one", "two")]
    message = "The flag base is a prerequisite of {}. Remove it from their prerequisites first."
    refused(await ada.post(f"{flag_path(base)}/archive"), message.format("one, two"))
    await archive(ada, needing[0])
    refused(await ada.post(f"{flag_path(base)}/archive"), message.format("two"))
    assert (await ada.get(flag_path(base))).json() == base
    await archive(ada, needing[1])
    await archive(ada, base)
    refused(
        await ada.post(f"{flag_path(needing[0])}/unarchive"),
        "The flag one has archived prerequisites: base. Unarchive them first.",
    )
    refused(await ada.delete(flag_path(base)), message.format("one, two"))  # or they could not be restored
    await unarchive(ada, base)
    await unarchive(ada, needing[0])


async def test_it_is_archived_once_and_unarchived_once(ada: Caller, flag: Json) -> None:
    refused(await ada.post(f"{flag_path(flag)}/unarchive"), "The flag new-checkout is not archived.")
    for verb in ("archive", "unarchive"):
        answers = await asyncio.gather(*(ada.post(f"{flag_path(flag)}/{verb}") for _ in range(6)))
        assert Counter(answer.status_code for answer in answers) == {200: 1, 409: 5}


@pytest.mark.both_databases
async def test_everything_else_on_an_archived_flag_is_a_conflict(ada: Caller, flag: Json) -> None:
    rule = await ada.create_rule(flag)
    before = await archive(ada, flag)
    path, rules = flag_path(flag), f"{flag_path(flag)}/rules"
    for answer in (
        await ada.put(path, json={"name": "Renamed"}),
        await ada.put(path, json=before),
        await ada.post(f"{path}/toggle"),
        await ada.post(f"{path}/archive"),
        await ada.post(rules, json={"rule_type": "user_id", "rule_value": "eve"}),
        await ada.put(f"{rules}/{rule['id']}", json={"priority": 1}),
        await ada.delete(f"{rules}/{rule['id']}"),
        await ada.post(f"{path}/impact", json={"flag": {"name": flag["name"], "key": flag["key"]}}),
    ):
        refused(answer, "The flag new-checkout is archived. Unarchive it first.")
    assert (await ada.get(path)).json() == before
    assert (await ada.get(rules)).json() == [rule]


@pytest.mark.both_databases
async def test_its_key_stays_taken(ada: Caller, environment: Json, flag: Json) -> None:
    archived = await archive(ada, flag)
    taken = (
        "An archived flag of the environment has the key new-checkout. Unarchive or delete it, or choose another key."
    )
    body = {"name": "Another", "key": flag["key"]}
    refused(await ada.post(f"{environment_path(environment)}/flags", json=body), taken)
    refused(await ada.post(f"{environment_path(environment)}/explain", json={"context": {}, "flag": body}), taken)
    assert await listed(ada, environment, "?archived=true") == [archived]
    assert (await ada.delete(flag_path(flag))).status_code == 204
    assert (await ada.create_flag(environment))["key"] == flag["key"]


async def test_it_can_be_nobodys_prerequisite(ada: Caller, environment: Json, flag: Json) -> None:
    other = await ada.create_flag(environment, key="other")
    await archive(ada, flag)
    answer = await ada.put(flag_path(other), json={"prerequisites": [{"flag_key": flag["key"]}]})
    assert field_errors(answer) == {"prerequisites.0.flag_key": "must be the key of a flag of this environment"}


async def test_prerequisites_that_would_form_a_cycle_with_an_archived_flag_are_refused(
    ada: Caller, environment: Json
) -> None:
    first = await ada.create_flag(environment, key="first")
    second = await ada.create_flag(environment, key="second", prerequisites=[{"flag_key": "first"}])
    await archive(ada, second)
    await archive(ada, first)
    await unarchive(ada, first)
    answer = await ada.put(flag_path(first), json={"prerequisites": [{"flag_key": "second"}]})
    assert answer.status_code == 400
    await unarchive(ada, second)
    answer = await ada.put(flag_path(first), json={"prerequisites": [{"flag_key": "second"}]})
    assert answer.status_code == 409


async def test_what_its_rules_name_cannot_be_deleted(ada: Caller, project: Json, environment: Json) -> None:
    segment = await ada.create_segment(project)
    flag = await ada.create_flag(environment)
    await ada.create_rule(flag, rule_type="segment", rule_value="beta")
    await archive(ada, flag)
    answer = await ada.delete(f"{project_path(project)}/segments/{segment['id']}")
    assert answer.status_code == 409
    assert "new-checkout in production" in answer.json()["detail"]


async def test_it_comes_back_as_it_was(ada: Caller, environment: Json) -> None:
    for enabled in (True, False):
        flag = await ada.create_flag(
            environment, key=f"flag-{enabled}".lower(), enabled=enabled, rollout_percentage=25, variants=[RED]
        )
        rule = await ada.create_rule(flag, variant="red")
        archived = await archive(ada, flag)
        assert archived == flag | {name: archived[name] for name in ("archived_at", "updated_at")}
        assert archived["updated_at"] > flag["updated_at"]
        assert (await ada.get(flag_path(flag))).json() == archived
        back = await unarchive(ada, flag)
        assert back == flag | {"updated_at": back["updated_at"]}
        assert back["updated_at"] > archived["updated_at"]
        assert (await ada.get(f"{flag_path(flag)}/rules")).json() == [rule]


async def test_what_get_returned_can_be_put_back(ada: Caller, flag: Json) -> None:
    await archive(ada, flag)
    back = await unarchive(ada, flag)
    assert (await ada.put(flag_path(flag), json=back)).json() == back


@pytest.mark.both_databases
async def test_lists_show_it_only_when_they_are_asked_to(ada: Caller, environment: Json) -> None:
    flags = [await ada.create_flag(environment, key=f"flag-{number}") for number in range(5)]
    for flag in flags:
        await ada.create_rule(flag)
    assert await listed(ada, environment, "?archived=true") == []
    archived = [await archive(ada, flag) for flag in flags[:4]]
    assert await listed(ada, environment) == await listed(ada, environment, "?archived=false") == [flags[4]]
    assert await listed(ada, environment, "?archived=true") == archived[::-1]
    rules = (await ada.get(f"{environment_path(environment)}/rules")).json()
    assert [rule["flag_id"] for rule in rules] == [flags[4]["id"]]
    found: list[Json] = []
    answer = await ada.get(f"{environment_path(environment)}/flags?archived=true&limit=1")
    while True:
        found += answer.json()
        if "next" not in answer.links:
            break
        answer = await ada.get(str(answer.url.join(answer.links["next"]["url"])))
    assert found == archived[::-1]
    wrong = await ada.get(f"{environment_path(environment)}/flags?archived=perhaps")
    assert list(field_errors(wrong)) == ["archived"]


async def test_it_is_in_no_answer_from_the_moment_of_the_response_until_it_is_back(
    ada: Caller, client: Caller, keys: KeyMaker, project: Json, environment: Json
) -> None:
    """Checks evaluate, OFREP, Unleash's two protocols, exports and explanations."""
    server = {"authorization": await keys.create(environment)}
    browser = {"authorization": await keys.create(environment, kind="browser")}
    ofrep = {"authorization": f"Bearer {server['authorization']}"}

    async def answers() -> list[set[str]]:
        evaluated = await client.evaluate(project["sdk_key"])
        by_ofrep = await client.post("/ofrep/v1/evaluate/flags", json={"context": {}}, headers=ofrep)
        features = await client.get("/unleash/api/client/features", headers=server)
        toggles = await client.get("/unleash/api/frontend", headers=browser)
        explained = await ada.post(f"{environment_path(environment)}/explain", json={"context": {}})
        exported = await ada.get(f"{environment_path(environment)}/export?format=flagstaff")
        bootstrap = await ada.get(f"{environment_path(environment)}/export?format=unleash")
        return [
            set(evaluated.json()["flags"]),
            {each["key"] for each in by_ofrep.json()["flags"]},
            {each["name"] for each in features.json()["features"]},
            {each["name"] for each in toggles.json()["toggles"]},
            {each["flag_key"] for each in explained.json()["flags"]},
            {each["key"] for each in exported.json()["flags"]},
            {each["name"] for each in bootstrap.json()["features"]},
        ]

    flag = await ada.create_flag(environment)
    await ada.create_flag(environment, key="other")
    for _ in range(2):
        assert await answers() == [{"new-checkout", "other"}] * 7
        await archive(ada, flag)
        assert await answers() == [{"other"}] * 7
        one = await client.post(
            f"/sdk/v1/evaluate/{flag['key']}",
            json={"environment": "production"},
            headers={"x-sdk-key": project["sdk_key"]},
        )
        assert one.status_code == 404
        answer = await client.post(f"/ofrep/v1/evaluate/flags/{flag['key']}", json={"context": {}}, headers=ofrep)
        assert (answer.status_code, answer.json()["errorCode"]) == (404, "FLAG_NOT_FOUND")
        asked = {"context": {}, "flag_keys": [flag["key"]]}
        explained = await ada.post(f"{environment_path(environment)}/explain", json=asked)
        assert list(field_errors(explained)) == ["flag_keys.0"]
        await unarchive(ada, flag)


async def test_a_whole_project_is_loaded_without_it(
    flagstaff: Flagstaff, ada: Caller, client: Caller, project: Json, environment: Json
) -> None:
    flag = await ada.create_flag(environment)
    await archive(ada, flag)
    await ada.create_segment(project)  # loads everything again
    assert (await client.evaluate(project["sdk_key"])).json()["flags"] == {}


@pytest.mark.both_databases
async def test_an_archived_flags_history_and_changes_can_be_read(ada: Caller, flag: Json) -> None:
    await archive(ada, flag)
    for path in ("evaluations", "sdk-differences"):
        assert (await ada.get(f"{flag_path(flag)}/{path}")).status_code == 200
    assert (await ada.get(f"{flag_path(flag)}/sdk-differences")).json() == []
    changes = f"{environment_path({'project_id': flag['project_id'], 'id': flag['environment_id']})}/changes"
    found = (await ada.get(changes, params={"flag_id": flag["id"]})).json()["items"]
    assert [each["action"] for each in found] == ["flag.archived", "flag.created"]


async def test_both_are_recorded_with_their_actor(flagstaff: Flagstaff, ada: Caller, flag: Json) -> None:
    archived = await archive(ada, flag)
    back = await unarchive(ada, flag)
    first, second = (await changes_in(flagstaff, {"id": flag["environment_id"]}))[-2:]
    assert (first.action, first.actor.email) == ("flag.archived", "ada@example.com")
    assert (first.before, first.after) == (flag, archived)
    assert (second.action, second.before, second.after) == ("flag.unarchived", archived, back)


async def test_toggles_beside_an_archival_are_done_before_it_or_refused(
    flagstaff: Flagstaff, ada: Caller, flag: Json
) -> None:
    toggles = [ada.post(f"{flag_path(flag)}/toggle") for _ in range(8)]
    answers = await asyncio.gather(*toggles[:4], ada.post(f"{flag_path(flag)}/archive"), *toggles[4:])
    assert answers[4].status_code == 200
    toggled = sum(answer.status_code == 200 for answer in answers) - 1
    assert Counter(answer.status_code for answer in answers) == Counter({200: toggled + 1, 409: 8 - toggled})
    expected = [*["flag.toggled"] * toggled, "flag.archived"]
    recorded = [change.action for change in await changes_in(flagstaff, {"id": flag["environment_id"]})]
    assert recorded[-len(expected) :] == expected
    back = await unarchive(ada, flag)
    assert back["enabled"] is (flag["enabled"] ^ (toggled % 2 == 1))
