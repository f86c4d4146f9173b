"""Notification mails to members: /api/me/notifications, …/notifications, and the mails that are sent."""

from collections.abc import Sequence
from email.message import EmailMessage
from uuid import UUID

import pytest
import sqlalchemy as sa

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from flagstaff.mail import mail_limits
from flagstaff.notifications.notifications_store import add_waiting, record_mail
from flagstaff.releases import releases_store
from flagstaff.releases.watching import TOLD_AFTER_SECONDS, Part, Watching
from tests.support.api import Caller, Json, environment_path, field_errors, flag_path, project_path
from tests.support.clock import Clock
from tests.support.jobs import do_now
from tests.support.mailbox import text_of
from tests.support.members import join, member_path
from tests.support.releases import create_release, until_state
from tests.support.sessions import PASSWORD, log_in
from tests.web.conftest import ReadMails, SignUp

ALL = {
    "critical": True,
    "owned": True,
    "stale": True,
    "webhooks": True,
    "releases": True,
    "mentions": True,
    "subscribed": True,
}
DEFAULTS = {
    "critical": False,
    "owned": True,
    "stale": True,
    "webhooks": True,
    "releases": True,
    "mentions": True,
    "subscribed": True,
}


def settings_path(project: Json) -> str:
    return f"{project_path(project)}/notifications"


async def choose(caller: Caller, project: Json, **kinds: bool) -> None:
    (await caller.put(settings_path(project), json=kinds)).raise_for_status()


async def deliver(flagstaff: Flagstaff, clock: Clock) -> None:
    """Collect new changes, and send their mails after a minute."""
    await do_now(flagstaff, "notifications")
    clock.advance(seconds=61)
    await do_now(flagstaff, "notifications")


@pytest.fixture
async def grace(flagstaff: Flagstaff, sign_up: SignUp, project: Json) -> Caller:
    """An editor of Ada's project, whose earlier changes have been processed."""
    grace = await sign_up("grace")
    await join(flagstaff, project, grace, "editor")
    await do_now(flagstaff, "notifications")
    return grace


@pytest.fixture
def read_new(read_mails: ReadMails) -> "ReadNew":
    """Return the mails about changes."""
    return ReadNew(read_mails)


class ReadNew:
    def __init__(self, read: ReadMails) -> None:
        self._read = read

    async def __call__(self) -> Sequence[EmailMessage]:
        return [each for each in await self._read() if each["List-Unsubscribe"]]


async def test_what_is_malformed_is_refused_at_its_field(ada: Caller, project: Json) -> None:
    for body, errors in (
        ({"owned": "yes"}, {"owned": "must be true or false"}),
        ({"owned": None}, {"owned": "must be true or false"}),
        (
            {"mine": True},
            {
                "mine": "is not a known field; known fields are critical, owned, stale, webhooks, releases, mentions, "
                "subscribed"
            },
        ),
    ):
        assert field_errors(await ada.put(settings_path(project), json=body)) == errors
    assert (await ada.get(settings_path(project))).json() == DEFAULTS


@pytest.mark.both_databases
async def test_settings_are_each_members_own(
    ada: Caller, eve: Caller, client: Caller, project: Json, grace: Caller
) -> None:
    assert (await client.get("/api/me/notifications")).status_code == 401
    for caller, status in ((client, 401), (eve, 404)):
        assert (await caller.get(settings_path(project))).status_code == status
        assert (await caller.put(settings_path(project), json=ALL)).status_code == status
    await choose(ada, project, critical=True)
    await choose(ada, project, stale=False)
    assert (await ada.get(settings_path(project))).json() == {**DEFAULTS, "critical": True, "stale": False}
    assert (await grace.get(settings_path(project))).json() == DEFAULTS
    other = await ada.create_project(name="Another")
    listed = (await ada.get("/api/me/notifications")).json()
    assert [(each["project_id"], each["project"], each["critical"]) for each in listed] == [
        (other["id"], "Another", False),
        (project["id"], project["name"], True),
    ]


