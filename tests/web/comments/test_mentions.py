"""Mails to members whom a comment mentions."""

from uuid import UUID

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.notifications.notifications_store import count_waiting
from tests.support.api import Caller, Json, created, flag_path, project_path
from tests.support.clock import Clock
from tests.support.jobs import do_now
from tests.support.mailbox import text_of
from tests.support.members import join
from tests.support.releases import create_release, release_path
from tests.web.conftest import ReadMails, SignUp
from tests.web.test_notifications import ReadNew, choose, deliver


@pytest.fixture
def read_new(read_mails: ReadMails) -> ReadNew:
    """Return the notification mails to members."""
    return ReadNew(read_mails)


@pytest.fixture
async def grace(flagstaff: Flagstaff, sign_up: SignUp, project: Json) -> Caller:
    """A viewer of Ada's project, whose earlier changes have been processed."""
    grace = await sign_up("grace")
    await join(flagstaff, project, grace, "viewer")
    await do_now(flagstaff, "notifications")
    return grace


async def say(caller: Caller, flag: Json, text: str) -> Json:
    return created(await caller.post(f"{flag_path(flag)}/comments", json={"text": text}))


async def test_a_member_is_told_of_a_mention_without_a_word_of_the_comment(
    flagstaff: Flagstaff, ada: Caller, project: Json, grace: Caller, clock: Clock, read_new: ReadNew
) -> None:
    flag = await ada.create_flag(await ada.get_environment(project), name="Buy now")
    await say(grace, flag, "Win a prize at evil.example, (@ADA@example.com), @eve@example.com! x@grace@example.com")
    await deliver(flagstaff, clock)
    (mail,) = await read_new()
    subject = "[Flagstaff] new-checkout: you were mentioned in a comment in production"
    assert (mail["To"], mail["Subject"]) == ("ada@example.com", subject)
    text = text_of(mail)
    assert "by grace@example.com, " in text
    assert f"/environments/{flag['environment_id']}/flags/{flag['id']}?tab=comments" in text
    assert "because others have mentioned you in comments" in text
    for word in ("prize", "evil", "Buy", "eve@"):
        assert word not in mail.as_string()


async def test_nobody_is_told_of_a_mention_by_themselves_or_without_wanting_it_or_of_a_deleted_one(
    flagstaff: Flagstaff, ada: Caller, project: Json, grace: Caller, clock: Clock, read_new: ReadNew
) -> None:
    flag = await ada.create_flag(await ada.get_environment(project))
    await say(ada, flag, "@ada@example.com")
    await choose(grace, project, mentions=False)
    await say(ada, flag, "@grace@example.com")
    comment = await say(grace, flag, "@ada@example.com")
    assert (await grace.delete(f"{project_path(project)}/comments/{comment['id']}")).status_code == 204
    await deliver(flagstaff, clock)
    assert await read_new() == []


async def test_an_edit_tells_only_those_who_were_not_mentioned_before(
    flagstaff: Flagstaff, ada: Caller, project: Json, grace: Caller, sign_up: SignUp, clock: Clock, read_new: ReadNew
) -> None:
    linus = await sign_up("linus")
    await join(flagstaff, project, linus, "editor")
    flag = await ada.create_flag(await ada.get_environment(project))
    comment = await say(ada, flag, "@grace@example.com")
    await deliver(flagstaff, clock)
    path = f"{project_path(project)}/comments/{comment['id']}"
    (await ada.put(path, json={"text": "@grace@example.com and @linus@example.com."})).raise_for_status()
    await deliver(flagstaff, clock)
    assert [each["To"] for each in await read_new()] == ["grace@example.com", "linus@example.com"]


async def test_edits_back_and_forth_tell_of_a_comment_once_and_take_no_place_of_changes(
    flagstaff: Flagstaff, ada: Caller, project: Json, grace: Caller
) -> None:
    flag = await ada.create_flag(await ada.get_environment(project))
    comment = await say(grace, flag, "@ada@example.com")
    for text in ("Nobody", "@ada@example.com", "Nobody", "@ada@example.com again"):
        path = f"{project_path(project)}/comments/{comment['id']}"
        (await grace.put(path, json={"text": text})).raise_for_status()
    async with flagstaff.database.read() as connection:
        waiting = await count_waiting(connection, UUID(project["id"]))
    assert list(waiting.values()) == [1]


@pytest.mark.both_databases
async def test_a_mention_that_an_edit_takes_out_is_withdrawn_and_others_stay(
    flagstaff: Flagstaff, ada: Caller, project: Json, grace: Caller, sign_up: SignUp
) -> None:
    linus = await sign_up("linus")
    await join(flagstaff, project, linus, "viewer")
    await do_now(flagstaff, "notifications")
    flag = await ada.create_flag(await ada.get_environment(project))
    comment = await say(grace, flag, "@ada@example.com and @linus@example.com")
    path = f"{project_path(project)}/comments/{comment['id']}"
    (await grace.put(path, json={"text": "@linus@example.com"})).raise_for_status()
    async with flagstaff.database.read() as connection:
        waiting = await count_waiting(connection, UUID(project["id"]))
    assert waiting == {UUID(linus.account["id"]): 1}


async def test_mentions_on_releases_and_changes_lead_there_and_are_told_together_with_changes(
    flagstaff: Flagstaff, ada: Caller, project: Json, grace: Caller, sign_up: SignUp, clock: Clock, read_new: ReadNew
) -> None:
    linus = await sign_up("linus")
    await join(flagstaff, project, linus, "editor")
    flag = await ada.create_flag(await ada.get_environment(project), owner="ada@example.com")
    release = await create_release(ada, flag, {"after_seconds": 3600, "changes": {"enabled": True}})
    number = (await ada.put(flag_path(flag), json={"description": "x"})).headers["flagstaff-change"]
    segment = await ada.create_segment(project)
    found = (await ada.get(f"{project_path(project)}/changes", params={"resource": "segment"})).json()["items"]
    for path in (
        f"{release_path(release)}/comments",
        f"{project_path(project)}/changes/{number}/comments",
        f"{project_path(project)}/changes/{found[0]['id']}/comments",
    ):
        created(await linus.post(path, json={"text": "@ada@example.com"}))
    (await linus.post(f"{flag_path(flag)}/toggle")).raise_for_status()
    await deliver(flagstaff, clock)
    (mail,) = await read_new()
    assert mail["Subject"] == "[Flagstaff] 4 changes and mentions"
    text = text_of(mail)
    of_flag = f"/environments/{flag['environment_id']}/flags/{flag['id']}"
    assert f"{of_flag}?tab=releases" in text
    assert f"{of_flag}?tab=changes" in text
    assert f"/projects/{segment['project_id']}/audit" in text
    assert "new-checkout: turned off in production" in text
    assert "others have mentioned you in comments" in text


@pytest.mark.both_databases
async def test_an_unsubscribe_link_stops_mentions_too(
    flagstaff: Flagstaff, client: Caller, ada: Caller, project: Json, grace: Caller, clock: Clock, read_new: ReadNew
) -> None:
    flag = await ada.create_flag(await ada.get_environment(project))
    await say(ada, flag, "@grace@example.com")
    await deliver(flagstaff, clock)
    (mail,) = await read_new()
    link = mail["List-Unsubscribe"].strip("<>")
    assert (await client.post(link[link.index("/auth") :])).status_code == 204
    await say(ada, flag, "@grace@example.com")
    await deliver(flagstaff, clock)
    assert len(await read_new()) == 1
