"""Webhooks as a resource: /api/projects/{project_id}/webhooks and /api/admin/webhooks."""

from contextlib import AsyncExitStack

import pytest
import sqlalchemy as sa

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from tests.support.api import NO_IDS, Caller, Json, field_errors, project_path
from tests.support.members import join
from tests.support.receiver import Receiver
from tests.support.tokens import issue
from tests.web.conftest import ListChanges, SignUp
from tests.web.webhooks.conftest import Hook, hook_path, hooks_path

BODY: Json = {"url": "https://example.com/hook", "events": ["flag.*"]}
_NOT_PUBLIC = "which is not a public address; the operator can allow its network with FLAGSTAFF_WEBHOOK_NETWORKS"
MALFORMED: list[tuple[Json, dict[str, str]]] = [
    ({}, {"url": "is required", "events": "is required"}),
    ({**BODY, "url": "example.com"}, {"url": "must be a URL such as https://example.com/hooks"}),
    ({**BODY, "url": "ftp://example.com"}, {"url": "must be a URL such as https://example.com/hooks"}),
    ({**BODY, "url": "https://"}, {"url": "must be a URL such as https://example.com/hooks"}),
    ({**BODY, "url": "https://example.com:port"}, {"url": "must be a URL such as https://example.com/hooks"}),
    (
        {**BODY, "url": "https://ada:secret@example.com"},
        {"url": "must not have a name or password; receivers check the signature instead"},
    ),
    ({**BODY, "url": "https://exämple.com"}, {"url": "must be an ASCII URL without spaces and without a fragment"}),
    ({**BODY, "url": "https://example.com/a b"}, {"url": "must be an ASCII URL without spaces and without a fragment"}),
    ({**BODY, "url": "https://10.0.0.1/"}, {"url": f"leads to 10.0.0.1, {_NOT_PUBLIC}"}),
    ({**BODY, "url": "https://[::1]/"}, {"url": f"leads to ::1, {_NOT_PUBLIC}"}),
    ({**BODY, "url": "https://[::ffff:169.254.169.254]/"}, {"url": f"leads to 169.254.169.254, {_NOT_PUBLIC}"}),
    *(
        ({**BODY, "url": f"https://{spelling}/"}, {"url": f"leads to 10.0.0.1, {_NOT_PUBLIC}"})
        for spelling in ("10.1", "0x0a000001", "167772161", "012.0.0.1")
    ),
    (
        {**BODY, "url": "https://example.com:25/"},
        {"url": "has the port 25, which is not in FLAGSTAFF_WEBHOOK_PORTS; the operator can allow it"},
    ),
    ({**BODY, "url": f"https://example.com/{'x' * 2048}"}, {"url": "must have at most 2,048 characters"}),
    ({**BODY, "events": []}, {"events": "must have at least one event, such as flag.* or *"}),
    (
        {**BODY, "events": ["flag.toggle"]},
        {"events": "has 'flag.toggle', which is not a type of event; did you mean flag.toggled?"},
    ),
    (
        {**BODY, "events": ["account.registered"]},
        {"events": "has 'account.registered', which is not a type of event; did you mean flag.created?"},
    ),
    ({**BODY, "events": ["*", "*"]}, {"events": "must not have an event twice"}),
    ({**BODY, "events": ["*"] * 51}, {"events": "must have at most 50 items"}),
    ({**BODY, "environments": []}, {"environments": "must have at least one environment; leave it out for all"}),
    ({**BODY, "format": "irc"}, {"format": "must be 'standard', 'slack', 'teams' or 'discord'"}),
    ({**BODY, "enabled": "yes"}, {"enabled": "must be true or false"}),
]


@pytest.mark.both_databases
async def test_a_malformed_webhook_is_refused_at_its_field(ada: Caller, project: Json) -> None:
    for body, errors in MALFORMED:
        answer = await ada.post(hooks_path(project), json=body)
        if body.get("events") == ["account.registered"]:
            assert answer.status_code == 400
            assert "is not a type of event" in field_errors(answer)["events"]
        else:
            assert field_errors(answer) == errors, body
    assert (await ada.get(hooks_path(project))).json() == []


