"""The headers Flagstaff-Revision and Flagstaff-Change of writes."""

from uuid import uuid4

import pytest

from tests.support.api import Caller, Json, environment_path, flag_path, project_path

HEADER = "flagstaff-revision"


async def test_reads_and_refused_writes_have_none(ada: Caller, environment: Json) -> None:
    flag = await ada.create_flag(environment)
    refused = await ada.put(flag_path(flag), json={"rollout_percentage": 101})
    missing = await ada.post(f"{flag_path({**flag, 'id': str(uuid4())})}/toggle")
    read = await ada.get(flag_path(flag))
    assert [each.status_code for each in (refused, missing, read)] == [400, 404, 200]
    assert not any({HEADER, "flagstaff-change"} & each.headers.keys() for each in (refused, missing, read))


async def test_what_is_not_evaluated_has_none(ada: Caller, project: Json) -> None:
    invited = await ada.post(
        f"{project_path(project)}/invitations", json={"email": "eve@example.com", "role": "viewer"}
    )
    assert (invited.status_code, HEADER in invited.headers) == (201, False)


async def test_each_write_has_a_higher_one_than_the_last(ada: Caller, project: Json) -> None:
    path = project_path(project)
    environment = await ada.post(f"{path}/environments", json={"name": "QA", "key": "qa"})
    flags = f"{environment_path(environment.json())}/flags"
    flag = await ada.post(flags, json={"name": "Checkout", "key": "checkout"})
    there = flag_path(flag.json())
    answers = [environment, flag]
    answers.append(await ada.post(f"{there}/toggle"))
    answers.append(await ada.put(there, json={"rollout_percentage": 20}))
    rule = await ada.post(f"{there}/rules", json={"rule_type": "user_id", "rule_value": "u"})
    answers += [rule, await ada.delete(f"{there}/rules/{rule.json()['id']}")]
    answers.append(await ada.post(f"{path}/segments", json={"name": "Beta", "key": "beta", "conditions": []}))
    answers += [await ada.delete(there), await ada.put(path, json={"name": "Renamed"})]
    assert [answer.status_code // 100 for answer in answers] == [2] * len(answers)
    numbers = [int(answer.headers[HEADER]) for answer in answers]
    assert numbers == sorted(set(numbers))
    listed = (await ada.get(f"{path}/changes")).json()["items"]
    assert [answer.headers["flagstaff-change"] for answer in answers] == [
        each["id"] for each in reversed(listed[: len(answers)])
    ]


async def test_a_deleted_project_has_none(ada: Caller, project: Json) -> None:
    answer = await ada.delete(project_path(project))
    assert (answer.status_code, HEADER in answer.headers) == (204, False)


@pytest.mark.parametrize("times", [2, 3])
async def test_a_repeated_request_has_a_revision_that_contains_its_change(
    ada: Caller, project: Json, times: int
) -> None:
    path = f"{project_path(project)}/environments"
    body = {"name": "QA", "key": "qa"}
    answers = [await ada.post(path, json=body, headers={"Idempotency-Key": "k"}) for _ in range(times)]
    assert {answer.status_code for answer in answers} == {201}
    first, *others = (int(answer.headers[HEADER]) for answer in answers)
    assert all(other >= first for other in others)
