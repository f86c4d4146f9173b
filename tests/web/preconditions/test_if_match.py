"""If-Match: when two people edit the same resource, the second is told, and the first one's edit is not lost."""

import asyncio
import time
from collections import Counter
from contextlib import AsyncExitStack

import httpx
import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller, Json, environment_path, field_errors, flag_path, project_path
from tests.support.clock import Clock
from tests.support.members import join
from tests.support.tokens import issue
from tests.web.conftest import ListChanges

ANOTHER = {"if-match": '"1999-12-31T00:00:00.000000Z"'}


@pytest.fixture
async def flag(ada: Caller, environment: Json) -> Json:
    """A flag of Ada's, which is on."""
    return await ada.create_flag(environment)


def tag_of(resource: Json) -> str:
    """Return the tag that a client computes for an item of a list."""
    return f'"{resource["updated_at"]}"'


async def test_whoever_finds_nothing_is_told_nothing_of_the_state(eve: Caller, client: Caller, flag: Json) -> None:
    assert (await client.put(flag_path(flag), json={}, headers=ANOTHER)).status_code == 401
    answer = await eve.put(flag_path(flag), json={"name": "Mine"}, headers=ANOTHER)
    assert answer.status_code == 404
    assert "etag" not in answer.headers
    assert "current" not in answer.json()


async def test_whoever_may_not_change_it_is_refused_before_the_state_is_looked_at(
    flagstaff: Flagstaff, eve: Caller, project: Json, flag: Json
) -> None:
    await join(flagstaff, project, eve, "viewer")
    for answer in (
        await eve.put(flag_path(flag), json={"name": "Mine"}, headers=ANOTHER),
        await eve.post(f"{flag_path(flag)}/toggle", headers=ANOTHER),
        await eve.delete(flag_path(flag), headers=ANOTHER),
    ):
        assert answer.status_code == 403
        assert "current" not in answer.json()
        assert "etag" not in answer.headers


async def test_a_token_that_may_not_read_it_is_told_nothing_of_the_present_state(
    flagstaff: Flagstaff, callers: AsyncExitStack, ada: Caller, project: Json, flag: Json
) -> None:
    path = f"{project_path(project)}/tokens"
    for permissions, told in (
        (["flags:toggle"], set[str]()),
        (["flags:toggle", "audit:read"], set[str]()),
        (["flags:toggle", "flags:read"], {"current"}),
        (["flags:toggle", "flags:read", "audit:read"], {"current", "changed_by", "changed_at"}),
    ):
        machine = await issue(flagstaff, callers, path, ada, *permissions)
        answer = await machine.post(f"{flag_path(flag)}/toggle", headers=ANOTHER)
        assert answer.status_code == 412
        assert answer.json().keys() & {"current", "changed_by", "changed_at"} == told
        assert ("etag" in answer.headers) is bool(told)


async def test_a_comment_on_a_change_is_shown_only_to_a_token_that_may_read_the_trail(
    flagstaff: Flagstaff, callers: AsyncExitStack, ada: Caller, project: Json, flag: Json
) -> None:
    number = (await ada.put(flag_path(flag), json={"description": "Two steps."})).headers["flagstaff-change"]
    comments = f"{project_path(project)}/changes/{number}/comments"
    comment = (await ada.post(comments, json={"text": "Because"})).json()
    path = f"{project_path(project)}/comments/{comment['id']}"
    for more, is_told in (([], False), (["audit:read"], True)):
        tokens = f"{project_path(project)}/tokens"
        machine = await issue(flagstaff, callers, tokens, ada, "comments:write", "flags:read", *more)
        for answer in (
            await machine.put(path, json={"text": "Mine"}, headers=ANOTHER),
            await machine.delete(path, headers=ANOTHER),
        ):
            assert answer.status_code == 412
            assert ("Because" in answer.text, "etag" in answer.headers) == (is_told, is_told)


@pytest.mark.parametrize(
    "given", ["", "2026-11-20T10:00:00.123456Z", '"open', 'W"x"', '"a" "b"', "*, *", '"a", *', "'a'", '"a\tb"', ","]
)
async def test_a_malformed_precondition_is_refused(ada: Caller, flag: Json, given: str) -> None:
    answer = await ada.put(flag_path(flag), json={"name": "Mine"}, headers={"if-match": given})
    assert field_errors(answer) == {
        "If-Match": 'must be an ETag in quotes, such as "2026-11-20T10:00:00.123456Z", or *'
    }
    assert (await ada.get(flag_path(flag))).json() == flag


async def test_a_flag_that_does_not_exist_is_not_found_whatever_is_demanded(ada: Caller, flag: Json) -> None:
    assert (await ada.delete(flag_path(flag))).status_code == 204
    for tag in ("*", tag_of(flag), '"x"'):
        assert (await ada.put(flag_path(flag), json={}, headers={"if-match": tag})).status_code == 404


