"""Comments on flags, releases and changes: who may write, edit and delete them, and when they are deleted."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.comments.comments import COMMENTS_PER_HOUR, COMMENTS_PER_SUBJECT, Comment
from flagstaff.comments.comments_store import create_comment
from tests.support.api import Caller, Json, created, environment_path, field_errors, flag_path, project_path
from tests.support.clock import Clock
from tests.support.members import join
from tests.support.releases import create_release, release_path
from tests.web.conftest import SignUp

STEP = {"after_seconds": 3600, "changes": {"enabled": True}}


@pytest.fixture
async def flag(ada: Caller, environment: Json) -> Json:
    """A flag of Ada's in production."""
    return await ada.create_flag(environment)


@pytest.fixture
async def grace(flagstaff: Flagstaff, sign_up: SignUp, project: Json) -> Caller:
    """A viewer of Ada's project."""
    grace = await sign_up("grace")
    await join(flagstaff, project, grace, "viewer")
    return grace


def of_flag(flag: Json) -> str:
    return f"{flag_path(flag)}/comments"


def of_change(project: Json, number: str) -> str:
    return f"{project_path(project)}/changes/{number}/comments"


def one(comment: Json) -> str:
    return f"/api/projects/{comment['project_id']}/comments/{comment['id']}"


async def write(caller: Caller, path: str, text: str = "Why is this on?") -> Json:
    return created(await caller.post(path, json={"text": text}))


async def listed(caller: Caller, path: str) -> list[str]:
    answer = await caller.get(path)
    assert answer.status_code == 200, answer.text
    return [each["text"] for each in answer.json()]


async def list_deletions(caller: Caller, project: Json) -> list[Json]:
    answer = await caller.get(f"{project_path(project)}/changes", params={"resource": "comment"})
    found: list[Json] = answer.json()["items"]
    return found


async def test_others_find_no_comments(client: Caller, ada: Caller, eve: Caller, project: Json, flag: Json) -> None:
    comment = await write(ada, of_flag(flag))
    foreign = await eve.create_project()
    for caller, status in ((client, 401), (eve, 404)):
        assert (await caller.get(of_flag(flag))).status_code == status
        assert (await caller.post(of_flag(flag), json={"text": "x"})).status_code == status
        assert (await caller.put(one(comment), json={"text": "x"})).status_code == status
        assert (await caller.delete(one(comment))).status_code == status
    for other in (one({**comment, "project_id": foreign["id"]}), one({"project_id": foreign["id"], "id": uuid4()})):
        assert (await eve.put(other, json={"text": "x"})).status_code == 404
        assert (await eve.delete(other)).status_code == 404
    made = (await ada.get(f"{project_path(project)}/changes")).json()["items"][0]["id"]
    for number in (made, "0", "x", "9" * 19):
        assert (await eve.get(of_change(foreign, number))).status_code == 404
    assert (await ada.get(f"{flag_path(flag)}/releases/{uuid4()}/comments")).status_code == 404
    assert await listed(ada, of_flag(flag)) == ["Why is this on?"]


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        ({}, {"text": "is required"}),
        ({"text": None}, {"text": "must be a string"}),
        ({"text": " \n"}, {"text": "must not be empty"}),
        ({"text": "x" * 4001}, {"text": "must be at most 4,000 characters long"}),
        ({"text": "\x00"}, {"text": "must not contain the NUL character"}),
        (
            {"text": " ".join(f"@a{number}@example.com" for number in range(21))},
            {"text": "must mention at most 20 members"},
        ),
    ],
)
async def test_what_is_malformed_is_refused_at_its_field(
    ada: Caller, flag: Json, body: Json, errors: dict[str, str]
) -> None:
    assert field_errors(await ada.post(of_flag(flag), json=body)) == errors
    comment = await write(ada, of_flag(flag))
    if body:
        assert field_errors(await ada.put(one(comment), json=body)) == errors
    assert await listed(ada, of_flag(flag)) == ["Why is this on?"]