@pytest.mark.both_databases
async def test_who_has_stopped_all_mails_in_an_older_release_gets_none_of_a_new_kind(
    flagstaff: Flagstaff, ada: Caller, project: Json
) -> None:
    row = {"project_id": UUID(project["id"]), "account_id": UUID(ada.account["id"])}
    older = ("critical", "owned", "stale", "webhooks", "releases")
    async with flagstaff.database.transaction() as transaction:
        values = {**row, **dict.fromkeys(older, False)}
        await transaction.connection.execute(tables.notification_settings.insert(), values)
    assert (await ada.get(settings_path(project))).json() == dict.fromkeys(ALL, False)
    await choose(ada, project, owned=True)
    assert (await ada.get(settings_path(project))).json() == {**dict.fromkeys(ALL, False), "owned": True}


async def test_nobody_is_told_of_what_they_did_themselves_or_do_not_want(
    flagstaff: Flagstaff, ada: Caller, project: Json, grace: Caller, clock: Clock, read_new: ReadNew
) -> None:
    await choose(ada, project, **ALL)
    production, staging = await ada.get_environment(project), await ada.get_environment(project, "staging")
    await ada.create_flag(production, key="own")
    await grace.create_flag(staging, key="harmless")
    await grace.create_segment(project)
    await ada.create_flag(production, key="others")  # Grace has turned it off
    await choose(ada, project, critical=False)
    await deliver(flagstaff, clock)
    assert await read_new() == []


async def test_the_first_changes_of_a_new_project_are_told(
    flagstaff: Flagstaff, ada: Caller, sign_up: SignUp, clock: Clock, read_new: ReadNew
) -> None:
    project = await ada.create_project(name="New")
    await choose(ada, project, critical=True)
    grace = await sign_up("grace")
    await join(flagstaff, project, grace, "editor")
    await grace.create_flag(await ada.get_environment(project), key="first")
    await deliver(flagstaff, clock)
    (mail,) = await read_new()
    assert "first" in text_of(mail)


async def test_what_was_changed_before_such_mails_were_sent_is_not_told(
    flagstaff: Flagstaff, ada: Caller, sign_up: SignUp, clock: Clock, read_new: ReadNew
) -> None:
    project = await ada.create_project(name="Old")
    await choose(ada, project, critical=True)
    grace = await sign_up("grace")
    await join(flagstaff, project, grace, "editor")
    await grace.create_flag(await ada.get_environment(project), key="first")
    clock.advance(hours=2)
    await deliver(flagstaff, clock)
    assert await read_new() == []


async def test_changes_to_critical_environments_are_told_together(
    flagstaff: Flagstaff, ada: Caller, project: Json, grace: Caller, clock: Clock, read_new: ReadNew
) -> None:
    await choose(ada, project, critical=True)
    production, staging = await ada.get_environment(project), await ada.get_environment(project, "staging")
    flag = await grace.create_flag(production, name="Neue Käufe <b>", key="new-checkout")
    await grace.create_rule(flag)
    await grace.create_flag(staging, key="elsewhere")
    await grace.post(f"{flag_path(flag)}/toggle")
    await do_now(flagstaff, "notifications")
    assert await read_new() == []
    clock.advance(seconds=61)
    await do_now(flagstaff, "notifications", "notifications")
    (mail,) = await read_new()
    assert (mail["To"], mail["Subject"]) == ("ada@example.com", "[Flagstaff] 3 changes in production")
    text = text_of(mail)
    assert "- new-checkout: turned off in production" in text
    assert "by grace@example.com, in a critical environment" in text
    assert "Neue" not in text
    assert f"/environments/{production['id']}/flags/{flag['id']}" in text
    assert "because a critical environment of this project was changed" in text
    assert "elsewhere" not in text
    html = mail.get_body(("html",))
    assert html is not None
    assert "new-checkout: turned off in production" in html.get_content()
    assert mail.as_bytes().isascii()