async def test_the_second_of_two_people_gets_the_present_state_and_who_has_made_it(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, project: Json, flag: Json
) -> None:
    await join(flagstaff, project, eve, "editor")
    by_eve = await eve.put(flag_path(flag), json={"name": "By Eve"}, headers={"if-match": tag_of(flag)})
    assert by_eve.status_code == 200

    refused = await ada.put(flag_path(flag), json={"description": "By Ada"}, headers={"if-match": tag_of(flag)})

    problem = refused.json()
    assert (refused.status_code, problem["title"]) == (412, "Precondition Failed")
    assert problem["detail"] == (
        "The flag has been changed since you read it. Nothing was changed by this request. Read it again, apply your "
        "change to its present state, and send the ETag of that state."
    )
    read = await ada.get(flag_path(flag))
    assert problem["current"] == read.json() == by_eve.json()
    assert refused.headers["etag"] == read.headers["etag"] == by_eve.headers["etag"] == tag_of(read.json())
    assert problem["changed_by"] == {
        "id": eve.account["id"],
        "email": "eve@example.com",
        "token": None,
        "release": None,
    }
    assert problem["changed_at"] == read.json()["updated_at"]
    merged = await ada.put(
        flag_path(flag), json={"description": "By Ada"}, headers={"if-match": refused.headers["etag"]}
    )
    assert (merged.json()["name"], merged.json()["description"]) == ("By Eve", "By Ada")


async def test_one_of_several_tags_is_enough_weak_or_not_and_a_star_accepts_every_state(
    ada: Caller, flag: Json
) -> None:
    for given in ("{0}", "W/{0}", '"x,y", {0}', ', {0} ,"z"', 'W/"x",W/{0}', "*", " * "):
        headers = {"if-match": given.format(tag_of(flag))}
        answer = await ada.post(f"{flag_path(flag)}/toggle", headers=headers)
        assert answer.status_code == 200, given
        flag = answer.json()
    several = httpx.Headers([("if-match", '"x"'), ("if-match", tag_of(flag))])
    assert (await ada.post(f"{flag_path(flag)}/toggle", headers=several)).status_code == 200


async def test_a_request_without_a_precondition_changes_every_state(ada: Caller, flag: Json) -> None:
    for _ in range(3):
        assert (await ada.post(f"{flag_path(flag)}/toggle")).status_code == 200


async def test_a_long_header_takes_no_time(ada: Caller, flag: Json) -> None:
    for given in (" ," * 10_000 + "x", '"' * 20_000, '"a" ' * 5_000, ", ".join(['"a"'] * 5_000)):
        began = time.process_time()  # and not the time that passes: the machine may be busy
        answer = await ada.put(flag_path(flag), json={}, headers={"if-match": given})
        assert time.process_time() - began < 1
        assert answer.status_code in (400, 412)


async def test_an_archived_flag_that_was_read_before_is_a_change_by_somebody_else(ada: Caller, flag: Json) -> None:
    await ada.post(f"{flag_path(flag)}/archive")
    answer = await ada.put(flag_path(flag), json={"name": "Mine"}, headers={"if-match": tag_of(flag)})
    assert answer.status_code == 412
    assert answer.json()["current"]["archived_at"] is not None
    present = {"if-match": answer.headers["etag"]}
    assert (await ada.put(flag_path(flag), json={"name": "Mine"}, headers=present)).status_code == 409


@pytest.mark.both_databases
async def test_of_16_writers_with_the_same_tag_exactly_one_wins(
    ada: Caller, flag: Json, list_changes: ListChanges
) -> None:
    before = len(await list_changes())
    headers = {"if-match": tag_of(flag)}

    answers = await asyncio.gather(
        *(ada.put(flag_path(flag), json={"name": f"Number {number}"}, headers=headers) for number in range(16))
    )

    assert Counter(answer.status_code for answer in answers) == {200: 1, 412: 15}
    (won,) = (answer.json() for answer in answers if answer.status_code == 200)
    assert (await ada.get(flag_path(flag))).json() == won
    assert all(answer.json()["current"] == won for answer in answers if answer.status_code == 412)
    assert len(await list_changes()) == before + 1


async def test_of_a_deletion_and_changes_with_the_same_tag_exactly_one_wins(ada: Caller, environment: Json) -> None:
    for number in range(4):
        flag = await ada.create_flag(environment, key=f"flag-{number}")
        headers = {"if-match": tag_of(flag)}
        answers = await asyncio.gather(
            *(ada.put(flag_path(flag), json={"name": f"Number {each}"}, headers=headers) for each in range(4)),
            ada.delete(flag_path(flag), headers=headers),
            ada.post(f"{flag_path(flag)}/toggle", headers=headers),
        )
        assert sum(answer.status_code < 300 for answer in answers) == 1
        assert {answer.status_code for answer in answers} <= {200, 204, 404, 412}


