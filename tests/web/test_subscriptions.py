"""Subscriptions to flags, tags and environments, and the mails that they ask for."""

from uuid import UUID, uuid4

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from flagstaff.notifications.subscriptions import SUBSCRIPTIONS_MAX, Subscribed, SubscriptionKind, Target
from flagstaff.notifications.subscriptions_store import create_subscription
from tests.support.api import Caller, Json, created, environment_path, field_errors, flag_path, project_path
from tests.support.clock import Clock
from tests.support.jobs import do_now
from tests.support.mailbox import text_of
from tests.support.members import join
from tests.web.conftest import ReadMails, SignUp
from tests.web.test_notifications import ReadNew, choose, deliver, settings_path

ONE = "must have environment_id, or environment_id and flag_id, or tag alone"


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


def path_of(project: Json) -> str:
    return f"{project_path(project)}/subscriptions"


def to_flag(flag: Json) -> Json:
    return {"environment_id": flag["environment_id"], "flag_id": flag["id"]}


async def subscribe(caller: Caller, project: Json, **body: str) -> Json:
    return created(await caller.post(path_of(project), json=body))


async def test_others_find_no_subscriptions(client: Caller, ada: Caller, eve: Caller, project: Json) -> None:
    subscription = await subscribe(ada, project, tag="beta")
    one = f"{path_of(project)}/{subscription['id']}"
    assert (await client.get("/api/me/subscriptions")).status_code == 401
    for caller, status in ((client, 401), (eve, 404)):
        assert (await caller.get(path_of(project))).status_code == status
        assert (await caller.post(path_of(project), json={"tag": "x"})).status_code == status
        assert (await caller.delete(one)).status_code == status
    assert (await eve.get("/api/me/subscriptions")).json() == []


async def test_a_subscription_of_another_member_is_not_found(ada: Caller, grace: Caller, project: Json) -> None:
    subscription = await subscribe(ada, project, tag="beta")
    assert (await grace.delete(f"{path_of(project)}/{subscription['id']}")).status_code == 404
    assert (await grace.get(path_of(project))).json() == []
    assert (await ada.get(path_of(project))).json() == [subscription]


async def test_what_is_malformed_or_does_not_exist_is_refused(ada: Caller, eve: Caller, project: Json) -> None:
    foreign = await eve.create_flag()
    for body in (
        {},
        {"flag_id": str(uuid4())},
        {**to_flag(foreign), "tag": "x"},
        {"tag": "x", "environment_id": str(uuid4())},
    ):
        assert ONE in str(field_errors(await ada.post(path_of(project), json=body)).values())
    assert "tag" in field_errors(await ada.post(path_of(project), json={"tag": " "}))
    for body in (to_flag(foreign), {"environment_id": foreign["environment_id"]}):
        assert (await ada.post(path_of(project), json=body)).status_code == 404
    assert (await ada.get(path_of(project))).json() == []


async def test_subscriptions_are_listed_and_the_same_one_is_made_once(
    ada: Caller, grace: Caller, project: Json
) -> None:
    flag = await ada.create_flag(await ada.get_environment(project))
    of_flag = await subscribe(grace, project, **to_flag(flag))
    of_environment = await subscribe(grace, project, environment_id=flag["environment_id"])
    of_tag = await subscribe(grace, project, tag="beta")
    assert await subscribe(grace, project, **to_flag(flag)) == of_flag
    assert await subscribe(grace, project, tag="beta") == of_tag
    assert of_flag == {
        "id": of_flag["id"],
        "project_id": project["id"],
        "project": project["name"],
        "kind": "flag",
        "environment_id": flag["environment_id"],
        "environment": "production",
        "flag_key": flag["key"],
        "flag_id": flag["id"],
        "tag": None,
        "created_at": of_flag["created_at"],
    }
    assert (await grace.get("/api/me/subscriptions")).json() == [of_tag, of_environment, of_flag]
    for each in (of_tag, of_flag):
        assert (await grace.delete(f"{path_of(project)}/{each['id']}")).status_code == 204
        assert (await grace.delete(f"{path_of(project)}/{each['id']}")).status_code == 404
    assert (await grace.get(path_of(project))).json() == [of_environment]
    (await ada.delete(environment_path({"project_id": project["id"], "id": flag["environment_id"]}))).raise_for_status()
    assert (await grace.get(path_of(project))).json() == []


@pytest.mark.both_databases
async def test_a_subscriber_of_a_flag_is_told_of_its_changes_and_of_its_deletion_and_of_no_other(
    flagstaff: Flagstaff, ada: Caller, project: Json, grace: Caller, clock: Clock, read_new: ReadNew
) -> None:
    environment = await ada.get_environment(project)
    flag, other = [await ada.create_flag(environment, key=key) for key in ("mine", "other")]
    await do_now(flagstaff, "notifications")
    await subscribe(grace, project, **to_flag(flag))
    for each in (flag, other):
        await ada.create_rule(each)
        (await ada.post(f"{flag_path(each)}/archive")).raise_for_status()
        assert (await ada.delete(flag_path(each))).status_code == 204
    await deliver(flagstaff, clock)
    (mail,) = await read_new()
    assert (mail["To"], mail["Subject"]) == ("grace@example.com", "[Flagstaff] 3 changes in production")
    assert "- mine: flag deleted in production" in text_of(mail)
    assert "because you have subscribed to these changes" in text_of(mail)
    assert "other" not in text_of(mail).replace("others", "")
    (subscription,) = (await grace.get(path_of(project))).json()
    assert (subscription["flag_key"], subscription["flag_id"]) == ("mine", None)