@pytest.mark.parametrize("name", ["evil.example/prize?", "gewonnen-hier-klicken-é", "www.evil.example'"])
async def test_an_address_that_reads_as_something_else_is_in_no_mail(
    flagstaff: Flagstaff,
    ada: Caller,
    project: Json,
    sign_up: SignUp,
    clock: Clock,
    read_new: "ReadNew",
    name: str,
) -> None:
    flag = await ada.create_flag(await ada.get_environment(project), owner="ada@example.com")
    stranger = await sign_up(name)
    await join(flagstaff, project, stranger, "editor")
    await do_now(flagstaff, "notifications")
    await stranger.post(f"{flag_path(flag)}/toggle")
    await deliver(flagstaff, clock)
    (mail,) = await read_new()
    assert "  by a member, in a critical environment, " in text_of(mail)
    assert name not in mail.as_string()
    assert mail.as_bytes().isascii()


async def test_one_change_is_in_the_subject(
    flagstaff: Flagstaff, ada: Caller, project: Json, grace: Caller, clock: Clock, read_new: ReadNew
) -> None:
    flag = await ada.create_flag(await ada.get_environment(project), key="mine", owner=" ADA@example.com")
    await grace.post(f"{flag_path(flag)}/toggle")
    await deliver(flagstaff, clock)
    (mail,) = await read_new()
    assert mail["Subject"] == "[Flagstaff] mine: turned off in production"
    assert "because flags that you own were changed" in text_of(mail)


async def test_an_owner_is_told_of_rules_too(
    flagstaff: Flagstaff, ada: Caller, project: Json, grace: Caller, clock: Clock, read_new: ReadNew
) -> None:
    flag = await ada.create_flag(await ada.get_environment(project, "staging"), owner="ada@example.com")
    await grace.create_rule(flag)
    await deliver(flagstaff, clock)
    (mail,) = await read_new()
    assert mail["Subject"] == "[Flagstaff] new-checkout: rule created in staging"


async def test_who_has_left_gets_no_mail(
    flagstaff: Flagstaff, ada: Caller, project: Json, grace: Caller, clock: Clock, read_new: ReadNew
) -> None:
    await choose(grace, project, critical=True)
    await ada.create_flag(await ada.get_environment(project))
    await do_now(flagstaff, "notifications")
    assert (await ada.delete(f"{project_path(project)}/members/{grace.account['id']}")).status_code == 204
    clock.advance(seconds=61)
    await do_now(flagstaff, "notifications")
    assert await read_new() == []
    async with flagstaff.database.read() as connection:
        for table in (tables.notifications, tables.notification_settings):
            assert (await connection.execute(sa.select(table))).all() == []


async def test_an_hour_has_twenty_mails_at_most_and_the_next_one_has_what_waited(
    flagstaff: Flagstaff, ada: Caller, project: Json, grace: Caller, clock: Clock, read_new: ReadNew
) -> None:
    await choose(ada, project, critical=True)
    flag = await grace.create_flag(await ada.get_environment(project))
    for count in range(1, 25):
        await grace.post(f"{flag_path(flag)}/toggle")
        await deliver(flagstaff, clock)
        assert len(await read_new()) == min(count, 20)
    clock.advance(hours=1)
    await do_now(flagstaff, "notifications")
    mails = await read_new()
    assert len(mails) == 21
    assert sum("4 changes in production" in each["Subject"] for each in mails) == 1


@pytest.mark.both_databases
async def test_more_than_a_mail_shows_is_counted(
    flagstaff: Flagstaff, ada: Caller, project: Json, grace: Caller, clock: Clock, read_new: ReadNew
) -> None:
    await choose(ada, project, critical=True)
    environment = await ada.get_environment(project)
    flags = [await grace.create_flag(environment, key=f"flag-{number}") for number in range(30)]
    for action in ("disable", "enable"):
        body = {"action": action, "flags": [each["id"] for each in flags]}
        (await grace.post(f"{environment_path(environment)}/bulk-actions", json=body)).raise_for_status()
    await deliver(flagstaff, clock)
    (mail,) = await read_new()
    assert mail["Subject"] == "[Flagstaff] 90 changes in production"
    assert "and 40 more" in text_of(mail)


