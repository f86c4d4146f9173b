"""Every operation that writes creates its event, as the facts of all operations say."""

from uuid import UUID

import pytest
import sqlalchemy as sa

from flagstaff.assembly.api import create_api
from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from flagstaff.hooks.webhooks import INSTANCE_EVENTS
from tests.support.api import created
from tests.support.description import described
from tests.support.operations import list_operations
from tests.support.receiver import Receiver
from tests.web.conftest import SignUp
from tests.web.test_matrix import make_place, operations

# An account's own choices, and repeated messages, are no changes that others could miss.
WITHOUT_EVENT = {
    "add_favourite",
    "remove_favourite",
    "update_notifications",
    "create_subscription",
    "delete_subscription",
}
# Comments are in no audit trail, unless another person deletes them.
WITHOUT_EVENT |= {"create_flag_comment", "create_release_comment", "create_change_comment"}
WITHOUT_EVENT |= {"update_comment", "delete_comment"}
WITHOUT_EVENT |= {"test_webhook", "repeat_webhook_delivery"}
WITHOUT_EVENT |= {"repeat_webhook_deliveries"}
# The matrix requests a state that these already have: otherwise nothing after them would be allowed.
WITHOUT_EVENT |= {"update_project_security"}
# Operations outside projects: the event of each, or None for a question, a new session, or an account's own choice.
OF_NO_PROJECT = {
    "register": "account.registered",
    "log_in": None,
    "log_in_with_second_factor": "account.recovery_code_used",
    "log_in_with_passkey": None,
    "begin_passkey_login": None,
    "log_out": None,
    "forgot_password": None,
    "reset_password": "account.password_reset",
    "request_email_verification": None,
    "verify_email": "account.email_verified",
    "change_password": "account.password_changed",
    "delete_own_account": "account.deleted",
    "delete_account": "account.deleted",
    "unsubscribe": None,
    "begin_sso": None,
    "complete_sso": "account.registered",
    "begin_totp": None,
    "confirm_totp": "account.totp_enabled",
    "disable_totp": "account.totp_disabled",
    "renew_recovery_codes": "account.recovery_codes_renewed",
    "begin_passkey": None,
    "register_passkey": "account.passkey_added",
    "remove_passkey": "account.passkey_removed",
    "end_session": "account.session_ended",
    "end_other_sessions": "account.session_ended",
    "open_invitation": None,
    "create_my_token": "account.token_created",
    "revoke_my_token": "account.token_deleted",
    "create_project": "project.created",
    "accept_invitation": "invitation.accepted",
    "update_account": "account.promoted",
    "end_account_session": "account.session_ended",
    "join_project": "member.joined",
    "delete_trail": "instance.trail_deleted",
    "update_settings": "instance.updated",
    "create_instance_webhook": "webhook.created",
    "update_instance_webhook": "webhook.updated",
    "delete_instance_webhook": "webhook.deleted",
    "rotate_instance_webhook_secret": "webhook.secret_rotated",
    "test_instance_webhook": None,
    "repeat_instance_webhook_delivery": None,
    "repeat_instance_webhook_deliveries": None,
}


def writing() -> dict[tuple[str, str], str]:
    """Return the names of the operations that state that they write, by method and path."""
    paths = described()["paths"]
    return {
        (method, path): paths[path][method.lower()]["operationId"]
        for method, path, operation in list_operations(create_api().routes)
        if not operation.reads
    }


async def count_messages(flagstaff: Flagstaff, webhook_id: str) -> int:
    query = sa.select(sa.func.count()).where(tables.webhook_deliveries.c.webhook_id == UUID(webhook_id))
    async with flagstaff.database.read() as connection:
        return int((await connection.execute(query)).scalar_one())


@pytest.mark.both_databases
async def test_every_operation_on_a_project_that_writes_makes_its_event(
    flagstaff: Flagstaff, sign_up: SignUp, receiver: Receiver
) -> None:
    root = await sign_up("root")
    place = await make_place(flagstaff, root, await sign_up("grace"))
    body = {"url": receiver.url, "events": ["*"]}
    webhook = created(await root.post("/api/admin/webhooks", json=body))
    writes, found = writing(), {}
    # Releases come first: a running one pauses by itself when its flag is changed.
    for operation in sorted(operations(), key=lambda each: "/releases" not in each[1]):
        method, path, description = operation
        before = await count_messages(flagstaff, webhook["id"])
        answer = await place.call(root, operation)
        assert answer.is_success, (path, answer.text)
        name = description["operationId"]
        found[name] = await count_messages(flagstaff, webhook["id"]) - before
        if (method.upper(), path) not in writes or name in WITHOUT_EVENT:
            assert found[name] == 0, name
        else:
            assert found[name] > 0, f"{name} made no event"
    assert found.keys() >= WITHOUT_EVENT


def test_every_other_operation_that_writes_has_its_event_in_this_table() -> None:
    of_no_project = {name for (_, path), name in writing().items() if "{project_id}" not in path}
    assert of_no_project == OF_NO_PROJECT.keys()
    assert {each for each in OF_NO_PROJECT.values() if each} <= set(INSTANCE_EVENTS)