async def test_a_viewer_comments_and_edits_and_deletes_only_what_is_the_viewers(
    ada: Caller, grace: Caller, project: Json, flag: Json
) -> None:
    asked = await write(ada, of_flag(flag), "  Why is this on?\n")
    answered = await write(grace, of_flag(flag), "Because.")
    assert answered == {
        "id": answered["id"],
        "project_id": project["id"],
        "subject": {
            "kind": "flag",
            "environment_id": flag["environment_id"],
            "flag_id": flag["id"],
            "release_id": None,
            "change_id": None,
        },
        "author": {"id": grace.account["id"], "email": "grace@example.com"},
        "text": "Because.",
        "created_at": answered["created_at"],
        "updated_at": answered["created_at"],
    }
    assert await listed(grace, of_flag(flag)) == ["Because.", "Why is this on?"]
    refused = await grace.put(one(asked), json={"text": "x"})
    assert (refused.status_code, refused.json()["detail"]) == (403, "Only its author can edit a comment.")
    refused = await grace.delete(one(asked))
    assert (refused.status_code, refused.json()["permission"]) == (403, "comments:moderate")
    edited = await grace.put(one(answered), json={**answered, "text": "Because of *Ada* <b>"})
    assert edited.json()["text"] == "Because of *Ada* <b>"
    assert edited.json()["updated_at"] > answered["updated_at"]
    assert (await grace.delete(one(answered))).status_code == 204
    assert (await grace.delete(one(answered))).status_code == 404
    assert await listed(ada, of_flag(flag)) == ["Why is this on?"]
    assert await list_deletions(ada, project) == []


async def test_an_admin_deletes_the_comment_of_another_and_the_audit_trail_says_so_without_its_text(
    flagstaff: Flagstaff, ada: Caller, grace: Caller, eve: Caller, project: Json, flag: Json
) -> None:
    await join(flagstaff, project, eve, "admin")
    secret = "Something that must be gone"
    comment = await write(grace, of_flag(flag), secret)
    refused = await ada.put(one(comment), json={"text": "Something nicer"})
    assert refused.status_code == 403
    assert (await eve.delete(one(comment))).status_code == 204
    (change,) = await list_deletions(ada, project)
    assert (change["action"], change["actor"]["email"]) == ("comment.deleted", eve.account["email"])
    assert (change["flag_key"], change["before"]["author_email"]) == (flag["key"], "grace@example.com")
    assert "text" not in change["before"]
    assert secret not in (await ada.get(f"{project_path(project)}/changes")).text


async def test_a_comment_is_edited_only_in_the_state_that_is_demanded(ada: Caller, flag: Json) -> None:
    made = await ada.post(of_flag(flag), json={"text": "First"})
    first = {"if-match": made.headers["etag"]}
    assert made.headers["etag"] == f'"{made.json()["updated_at"]}"'
    second = await ada.put(one(made.json()), json={"text": "Second"}, headers=first)
    assert second.status_code == 200
    refused = await ada.put(one(made.json()), json={"text": "Third"}, headers=first)
    assert (refused.status_code, refused.json()["current"]["text"]) == (412, "Second")
    assert (await ada.delete(one(made.json()), headers=first)).status_code == 412
    assert (await ada.put(one(made.json()), json={})).json() == second.json()
    assert (await ada.delete(one(made.json()), headers={"if-match": second.headers["etag"]})).status_code == 204


@pytest.mark.both_databases
async def test_a_list_comes_in_parts_from_the_newest_on(ada: Caller, flag: Json) -> None:
    for number in range(5):
        await write(ada, of_flag(flag), str(number))
    first = await ada.get(of_flag(flag), params={"limit": 2})
    assert [each["text"] for each in first.json()] == ["4", "3"]
    rest = await ada.get(first.headers["link"].partition("<")[2].partition(">")[0].join((of_flag(flag), "")))
    assert [each["text"] for each in rest.json()] == ["2", "1"]
    refused = await ada.get(of_flag(flag), params={"cursor": "x"})
    assert "cursor" in field_errors(refused)


@pytest.mark.both_databases
async def test_releases_and_changes_have_comments_of_their_own_and_lists_of_changes_count_them(
    ada: Caller, grace: Caller, project: Json, flag: Json
) -> None:
    release = await create_release(ada, flag, STEP)
    number = (await ada.put(flag_path(flag), json={"description": "Two steps."})).headers["flagstaff-change"]
    segment = await ada.create_segment(project)
    created_segment = (await ada.get(f"{project_path(project)}/changes", params={"resource": "segment"})).json()
    of_segment = created_segment["items"][0]["id"]
    for path in (f"{release_path(release)}/comments", of_change(project, number), of_change(project, of_segment)):
        await write(grace, path, path)
        assert await listed(ada, path) == [path]
    assert await listed(ada, of_flag(flag)) == []
    await write(ada, of_change(project, number), "Because")
    for path in (
        f"{project_path(project)}/changes",
        f"{project_path(project)}/environments/{flag['environment_id']}/changes",
    ):
        counts = {each["id"]: each["comments"] for each in (await ada.get(path)).json()["items"]}
        assert (counts[number], counts[of_segment]) == (2, 1)
        assert sum(counts.values()) == 3
    assert segment["project_id"] == project["id"]


