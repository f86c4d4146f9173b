"""What webhooks of the instance are told of projects: contents only of those that share them or are the owner's."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.administration import account_path, change
from tests.support.api import Caller, Json, created, field_errors, flag_path, project_path
from tests.support.clock import Clock
from tests.support.members import join
from tests.support.receiver import Message, Receiver
from tests.support.two_factor import enrol
from tests.web.conftest import ReadMails, SignUp
from tests.web.webhooks.conftest import settle

HOOKS = "/api/admin/webhooks"
PREVIEW = f"{HOOKS}/preview"
SECRET_NAME = "Acquisition of Globex"
SHARED: Json = {"shares_contents": True}

pytestmark = [pytest.mark.both_databases, pytest.mark.usefixtures("root")]

Hook = Callable[..., Awaitable[Json]]


@pytest.fixture
def environ() -> dict[str, str]:
    """The networks that webhooks may reach."""
    return {"FLAGSTAFF_WEBHOOK_NETWORKS": "127.0.0.0/8"}


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    """A receiver."""
    async with Receiver() as started:
        yield started


@pytest.fixture
def hook(root: Caller, receiver: Receiver) -> Hook:
    """Create a webhook of the instance for the receiver."""

    async def create(caller: Caller = root, **values: Any) -> Json:
        return created(await caller.post(HOOKS, json={"url": receiver.url, "events": ["flag.*"], **values}))

    return create


@pytest.fixture
async def second(root: Caller, sign_up: SignUp) -> Caller:
    """Another administrator."""
    second = await sign_up("second")
    (await root.put(account_path(second), json={"administrator": True})).raise_for_status()
    return second


async def create_secret_flag(ada: Caller, project: Json, **values: Any) -> Json:
    """Create a flag whose name strangers must not read."""
    return await ada.create_flag(await ada.get_environment(project), key="globex", name=SECRET_NAME, **values)


async def newest(receiver: Receiver, count: int = 1) -> Message:
    """Wait for this number of messages, and return the last one."""
    return (await receiver.wait_for(count))[-1]


def tells_contents(message: Message) -> bool:
    """Return whether a message about the secret flag has its name; if not, it says so and has none of its contents."""
    data = message.json["data"]
    if SECRET_NAME in message.body.decode():
        assert data["withheld"] is False
        return True
    assert (data["withheld"], data["before"], data["after"]) == (True, None, None)
    return False


async def test_a_project_that_shares_nothing_is_told_by_type_keys_ids_actor_and_link_only(
    root: Caller, ada: Caller, hook: Hook, project: Json, receiver: Receiver
) -> None:
    await hook()
    flag = await create_secret_flag(ada, project, tags=["hush"])
    message = await newest(receiver)
    assert not tells_contents(message)
    data = message.json["data"]
    assert (message.type, data["flag_key"], data["resource_id"]) == ("flag.created", "globex", flag["id"])
    assert data["actor"]["email"] == ada.account["email"]
    assert data["environment"] == {"id": flag["environment_id"], "key": "production", "name": None, "critical": None}
    assert data["project"]["id"] == project["id"]
    assert data["link"].endswith(flag_path(flag).removeprefix("/api"))
    assert b"hush" not in message.body


@pytest.mark.parametrize("form", ["slack", "teams", "discord"])
async def test_a_chat_is_not_told_the_contents_either(
    ada: Caller, hook: Hook, project: Json, receiver: Receiver, form: str
) -> None:
    await hook(format=form)
    flag = await create_secret_flag(ada, project)
    assert SECRET_NAME not in (await newest(receiver)).body.decode()
    (await ada.put(flag_path(flag), json={"description": "We buy Globex in May"})).raise_for_status()
    assert "May" not in (await newest(receiver, 2)).body.decode()
    (await ada.post(f"{flag_path(flag)}/toggle")).raise_for_status()
    body = (await newest(receiver, 3)).body.decode()
    assert "switched the flag globex" in body
    assert "turned" not in body


async def test_a_filter_of_tags_does_not_find_out_the_tags_of_flags(
    flagstaff: Flagstaff, ada: Caller, hook: Hook, project: Json, receiver: Receiver
) -> None:
    await hook(tags=["hush"])
    await create_secret_flag(ada, project, tags=["hush"])
    await settle(flagstaff)
    (await ada.put(project_path(project), json=SHARED)).raise_for_status()
    await ada.create_flag(await ada.get_environment(project), key="open", tags=["hush"])
    assert (await newest(receiver)).json["data"]["flag_key"] == "open"


async def test_a_preview_shows_no_contents_either(root: Caller, ada: Caller, project: Json) -> None:
    await create_secret_flag(ada, project)
    found = (await root.post(PREVIEW, json={"events": ["*"]})).json()
    assert found["count"] > 1
    assert SECRET_NAME not in json.dumps(found)
    (await ada.put(project_path(project), json=SHARED)).raise_for_status()
    assert SECRET_NAME in (await root.post(PREVIEW, json={"events": ["flag.*"]})).text


async def test_a_preview_is_recorded_in_the_trail_of_the_instance(root: Caller, ada: Caller, project: Json) -> None:
    refused = await ada.post(PREVIEW, json={"events": ["*"]})
    assert refused.status_code == 403
    found = (await root.post(PREVIEW, json={"events": ["flag.*"], "format": "slack"})).json()
    trail = (await root.get("/api/admin/changes")).json()["items"]
    looked = [each for each in trail if each["action"] == "instance.webhook_previewed"]
    assert [each["actor"]["email"] for each in looked] == [root.account["email"]]
    after = looked[0]["after"]
    assert (after["events"], after["format"], after["examined"]) == (["flag.*"], "slack", found["examined"])


async def test_only_owners_and_admins_let_a_project_share_and_its_trail_shows_it(
    flagstaff: Flagstaff, root: Caller, ada: Caller, eve: Caller, sign_up: SignUp, project: Json
) -> None:
    editor, admin = await sign_up("ed"), await sign_up("adam")
    await join(flagstaff, project, editor, "editor")
    await join(flagstaff, project, admin, "admin")
    path = project_path(project)
    for caller, status in ((root, 404), (eve, 404), (editor, 403)):
        assert (await caller.put(path, json=SHARED)).status_code == status
    for wrong in (None, "yes", 1):
        assert field_errors(await ada.put(path, json={"shares_contents": wrong})).keys() == {"shares_contents"}
    assert (await ada.get(path)).json()["shares_contents"] is False
    for caller, value in ((admin, True), (ada, False)):
        assert (await caller.put(path, json={"shares_contents": value})).json()["shares_contents"] is value
        newest_change = (await ada.get(f"{path}/changes")).json()["items"][0]
        assert newest_change["action"] == "project.updated"
        assert newest_change["actor"]["email"] == caller.account["email"]
        assert newest_change["after"]["shares_contents"] is value


async def test_contents_are_told_while_the_project_shares_them(
    ada: Caller, hook: Hook, project: Json, receiver: Receiver
) -> None:
    await hook()
    (await ada.put(project_path(project), json=SHARED)).raise_for_status()
    flag = await create_secret_flag(ada, project)
    assert tells_contents(await newest(receiver))
    (await ada.put(project_path(project), json={"shares_contents": False})).raise_for_status()
    (await ada.post(f"{flag_path(flag)}/toggle")).raise_for_status()
    assert not tells_contents(await newest(receiver, 2))


async def test_contents_are_told_while_the_owner_is_a_member(
    flagstaff: Flagstaff, root: Caller, ada: Caller, hook: Hook, project: Json, receiver: Receiver
) -> None:
    await hook()
    await join(flagstaff, project, root, "viewer")
    flag = await create_secret_flag(ada, project)
    assert tells_contents(await newest(receiver))
    (await ada.delete(f"{project_path(project)}/members/{root.account['id']}")).raise_for_status()
    (await ada.post(f"{flag_path(flag)}/toggle")).raise_for_status()
    assert not tells_contents(await newest(receiver, 2))


async def test_a_member_without_the_second_factor_that_the_project_demands_reads_no_contents(
    flagstaff: Flagstaff, root: Caller, ada: Caller, hook: Hook, project: Json, receiver: Receiver, clock: Clock
) -> None:
    await hook()
    await join(flagstaff, project, root, "viewer")
    await enrol(ada, clock)
    (await ada.put(f"{project_path(project)}/security", json={"demands_second_factor": True})).raise_for_status()
    await create_secret_flag(ada, project)
    assert not tells_contents(await newest(receiver))


async def test_another_administrator_reads_no_contents_in_the_deliveries_of_a_members_webhook(
    flagstaff: Flagstaff, root: Caller, second: Caller, ada: Caller, hook: Hook, project: Json, receiver: Receiver
) -> None:
    webhook = await hook()
    await join(flagstaff, project, root, "viewer")
    await create_secret_flag(ada, project)
    assert tells_contents(await newest(receiver))
    await settle(flagstaff)
    path = f"{HOOKS}/{webhook['id']}/deliveries"
    (delivery,) = (await root.get(path)).json()["items"]
    assert SECRET_NAME in (await root.get(f"{path}/{delivery['id']}")).json()["body"]
    shown = (await second.get(f"{path}/{delivery['id']}")).json()["body"]
    assert (json.loads(shown)["data"]["withheld"], SECRET_NAME in shown) == (True, False)


async def test_whoever_leads_a_members_webhook_elsewhere_is_its_owner_and_gets_no_contents(
    flagstaff: Flagstaff, root: Caller, second: Caller, ada: Caller, hook: Hook, project: Json, receiver: Receiver
) -> None:
    webhook = await hook(url="https://hooks.invalid/", enabled=False)
    assert webhook["owner_id"] == root.account["id"]
    await join(flagstaff, project, root, "viewer")
    path = f"{HOOKS}/{webhook['id']}"
    taken = {"owner_id": root.account["id"], "url": receiver.url, "enabled": True}
    moved = (await second.put(path, json=taken)).json()
    assert moved["owner_id"] == second.account["id"]
    await create_secret_flag(ada, project)
    assert not tells_contents(await newest(receiver))


@pytest.mark.parametrize("loss", [{"active": False}, {"administrator": False}])
async def test_a_webhook_ends_with_the_right_of_its_owner_and_administrators_are_told(
    flagstaff: Flagstaff,
    root: Caller,
    second: Caller,
    ada: Caller,
    hook: Hook,
    receiver: Receiver,
    read_mails: ReadMails,
    loss: Json,
) -> None:
    project = await ada.create_project()
    webhook = await hook(second)
    (await root.put(account_path(second), json=loss)).raise_for_status()
    await create_secret_flag(ada, project)
    await settle(flagstaff)
    assert receiver.messages == []
    path = f"{HOOKS}/{webhook['id']}"
    found = (await root.get(path)).json()
    assert (found["enabled"], found["disabled_reason"]) == (False, "no_owner")
    recorded = [each["action"] for each in (await root.get("/api/admin/changes")).json()["items"]]
    assert "webhook.disabled" in recorded
    mails = [each for each in await read_mails() if each["subject"] == "A webhook has been turned off on Flagstaff"]
    assert [each["to"] for each in mails] == [root.account["email"]]
    assert "not an administrator any" in str(mails[0])
    adopted = (await root.put(path, json={"enabled": True})).json()
    assert (adopted["owner_id"], adopted["disabled_reason"]) == (root.account["id"], None)
    await ada.create_flag(await ada.get_environment(project), key="later")
    await settle(flagstaff)
    assert receiver.messages[-1].json["data"]["flag_key"] == "later"


async def test_a_webhook_ends_as_soon_as_its_owner_is_demoted_even_if_it_sends_nothing(
    flagstaff: Flagstaff, root: Caller, second: Caller, hook: Hook
) -> None:
    webhook = await hook(second, events=["webhook.deleted"])
    await change(root, second, administrator=False)
    await settle(flagstaff)
    assert (await root.get(f"{HOOKS}/{webhook['id']}")).json()["disabled_reason"] == "no_owner"