async def test_an_unsubscribe_link_asks_a_person_and_obeys_a_mail_program(
    flagstaff: Flagstaff, client: Caller, ada: Caller, project: Json, grace: Caller, clock: Clock, read_new: ReadNew
) -> None:
    await choose(ada, project, critical=True)
    await grace.create_flag(await ada.get_environment(project))
    await deliver(flagstaff, clock)
    (mail,) = await read_new()
    assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    link = mail["List-Unsubscribe"].strip("<>")
    path, _, query = link.partition("?")
    assert path.endswith("/auth/unsubscribe")
    assert f"/unsubscribe?{query}" in text_of(mail)
    opened = await client.get(f"/auth/unsubscribe?{query}")
    assert (opened.status_code, opened.headers["location"]) == (303, f"../unsubscribe?{query}")
    assert (await ada.get(settings_path(project))).json()["critical"] is True
    await grace.create_flag(await ada.get_environment(project, "production"), key="later")
    await do_now(flagstaff, "notifications")
    form = {"content-type": "application/x-www-form-urlencoded"}
    for _ in range(2):
        answer = await client.post(f"/auth/unsubscribe?{query}", content=b"List-Unsubscribe=One-Click", headers=form)
        assert answer.status_code == 204
    assert (await ada.get(settings_path(project))).json() == dict.fromkeys(ALL, False)
    clock.advance(seconds=61)
    await do_now(flagstaff, "notifications")
    assert len(await read_new()) == 1


@pytest.mark.parametrize("token", ["", "x", "A" * 64, "é" * 64, "A" * 63 + "=", "A" * 1025])
async def test_a_link_that_is_not_genuine_is_refused(client: Caller, token: str) -> None:
    answer = await client.post("/auth/unsubscribe", params={"token": token})
    assert answer.status_code == 400
    assert "token" in field_errors(answer) or "The link is incomplete" in answer.json()["detail"]


async def test_beyond_300_links_in_a_minute_an_address_must_wait(client: Caller, clock: Clock) -> None:
    answers = [await client.post("/auth/unsubscribe", params={"token": "guess"}) for _ in range(301)]
    assert [answer.status_code for answer in answers] == 300 * [400] + [429]
    assert int(answers[-1].headers["retry-after"]) > 0


@pytest.mark.both_databases
async def test_owners_of_stale_flags_are_reminded_once_a_week(
    flagstaff: Flagstaff, ada: Caller, project: Json, grace: Caller, clock: Clock, read_new: ReadNew
) -> None:
    environment = await ada.get_environment(project)
    await grace.create_flag(environment, key="old", name="Old banner", owner="grace@example.com")
    await grace.create_flag(environment, key="not-hers", owner="team-a")
    await do_now(flagstaff, "notices", "stale-reminders")
    assert await read_new() == []
    clock.advance(days=31)
    for days, count in ((0, 1), (6, 1), (2, 2)):
        clock.advance(days=days)
        await do_now(flagstaff, "notices", "notices", "stale-reminders")
        assert len(await read_new()) == count
    mail = (await read_new())[0]
    assert (mail["To"], mail["Subject"]) == ("grace@example.com", "[Flagstaff] A flag of yours may be removed")
    assert text_of(mail).splitlines()[4:6] == ["- old", "  in production"]
    assert "not-hers" not in text_of(mail)
    bearer = {"authorization": f"Bearer {await log_in(flagstaff, email='grace@example.com', password=PASSWORD)}"}
    (await grace.put(settings_path(project), json={"stale": False}, headers=bearer)).raise_for_status()
    clock.advance(days=8)
    await do_now(flagstaff, "notices", "stale-reminders")
    assert len(await read_new()) == 2