async def test_the_comments_on_an_archived_flag_stay_and_more_can_be_written(ada: Caller, flag: Json) -> None:
    comment = await write(ada, of_flag(flag), "Before")
    assert (await ada.post(f"{flag_path(flag)}/archive")).status_code == 200
    await write(ada, of_flag(flag), "After")
    assert (await ada.put(one(comment), json={"text": "Long before"})).status_code == 200
    assert await listed(ada, of_flag(flag)) == ["After", "Long before"]


async def test_the_comments_on_a_flag_and_its_releases_go_with_it_and_those_on_its_changes_stay(
    ada: Caller, project: Json, flag: Json
) -> None:
    release = await create_release(ada, flag, STEP)
    number = (await ada.put(flag_path(flag), json={"description": "Two steps."})).headers["flagstaff-change"]
    gone = [await write(ada, path) for path in (of_flag(flag), f"{release_path(release)}/comments")]
    kept = await write(ada, of_change(project, number), "Why?")
    (await ada.post(f"{flag_path(flag)}/archive")).raise_for_status()
    assert (await ada.delete(flag_path(flag))).status_code == 204
    for each in gone:
        assert (await ada.put(one(each), json={"text": "x"})).status_code == 404
    assert await listed(ada, of_change(project, number)) == ["Why?"]
    environment = {"project_id": project["id"], "id": flag["environment_id"]}
    assert (await ada.delete(environment_path(environment))).status_code == 204
    assert await listed(ada, of_change(project, number)) == ["Why?"]
    assert (await ada.put(one(kept), json={"text": "Why then?"})).status_code == 200


async def test_an_access_token_needs_the_permission_to_comment_and_to_read(ada: Caller, flag: Json) -> None:
    from tests.web.test_matrix import issue  # noqa: PLC0415 - it imports the whole API

    reader = await issue(ada, ["flags:read"])
    refused = await reader.post(of_flag(flag), json={"text": "x"})
    assert (refused.status_code, refused.json()["permission"]) == (403, "comments:write")


def make_comment(flag: Json, author: Caller, clock: Clock, **values: Any) -> Comment:
    place = {"project_id": UUID(flag["project_id"]), "environment_id": UUID(flag["environment_id"])}
    of = {"flag_id": UUID(flag["id"]), "release_id": None, "change": None}
    said = {"author_email": author.account["email"], "text": "x", "created_at": clock(), "updated_at": clock()}
    return Comment(id=uuid4(), **{**place, **of, "author_id": UUID(author.account["id"]), **said, **values})


async def test_a_subject_has_a_bounded_number_of_comments(
    flagstaff: Flagstaff, ada: Caller, flag: Json, clock: Clock
) -> None:
    async with flagstaff.database.transaction() as transaction:
        for _ in range(COMMENTS_PER_SUBJECT):
            await create_comment(transaction.connection, make_comment(flag, ada, clock, author_id=None))
    refused = await ada.post(of_flag(flag), json={"text": "One more"})
    assert (refused.status_code, refused.json()["detail"]) == (
        409,
        "There are 500 comments, which is the maximum. Remove some first.",
    )


async def test_an_account_writes_a_bounded_number_of_comments_in_an_hour(
    flagstaff: Flagstaff, ada: Caller, grace: Caller, flag: Json, clock: Clock
) -> None:
    async with flagstaff.database.transaction() as transaction:
        for _ in range(COMMENTS_PER_HOUR):
            await create_comment(transaction.connection, make_comment(flag, ada, clock))
    clock.advance(minutes=20)
    refused = await ada.post(of_flag(flag), json={"text": "One more"})
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "2401")
    await write(grace, of_flag(flag))
    clock.advance(minutes=41)
    await write(ada, of_flag(flag))