async def test_subscribers_of_a_tag_and_of_an_environment_are_told(
    flagstaff: Flagstaff, ada: Caller, project: Json, grace: Caller, sign_up: SignUp, clock: Clock, read_new: ReadNew
) -> None:
    linus = await sign_up("linus")
    await join(flagstaff, project, linus, "editor")
    staging, production = await ada.get_environment(project, "staging"), await ada.get_environment(project)
    await subscribe(grace, project, tag="payments")
    await subscribe(linus, project, environment_id=production["id"])
    tagged = await ada.create_flag(staging, key="tagged", tags=["payments"])
    await ada.create_flag(staging, key="plain")
    await ada.create_flag(production, key="live")
    await ada.create_segment(project)  # takes effect in every environment
    await deliver(flagstaff, clock)
    mails = {each["To"]: text_of(each) for each in await read_new()}
    assert mails.keys() == {"grace@example.com", "linus@example.com"}
    assert "- tagged: flag created in staging" in mails["grace@example.com"]
    assert mails["grace@example.com"].count("\n- ") == 1
    assert "- live: flag created in production" in mails["linus@example.com"]
    assert "- segment created" in mails["linus@example.com"]
    assert mails["linus@example.com"].count("\n- ") == 2
    (await ada.put(flag_path(tagged), json={"tags": ["other"]})).raise_for_status()
    (await ada.put(flag_path(tagged), json={"tags": []})).raise_for_status()  # no longer in their project
    await deliver(flagstaff, clock)
    *before, mail = await read_new()
    assert len(before) == 2
    assert mail["To"] == "grace@example.com"
    assert text_of(mail).count("\n- ") == 1


async def test_a_change_is_told_once_however_many_reasons_there_are_and_never_to_whoever_made_it(
    flagstaff: Flagstaff, ada: Caller, project: Json, grace: Caller, clock: Clock, read_new: ReadNew
) -> None:
    environment = await ada.get_environment(project)
    flag = await ada.create_flag(environment, tags=["beta"], owner="grace@example.com")
    await deliver(flagstaff, clock)
    await choose(grace, project, critical=True)
    for caller in (ada, grace):
        await subscribe(caller, project, **to_flag(flag))
        await subscribe(caller, project, tag="beta")
        await subscribe(caller, project, environment_id=environment["id"])
    (await ada.post(f"{flag_path(flag)}/toggle")).raise_for_status()
    await deliver(flagstaff, clock)
    _, mail = await read_new()
    assert (mail["To"], text_of(mail).count("\n- ")) == ("grace@example.com", 1)
    assert "because flags that you own were changed." in text_of(mail)


@pytest.mark.both_databases
async def test_an_unsubscribe_link_stops_such_mails_until_the_next_subscription(
    flagstaff: Flagstaff, client: Caller, ada: Caller, project: Json, grace: Caller, clock: Clock, read_new: ReadNew
) -> None:
    flag = await ada.create_flag(await ada.get_environment(project))
    await do_now(flagstaff, "notifications")
    await subscribe(grace, project, **to_flag(flag))
    (await ada.post(f"{flag_path(flag)}/toggle")).raise_for_status()
    await deliver(flagstaff, clock)
    (mail,) = await read_new()
    link = mail["List-Unsubscribe"].strip("<>")
    assert (await client.post(link[link.index("/auth") :])).status_code == 204
    (await ada.post(f"{flag_path(flag)}/toggle")).raise_for_status()
    await deliver(flagstaff, clock)
    assert len(await read_new()) == 1
    await subscribe(grace, project, **to_flag(flag))
    wanted = (await grace.get(settings_path(project))).json()
    assert (wanted["subscribed"], wanted["owned"]) == (True, False)
    (await ada.post(f"{flag_path(flag)}/toggle")).raise_for_status()
    await deliver(flagstaff, clock)
    assert len(await read_new()) == 2


@pytest.mark.both_databases
async def test_an_account_has_a_bounded_number_of_subscriptions_in_a_project(
    flagstaff: Flagstaff, ada: Caller, project: Json, clock: Clock
) -> None:
    account_id, project_id = UUID(ada.account["id"]), UUID(project["id"])
    async with flagstaff.database.transaction() as transaction:
        for number in range(SUBSCRIPTIONS_MAX):
            subscribed = Subscribed(Target(SubscriptionKind.TAG, name=f"tag-{number}"), account_id)
            await create_subscription(transaction.connection, uuid4(), project_id, subscribed, clock())
    refused = await ada.post(path_of(project), json={"tag": "one-more"})
    assert (refused.status_code, "There are 200 subscriptions of yours" in refused.json()["detail"]) == (409, True)
    assert (await ada.post(path_of(project), json={"tag": "tag-0"})).status_code == 201


@pytest.mark.both_databases
async def test_a_kind_of_subscription_that_only_a_later_release_knows_is_left_to_it(
    flagstaff: Flagstaff, ada: Caller, project: Json, grace: Caller, clock: Clock, read_new: ReadNew
) -> None:
    """A later release may serve from the same database at the same time."""
    flag = await ada.create_flag(await ada.get_environment(project), tags=["beta"])
    await do_now(flagstaff, "notifications")
    known = await subscribe(grace, project, tag="beta")
    row = {"id": uuid4(), "project_id": UUID(project["id"]), "account_id": UUID(grace.account["id"]), "name": "beta"}
    async with flagstaff.database.transaction() as transaction:
        await transaction.connection.execute(
            tables.subscriptions.insert(), {**row, "kind": "later", "created_at": clock()}
        )
    for path in (path_of(project), "/api/me/subscriptions"):
        assert (await grace.get(path)).json() == [known]
    (await ada.post(f"{flag_path(flag)}/toggle")).raise_for_status()
    await deliver(flagstaff, clock)
    assert [each["To"] for each in await read_new()] == ["grace@example.com"]