@pytest.mark.both_databases
async def test_a_reminder_that_the_mail_server_does_not_take_is_tried_again(
    flagstaff: Flagstaff, ada: Caller, project: Json, grace: Caller, clock: Clock, read_new: ReadNew
) -> None:
    await grace.create_flag(await ada.get_environment(project), owner="grace@example.com")
    clock.advance(days=31)
    folder = flagstaff.foundation.settings.data_dir / "outbox"
    folder.write_text("no folder")  # so that no mail can be written
    await do_now(flagstaff, "notices", "stale-reminders")
    folder.unlink()
    await do_now(flagstaff, "stale-reminders", "stale-reminders")
    assert len(await read_new()) == 1


@pytest.mark.both_databases
async def test_a_mail_that_a_process_died_with_is_sent_by_another(
    flagstaff: Flagstaff, ada: Caller, project: Json, grace: Caller, clock: Clock, read_new: ReadNew
) -> None:
    await choose(ada, project, critical=True)
    await grace.create_flag(await ada.get_environment(project))
    await do_now(flagstaff, "notifications")
    clock.advance(seconds=61)
    async with flagstaff.database.transaction() as transaction:
        await transaction.connection.execute(tables.notifications.update().values(held_until=clock()))
    await do_now(flagstaff, "notifications")
    assert await read_new() == []
    clock.advance(minutes=6)
    await do_now(flagstaff, "notifications")
    (mail,) = await read_new()
    assert mail["Subject"] == "[Flagstaff] new-checkout: flag created in production"


@pytest.mark.both_databases
async def test_who_lacks_a_demanded_second_factor_gets_no_mail(
    flagstaff: Flagstaff, ada: Caller, project: Json, grace: Caller, clock: Clock, read_new: ReadNew
) -> None:
    await choose(ada, project, critical=True)
    await grace.create_flag(await ada.get_environment(project))
    async with flagstaff.database.transaction() as transaction:
        await transaction.connection.execute(tables.projects.update().values(demands_second_factor=True))
    await deliver(flagstaff, clock)
    assert await read_new() == []


async def test_an_owner_is_told_that_a_flag_was_deleted(
    flagstaff: Flagstaff, ada: Caller, project: Json, grace: Caller, clock: Clock, read_new: ReadNew
) -> None:
    flag = await ada.create_flag(await ada.get_environment(project, "staging"), owner="ada@example.com")
    await do_now(flagstaff, "notifications")
    assert (await grace.delete(flag_path(flag))).status_code == 204
    await deliver(flagstaff, clock)
    (mail,) = await read_new()
    assert mail["Subject"] == "[Flagstaff] new-checkout: flag deleted in staging"


async def test_a_mail_that_the_server_does_not_take_is_tried_for_a_day(
    flagstaff: Flagstaff, ada: Caller, project: Json, grace: Caller, clock: Clock, read_new: ReadNew
) -> None:
    await choose(ada, project, critical=True)
    await grace.create_flag(await ada.get_environment(project))
    folder = flagstaff.foundation.settings.data_dir / "outbox"
    folder.write_text("no folder")  # so that no mail can be written
    await deliver(flagstaff, clock)
    folder.unlink()
    clock.advance(minutes=6)
    await do_now(flagstaff, "notifications")
    assert len(await read_new()) == 1


async def test_a_mail_that_the_server_does_not_take_does_not_count_as_one_that_the_account_got(
    flagstaff: Flagstaff, ada: Caller, project: Json, grace: Caller, clock: Clock, read_new: ReadNew
) -> None:
    await choose(ada, project, critical=True)
    async with flagstaff.database.transaction() as transaction:
        for _ in range(19):
            await record_mail(transaction.connection, UUID(ada.account["id"]), clock())
    await grace.create_flag(await ada.get_environment(project))
    folder = flagstaff.foundation.settings.data_dir / "outbox"
    folder.write_text("no folder")  # so that no mail can be written
    await deliver(flagstaff, clock)
    folder.unlink()
    clock.advance(minutes=6)
    await do_now(flagstaff, "notifications")
    assert len(await read_new()) == 1