async def test_a_repetition_gets_the_first_response_and_its_tag_before_the_state_is_looked_at(
    ada: Caller, flag: Json
) -> None:
    headers = {"idempotency-key": "one", "if-match": tag_of(flag)}
    first = await ada.post(f"{flag_path(flag)}/toggle", headers=headers)
    again = await ada.post(f"{flag_path(flag)}/toggle", headers=headers)
    assert (first.status_code, again.status_code) == (200, 200)
    assert again.headers["idempotency-replayed"] == "true"
    assert (again.json(), again.headers["etag"]) == (first.json(), first.headers["etag"])
    other = await ada.post(f"{flag_path(flag)}/toggle", headers={**headers, "idempotency-key": "two"})
    assert (other.status_code, other.json()["current"]) == (412, first.json())


async def test_a_repeated_creation_has_the_tag_of_the_first(ada: Caller, project: Json, environment: Json) -> None:
    for path, body in (
        (f"{project_path(project)}/environments", {"name": "Canary", "key": "canary"}),
        (f"{project_path(project)}/views", {"name": "Beta", "search": {"q": "é"}}),
        (f"{project_path(project)}/pinned-charts", {"name": "Beta", "environment_id": environment["id"]}),
        (f"{project_path(project)}/segments", {"name": "Beta", "key": "beta", "conditions": []}),
    ):
        headers = {"idempotency-key": path}
        first = await ada.post(path, json=body, headers=headers)
        plain = await ada.post(path, json=body, headers=headers)
        assert (first.status_code, plain.headers["idempotency-replayed"]) == (201, "true")
        assert first.headers["etag"] == plain.headers["etag"]
        own = f"{path}/{first.json()['id']}"
        assert (await ada.delete(own, headers={"if-match": first.headers["etag"]})).status_code == 204


async def test_a_hidden_key_hides_no_change(flagstaff: Flagstaff, ada: Caller, eve: Caller, project: Json) -> None:
    await join(flagstaff, project, eve, "viewer")
    as_eve = await eve.get(project_path(project))
    assert as_eve.json()["sdk_key"] is None
    assert as_eve.headers["etag"] == (await ada.get(project_path(project))).headers["etag"] == tag_of(project)


async def test_the_tag_survives_compression(ada: Caller, environment: Json) -> None:
    flag = await ada.create_flag(environment, description="x" * 2_000)
    read = await ada.get(flag_path(flag), headers={"accept-encoding": "gzip"})
    assert (read.headers["content-encoding"], read.headers["etag"]) == ("gzip", f"W/{tag_of(flag)}")
    changed = await ada.put(flag_path(flag), json={"name": "Mine"}, headers={"if-match": read.headers["etag"]})
    assert changed.status_code == 200


@pytest.mark.both_databases
async def test_each_change_makes_another_tag_when_the_clock_stands_still_or_goes_back(
    ada: Caller, clock: Clock, environment: Json
) -> None:
    flag = await ada.create_flag(environment)
    rule = await ada.create_rule(flag)
    seen, rules_seen = {tag_of(flag)}, {tag_of(rule)}
    path, rule_path = flag_path(flag), f"{flag_path(flag)}/rules/{rule['id']}"
    for _ in range(2):
        deletion = await ada.delete(path)
        for name in ("A", "B"):
            clock.advance(seconds=-3_600)
            back = await ada.post(
                f"{environment_path(environment)[: environment_path(environment).index('/environments')]}"
                f"/changes/{deletion.headers['flagstaff-change']}/restore"
            )
            assert back.status_code == 200, back.text
            for answer in (
                await ada.get(path),
                await ada.put(path, json={"name": f"{name}{len(seen)}"}),
                await ada.post(f"{path}/toggle"),
                await ada.post(f"{path}/archive"),
                await ada.post(f"{path}/unarchive"),
            ):
                assert answer.headers["etag"] not in seen
                seen.add(answer.headers["etag"])
            present = await ada.get(rule_path)
            assert present.headers["etag"] not in rules_seen
            rules_seen.add(present.headers["etag"])
            last = await ada.delete(path)
            assert last.status_code == 204
        back = await ada.post(
            f"{project_path({'id': environment['project_id']})}/changes/{last.headers['flagstaff-change']}/restore"
        )
        assert back.status_code == 200
        seen.add((await ada.get(path)).headers["etag"])
        rules_seen.add((await ada.get(rule_path)).headers["etag"])