@pytest.mark.parametrize("environ", [{}])
async def test_http_is_refused_unless_the_operator_allows_networks(ada: Caller, project: Json) -> None:
    refused = await ada.post(hooks_path(project), json={**BODY, "url": "http://example.com/"})
    assert field_errors(refused) == {
        "url": "must begin with https://; http is sent only to networks in FLAGSTAFF_WEBHOOK_NETWORKS"
    }


async def test_only_who_manages_the_whole_project_sees_webhooks(
    flagstaff: Flagstaff, sign_up: SignUp, client: Caller, ada: Caller, eve: Caller, project: Json, hook: Hook
) -> None:
    webhook = await hook()
    editor = await sign_up("ed")
    await join(flagstaff, project, editor, "editor")
    for caller, status in ((client, 401), (eve, 404), (editor, 403)):
        for method, path, body in (
            ("GET", hooks_path(project), None),
            ("POST", hooks_path(project), BODY),
            ("GET", hook_path(webhook), None),
            ("PUT", hook_path(webhook), {"enabled": False}),
            ("DELETE", hook_path(webhook), None),
            ("POST", f"{hook_path(webhook)}/test", None),
            ("POST", f"{hook_path(webhook)}/rotate-secret", None),
            ("GET", f"{hook_path(webhook)}/deliveries", None),
            ("POST", f"{hook_path(webhook)}/deliveries/1/repeat", None),
            ("POST", f"{hook_path(webhook)}/repeat", {"from": "2026-11-20T10:00:00Z", "to": "2026-11-21T10:00:00Z"}),
        ):
            answer = await caller.request(method, path, json=body)
            assert answer.status_code == status, (method, path)
    assert (await ada.get(hook_path(webhook))).json()["enabled"] is True


async def test_a_webhook_of_another_project_is_none_of_this(ada: Caller, project: Json, hook: Hook) -> None:
    webhook = await hook()
    other = await ada.create_project(name="Other")
    for webhook_id in (*NO_IDS, webhook["id"]):
        path = f"{hooks_path(other)}/{webhook_id}"
        assert (await ada.get(path)).status_code == 404, webhook_id
        assert (await ada.delete(path)).status_code == 404, webhook_id
    assert (await ada.get(f"{hook_path(webhook)}/deliveries", params={"cursor": "x"})).status_code == 400
    assert (await ada.post(f"{hook_path(webhook)}/deliveries/x/repeat")).status_code == 404
    assert (await ada.post(f"{hook_path(webhook)}/deliveries/7/repeat")).status_code == 404


@pytest.mark.both_databases
async def test_the_secret_is_shown_once_and_stored_sealed(
    flagstaff: Flagstaff, ada: Caller, project: Json, receiver: Receiver, hook: Hook
) -> None:
    webhook = await hook(description="The deploy bot")
    secret = webhook["secret"]
    assert secret.startswith("whsec_")
    listed = (await ada.get(hooks_path(project))).json()
    assert [(each["url"], each["description"]) for each in listed] == [(receiver.url, "The deploy bot")]
    assert "secret" not in listed[0]
    async with flagstaff.database.read() as connection:
        stored = (await connection.execute(sa.select(tables.webhooks.c.secret))).scalar_one()
    assert secret.encode() not in stored
    rotated = (await ada.post(f"{hook_path(webhook)}/rotate-secret")).json()
    assert rotated["secret"] not in ("", secret)
    assert rotated["updated_at"] > webhook["updated_at"]


@pytest.mark.both_databases
async def test_fields_are_updated_with_the_tag_that_was_read(ada: Caller, project: Json, hook: Hook) -> None:
    webhook = await hook()
    tag = (await ada.get(hook_path(webhook))).headers["etag"]
    changed = {"events": ["rule.*"], "environments": ["production"], "tags": ["payments"], "format": "slack"}
    answer = await ada.put(hook_path(webhook), json=changed, headers={"if-match": tag})
    assert {name: answer.json()[name] for name in changed} == changed
    stale = await ada.put(hook_path(webhook), json={"enabled": False}, headers={"if-match": tag})
    assert stale.status_code == 412
    assert stale.json()["current"]["events"] == ["rule.*"]
    cleared = await ada.put(hook_path(webhook), json={"environments": None, "tags": None})
    assert (cleared.json()["environments"], cleared.json()["tags"]) == (None, None)
    again = await ada.put(hook_path(webhook), json=cleared.json())
    assert again.json()["updated_at"] == cleared.json()["updated_at"]
    assert (await ada.delete(hook_path(webhook), headers={"if-match": tag})).status_code == 412
    assert (await ada.delete(hook_path(webhook))).status_code == 204
    assert (await ada.get(hook_path(webhook))).status_code == 404