@pytest.mark.both_databases
async def test_a_mail_beyond_the_limit_on_all_mails_waits_and_keeps_no_other_waiting(
    flagstaff: Flagstaff,
    ada: Caller,
    sign_up: SignUp,
    project: Json,
    grace: Caller,
    clock: Clock,
    read_new: ReadNew,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    linus = await sign_up("linus")
    await join(flagstaff, project, linus, "editor")
    for caller in (ada, linus):
        await choose(caller, project, critical=True)
    flag = await grace.create_flag(await ada.get_environment(project))
    await do_now(flagstaff, "notifications")
    async with flagstaff.database.transaction() as transaction:  # as of a guard
        waiting = tables.notifications.c
        of_linus = tables.notifications.update().where(waiting.account_id == UUID(linus.account["id"]))
        await transaction.connection.execute(of_linus.values(kind="releases", id=waiting.id + 1000))
    monkeypatch.setitem(mail_limits._SHARES, mail_limits.MailKind.NOTICE, 0.0)
    clock.advance(seconds=61)
    await do_now(flagstaff, "notifications")
    assert [each["To"] for each in await read_new()] == [linus.account["email"]]
    assert flagstaff.limits.mails.refused["notice"] == 1
    (await grace.post(f"{flag_path(flag)}/toggle")).raise_for_status()
    monkeypatch.undo()
    for _ in range(2):
        clock.advance(minutes=6)
        await do_now(flagstaff, "notifications")
    texts = {each["To"]: text_of(each) for each in await read_new()}
    assert texts.keys() == {ada.account["email"], linus.account["email"]}
    assert "created" in texts[ada.account["email"]]


@pytest.mark.both_databases
async def test_an_account_whose_mail_is_not_taken_stands_behind_others_until_it_is(
    flagstaff: Flagstaff,
    ada: Caller,
    sign_up: SignUp,
    project: Json,
    grace: Caller,
    clock: Clock,
    read_new: ReadNew,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A mailbox may be full for hours while the same server accepts the mails of others."""
    monkeypatch.setattr("flagstaff.notifications.notifier._MAILS_AT_ONCE", 1)
    linus = await sign_up("linus")
    await join(flagstaff, project, linus, "editor")
    for caller in (ada, linus):
        await choose(caller, project, critical=True)
    flag = await grace.create_flag(await ada.get_environment(project))
    folder = flagstaff.foundation.settings.data_dir / "outbox"
    folder.write_text("no folder")  # so that no mail can be written
    await deliver(flagstaff, clock)
    folder.unlink()
    async with flagstaff.database.read() as connection:
        held = sa.select(tables.notifications.c.account_id).where(tables.notifications.c.held_until.is_not(None))
        refused = ada if (await connection.execute(held)).scalar_one() == UUID(ada.account["id"]) else linus
    other = linus if refused is ada else ada
    (await grace.post(f"{flag_path(flag)}/toggle")).raise_for_status()
    await do_now(flagstaff, "notifications")
    assert [each["To"] for each in await read_new()] == [other.account["email"]]
    clock.advance(seconds=61)
    await do_now(flagstaff, "notifications", "notifications")
    assert len(await read_new()) == 1, "what is new waits for what is held"
    clock.advance(minutes=5)
    await do_now(flagstaff, "notifications")
    first, second = await read_new()
    assert second["To"] == refused.account["email"]
    assert first["Subject"] == second["Subject"] == "[Flagstaff] 2 changes in production"


async def test_what_was_not_tried_is_mailed_however_long_the_server_was_off(
    flagstaff: Flagstaff,
    ada: Caller,
    sign_up: SignUp,
    project: Json,
    grace: Caller,
    clock: Clock,
    read_new: ReadNew,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("flagstaff.notifications.notifier._MAILS_AT_ONCE", 1)
    linus = await sign_up("linus")
    await join(flagstaff, project, linus, "editor")
    for caller in (ada, linus):
        await choose(caller, project, critical=True)
    await grace.create_flag(await ada.get_environment(project))
    await do_now(flagstaff, "notifications")
    clock.advance(days=2)
    await do_now(flagstaff, "notifications", "notifications")
    assert {each["To"] for each in await read_new()} == {"ada@example.com", "linus@example.com"}


async def test_a_mail_is_not_tried_for_longer_than_a_day(
    flagstaff: Flagstaff, ada: Caller, project: Json, grace: Caller, clock: Clock, read_new: ReadNew
) -> None:
    await choose(ada, project, critical=True)
    await grace.create_flag(await ada.get_environment(project))
    folder = flagstaff.foundation.settings.data_dir / "outbox"
    folder.write_text("no folder")  # so that no mail can be written
    await deliver(flagstaff, clock)
    clock.advance(hours=24)
    await do_now(flagstaff, "notifications")
    folder.unlink()
    clock.advance(minutes=6)
    await do_now(flagstaff, "notifications")
    assert await read_new() == []


async def test_what_was_held_by_a_clock_that_was_ahead_is_tried_when_it_is_right_again(
    flagstaff: Flagstaff, ada: Caller, project: Json, grace: Caller, clock: Clock, read_new: ReadNew
) -> None:
    await choose(ada, project, critical=True)
    await grace.create_flag(await ada.get_environment(project))
    await do_now(flagstaff, "notifications")
    folder = flagstaff.foundation.settings.data_dir / "outbox"
    folder.write_text("no folder")  # so that no mail can be written
    clock.advance(hours=12)
    await do_now(flagstaff, "notifications")
    folder.unlink()
    clock.advance(hours=-11)
    await do_now(flagstaff, "notifications")
    assert len(await read_new()) == 1


@pytest.mark.both_databases
async def test_what_a_later_release_tells_waits_for_it(
    flagstaff: Flagstaff, ada: Caller, project: Json, grace: Caller, clock: Clock, read_new: ReadNew
) -> None:
    """A later release may serve from the same database at the same time, and have other reasons for mails."""
    await choose(ada, project, critical=True)
    account = UUID(ada.account["id"])
    row = {"project_id": UUID(project["id"]), "account_id": account, "kind": "later", "change": 0}
    async with flagstaff.database.transaction() as transaction:
        await add_waiting(transaction.connection, [{**row, "created_at": clock()}])
    await grace.create_flag(await ada.get_environment(project))
    await deliver(flagstaff, clock)
    assert [each["To"] for each in await read_new()] == ["ada@example.com"]
    async with flagstaff.database.read() as connection:
        left = (await connection.execute(sa.select(tables.notifications.c.kind))).scalars().all()
    assert left == ["later"]


async def test_what_waits_for_an_account_is_bounded(
    flagstaff: Flagstaff, ada: Caller, project: Json, grace: Caller, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flagstaff.notifications.notifier.WAITING_MAX", 3)
    await choose(ada, project, critical=True)
    flag = await grace.create_flag(await ada.get_environment(project))
    for _ in range(5):
        await grace.post(f"{flag_path(flag)}/toggle")
    await do_now(flagstaff, "notifications")
    async with flagstaff.database.read() as connection:
        assert len((await connection.execute(sa.select(tables.notifications))).all()) == 3


async def test_an_account_with_too_many_mails_does_not_hold_up_others(
    flagstaff: Flagstaff,
    ada: Caller,
    project: Json,
    grace: Caller,
    clock: Clock,
    read_new: ReadNew,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("flagstaff.notifications.notifier._MAILS_AT_ONCE", 1)
    for caller in (ada, grace):
        await choose(caller, project, critical=True)
    environment = await ada.get_environment(project)
    async with flagstaff.database.transaction() as transaction:
        for _ in range(20):
            await record_mail(transaction.connection, UUID(ada.account["id"]), clock())
    await grace.create_flag(environment)
    await do_now(flagstaff, "notifications")
    await ada.create_flag(environment, key="later")
    await deliver(flagstaff, clock)
    assert [each["To"] for each in await read_new()] == ["grace@example.com"]


async def test_whoever_made_a_release_is_told_when_it_needs_them_and_nobody_else_is(
    flagstaff: Flagstaff, ada: Caller, project: Json, grace: Caller, clock: Clock, read_new: ReadNew
) -> None:
    await choose(ada, project, critical=False)
    environment = await ada.get_environment(project)
    flag = await ada.create_flag(environment, key="mine")
    release = await create_release(grace, flag, {"after_seconds": 3600, "changes": {"rollout_percentage": 5}})
    await ada.post(f"{flag_path(flag)}/toggle")
    await until_state(grace, release, "paused")
    await deliver(flagstaff, clock)
    (mail,) = await read_new()
    assert (mail["To"], mail["Subject"]) == ("grace@example.com", "[Flagstaff] mine: release paused in production")
    assert "because you made the release or can resume it" in text_of(mail)
    await choose(grace, project, releases=False)
    await grace.post(f"{flag_path(flag)}/releases/{release['id']}/cancel")
    other = await ada.create_flag(environment, key="other")
    second = await create_release(grace, other, {"after_seconds": 0, "changes": {"rollout_percentage": 5}})
    await until_state(grace, second, "done")
    await deliver(flagstaff, clock)
    assert len(await read_new()) == 1


async def test_all_who_can_resume_a_release_are_told_that_its_author_lost_the_right(
    flagstaff: Flagstaff,
    ada: Caller,
    eve: Caller,
    project: Json,
    grace: Caller,
    clock: Clock,
    read_new: ReadNew,
    sign_up: SignUp,
) -> None:
    await join(flagstaff, project, eve, "editor")
    viewer = await sign_up("dan")
    await join(flagstaff, project, viewer, "viewer")
    environment = await ada.get_environment(project)
    flag = await ada.create_flag(environment, key="mine")
    release = await create_release(grace, flag, {"after_seconds": 3600, "changes": {"rollout_percentage": 5}})
    await do_now(flagstaff, "notifications")
    (await ada.put(member_path(project, grace), json={"role": "viewer"})).raise_for_status()
    await until_state(ada, release, "paused")
    await deliver(flagstaff, clock)
    mails = await read_new()
    assert {each["To"] for each in mails} == {"ada@example.com", "eve@example.com", "grace@example.com"}
    subject = "[Flagstaff] mine: release paused in production, because its author lost the right to it"
    assert {each["Subject"] for each in mails} == {subject}
    assert "it acts for whoever resumes it" in text_of(mails[0])
    assert "because you made the release or can resume it" in text_of(mails[0])


async def test_owners_and_the_author_are_told_that_a_release_cannot_be_watched_and_that_it_can_be_again(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, project: Json, grace: Caller, clock: Clock, read_new: ReadNew
) -> None:
    await join(flagstaff, project, eve, "admin")
    flag = await ada.create_flag(await ada.get_environment(project), key="mine")
    release = await create_release(grace, flag, {"after_seconds": 3600, "changes": {"rollout_percentage": 5}})
    await do_now(flagstaff, "notifications")
    watching = Watching(flagstaff.database, clock, lambda: clock().timestamp())
    watching.fail(UUID(release["id"]), Part.GUARDS, ValueError("a segment that cannot be read"))
    clock.advance(seconds=TOLD_AFTER_SECONDS)
    await watching.tell()
    told = "[Flagstaff] mine: the release cannot be watched in production"
    again = "[Flagstaff] mine: the release is watched again in production"
    for subject in (told, again):
        await deliver(flagstaff, clock)
        mails = await read_new()
        assert {(each["To"], each["Subject"]) for each in mails[-2:]} == {
            ("ada@example.com", subject),
            ("grace@example.com", subject),
        }
        if subject == told:
            async with flagstaff.database.read() as connection:
                present = await releases_store.find_release(connection, UUID(release["id"]))
            assert present is not None
            watching.succeed(present, Part.GUARDS)
            await watching.tell()