async def test_the_audit_trail_has_what_was_done_but_neither_url_nor_secret(
    ada: Caller, hook: Hook, list_changes: ListChanges, receiver: Receiver
) -> None:
    webhook = await hook()
    await ada.put(hook_path(webhook), json={"enabled": False})
    await ada.post(f"{hook_path(webhook)}/rotate-secret")
    await ada.delete(hook_path(webhook))
    changes = [each for each in await list_changes() if each["action"].startswith("webhook.")]
    assert [each["action"] for each in changes] == [
        "webhook.created",
        "webhook.updated",
        "webhook.secret_rotated",
        "webhook.deleted",
    ]
    assert changes[0]["after"]["host"] == f"127.0.0.1:{receiver.port}"
    assert "s3cret" not in str(changes)
    assert webhook["secret"] not in str(changes)


@pytest.mark.both_databases
@pytest.mark.parametrize(
    "environ", [{"FLAGSTAFF_WEBHOOK_NETWORKS": "127.0.0.0/8", "FLAGSTAFF_MAX_WEBHOOKS_PER_PROJECT": "2"}]
)
async def test_a_project_has_room_for_so_many_webhooks(ada: Caller, project: Json, hook: Hook) -> None:
    await hook()
    await hook()
    refused = await ada.post(hooks_path(project), json=BODY)
    assert refused.status_code == 409
    assert "FLAGSTAFF_MAX_WEBHOOKS_PER_PROJECT allows 2" in refused.json()["detail"]


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("permissions", "missing"),
    [
        (["keys:rotate", "audit:read"], ("webhooks:read", "webhooks:write")),
        (["webhooks:read", "webhooks:write"], ("audit:read", "audit:read")),
        (["webhooks:read", "audit:read"], (None, "webhooks:write")),
        (["webhooks:write", "audit:read"], ("webhooks:read", None)),
    ],
)
async def test_a_token_needs_the_permission_for_webhooks_and_that_for_the_audit_trail_which_is_sent(
    flagstaff: Flagstaff,
    ada: Caller,
    project: Json,
    hook: Hook,
    callers: AsyncExitStack,
    permissions: list[str],
    missing: tuple[str | None, str | None],
) -> None:
    webhook = await hook()
    machine = await issue(flagstaff, callers, f"{project_path(project)}/tokens", ada, "project:read", *permissions)
    reading = [
        await machine.get(hooks_path(project)),
        await machine.get(hook_path(webhook)),
        await machine.get(f"{hook_path(webhook)}/deliveries"),
        await machine.post(f"{hooks_path(project)}/preview", json={"events": ["*"]}),
    ]
    writing = [
        await machine.post(hooks_path(project), json=BODY),
        await machine.put(hook_path(webhook), json={"description": "The deploy bot"}),
        await machine.post(f"{hook_path(webhook)}/test"),
        await machine.post(f"{hook_path(webhook)}/rotate-secret"),
        await machine.delete(hook_path(webhook)),
    ]
    for answers, permission in zip((reading, writing), missing, strict=True):
        for answer in answers:
            if permission is None:
                assert answer.is_success, answer.text
            else:
                assert (answer.status_code, answer.json()["permission"]) == (403, permission)


async def test_a_key_is_not_rotated_with_the_permissions_for_webhooks(
    flagstaff: Flagstaff, ada: Caller, project: Json, callers: AsyncExitStack
) -> None:
    machine = await issue(
        flagstaff, callers, f"{project_path(project)}/tokens", ada, "project:read", "webhooks:read", "webhooks:write"
    )
    refused = await machine.post(f"{project_path(project)}/regenerate-key")
    assert (refused.status_code, refused.json()["permission"]) == (403, "keys:rotate")
