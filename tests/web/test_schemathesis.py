"""Every operation of the OpenAPI document, called with input that the document allows and forbids.

There must be no crash, no undocumented status, media type or shape, and no forbidden input may be accepted.
"""

import asyncio
from collections.abc import Iterator
from copy import deepcopy
from typing import Any, cast

import httpx
import pytest
import requests
import schemathesis
from schemathesis.schemas import BaseSchema
from schemathesis.specs.openapi.checks import (
    allow_header_conformance,
    ignored_auth,
    negative_data_rejection,
    positive_data_acceptance,
    unsupported_method,
)

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.identity.accounts.passwords import Passwords
from flagstaff.settings import Settings
from tests.support.api import BASE_URL, Caller, Json, created, flag_path
from tests.support.description import STREAMS, described
from tests.support.documents import encoded_headers, load, operation_ids, try_operation
from tests.support.sessions import log_in

EXAMPLES = 10
EMAIL, PASSWORD = "ada@example.com", "correct horse"
# Operations whose 400 may have a reason that a schema cannot express.
BEYOND_SCHEMAS = {
    "list_project_changes": "the actor is an id or an email, the cursor is one from a page",
    "export_project_changes": "the actor is an id or an email, the environment an id or a key",
    "list_my_changes": "the cursor is one from a page",
    "list_projects": "the cursor is one from a part",
    "list_environments": "the cursor is one from a part",
    "list_segments": "the cursor is one from a part",
    "list_project_flags": "the cursor is one from a part",
    "list_flags": "the cursor is one from a part",
    "list_rules": "the cursor is one from a part",
    "list_environment_rules": "the cursor is one from a part",
    "register": "the password is not among the most common",
    "begin_totp": "the current password is the account's",
    "disable_totp": "the current password is the account's; there is one proof",
    "renew_recovery_codes": "the current password is the account's",
    "begin_passkey": "the current password is the account's",
    "register_passkey": "the credential is one that a browser has made",
    "remove_passkey": "the current password is the account's",
    "log_in_with_passkey": "the credential is one that a browser has made",
    "begin_sso": "the page to return to is a path of this site",
    "complete_sso": "the answer is a provider's",
    "confirm_totp": "the code is the app's",
    "log_in_with_second_factor": "there is one proof, and it is right",
    "change_password": "the current password is the account's",
    "delete_own_account": "the current password is the account's; there is one proof",
    "verify_email": "the token is one from a mail",
    "reset_password": "the token is one from a mail",
    "update_environment": "the key is the present one; the days of history are at most the server's",
    "update_project": "the days of history are at most the server's",
    "order_environments": "the ids are those of all environments of the project",
    "create_segment": "the values of a condition fit its operator",
    "update_segment": "the key is the present one; the values of a condition fit its operator",
    "list_metrics": "the cursor is one from a part",
    "update_metric": "the key and the kind are the present ones",
    "list_releases": "the cursor is one from a part",
    "list_open_releases": "the cursor is one from a part",
    "list_flag_comments": "the cursor is one from a part",
    "list_release_comments": "the cursor is one from a part",
    "list_change_comments": "the cursor is one from a part",
    "create_subscription": "what to subscribe to is a flag, an environment or a tag",
    "open_invitation": "the token is one from a mail",
    "create_release": "steps are in the future and in order, and what they name exists",
    "preview_release_outlook": "steps are in the future and in order, and what they name exists",
    "schedule_flags": "the time is in the future, and the flags and what changes name exist",
    "send_events": "a time has a form that is known; numbers fit",
    "update_flag": "the key is the present one; 40.0 is an integer to a schema, but not here; prerequisites exist",
    "create_flag": "40.0 is an integer to a schema, but not here; prerequisites exist",
    "create_rule": "the value fits the type of the rule, the values of a condition its operator",
    "update_rule": "the value fits the type of the rule, the values of a condition its operator",
    "explain": "flags, segments and rules that are named exist; the values of a condition fit its operator",
    "compare_environments": "the environments exist, and the cursor is one from a part",
    "copy_flags": "the environments and the flags exist",
    "change_flags": "tags are given if, and only if, they are added or removed",
    "create_flags": "40.0 is an integer to a schema, but not here; environments and prerequisites exist",
    "create_environment": "the environment to copy from exists",
    "answer_users": "the environments and the flags exist",
    "list_answers": "40.0 is an integer to a schema, but not here",
    "preview_impact": "the key is the present one; flags, segments and rules that are named exist",
    "update_member": "the environments exist; an owner has no role of its own in any",
    "create_invitation": "the environments exist; the address is not the caller's",
    "list_accounts": "the cursor is one from a part",
    "list_all_projects": "the cursor is one from a part",
    "list_deleted_projects": "the cursor is one from a part",
    "list_instance_changes": "the cursor is one from a page",
    "create_pinned_chart": "the environments and the flag exist, and it is compared with one thing",
    "update_pinned_chart": "the other environment exists, and it is compared with one thing",
    "create_sdk_key": "the environment exists, the expiry is in the future, and origins are as browsers send them",
    "update_sdk_key": "origins are as browsers send them",
    "create_token": "the environments exist, and the expiry is in the future",
    "create_my_token": "the environments exist, and the expiry is in the future",
    "accept_invitation": "the token is one from a mail",
    "list_changes": "the cursor is one from a page",
    "list_callers": "the time is from 1970 to 2999",
    "list_evaluations": "the cursor is one from a page",
    "list_flag_evaluations": "the cursor is one from a page",
    "list_events": "the cursor is one from a page",
    "preview_erasure": "the user is named",
    "erase_user": "the user is named, and the confirmation is from a preview",
    "export_user": "the user is named",
    "find_causes": "the key is one of the flags in the evaluations, as those have it",
    "list_answer_changes": "the user is named, the cursor is one from a page",
    "list_reports": "the time is at most 92 days",
    "chart_request_metric": "the time is at most seven days",
    "list_flag_reports": "the time is at most 92 days",
    "create_webhook": "the types of events exist, and the address is a public one",
    "update_webhook": "the types of events exist, and the address is a public one",
    "list_webhook_deliveries": "the cursor is one from a page",
    "preview_webhook": "the types of events are known",
    "preview_instance_webhook": "the types of events are known",
    "unsubscribe": "the token is from a mail",
    "repeat_webhook_deliveries": "the end is after the start",
    "create_instance_webhook": "the types of events exist, and the address is a public one",
    "update_instance_webhook": "the types of events exist, and the address is a public one",
    "list_instance_webhook_deliveries": "the cursor is one from a page",
    "repeat_instance_webhook_deliveries": "the end is after the start",
    "summarise_changes": "the interval divides the time into few enough parts",
    "summarise_evaluations": "the interval divides the time into few enough parts",
    "summarise_flag_evaluations": "the time is at most 31 days",
}

DOCUMENT = described()


class Service:
    """The running service, with a signed-in user and resources that requests can name."""

    def __init__(self, runner: asyncio.Runner, caller: Caller, anybody: Caller) -> None:
        self._runner = runner
        self._caller = caller
        self._anybody = anybody
        self._ids: Json | None = None
        self._sdk_key = ""

    def send(self, case: schemathesis.Case[Any]) -> None:
        """Send a case, with real ids and credentials for valid ones, and check the answer against the document."""
        ids = self._resources()
        positive = case.meta is None or case.meta.generation.mode.is_positive
        if positive and case.path_parameters:
            case.path_parameters = {name: ids.get(name, value) for name, value in case.path_parameters.items()}
        credentials = {"Authorization": f"Bearer {self._caller.token}", "X-SDK-Key": self._sdk_key}
        if case.headers.get("Flagstaff-Min-Revision", "").isdecimal():
            case.headers["Flagstaff-Min-Revision"] = "1"  # an existing revision, since any other is a 503
        if positive and "If-Match" in case.headers:
            case.headers["If-Match"] = "*"  # any state, since a specific one is a 412
        # Only if the case has credentials: it may test a request without any.
        headers = {name: value for name, value in credentials.items() if name in case.headers}
        sent = case.as_transport_kwargs(base_url=BASE_URL, headers=headers)
        answer = self._runner.run(self._exchange(requests.Request(**{**sent, "cookies": None}).prepare()))
        if case.method == "DELETE" and answer.status_code == 204:
            self._ids = None
        if case.operation.definition.raw["operationId"] == "log_out" and answer.status_code == 204:
            self._sign_in()
        if case.operation.path.endswith("/webhooks") and answer.status_code == 201:
            self._delete_webhook(answer)
        excluded = [ignored_auth]  # it would repeat the request; other tests call every operation without a token
        if case.operation.definition.raw["operationId"] in BEYOND_SCHEMAS:
            excluded.append(positive_data_acceptance)
        if case.operation.path.endswith(("/webhooks/preview", "/erasures/preview", "/environments/order")):
            excluded += [allow_header_conformance, unsupported_method]  # its path is also that of a resource, by its id
        if answer.status_code == 413:
            excluded.append(negative_data_rejection)  # it does not know that this is a refusal, too
        case.validate_response(answer, headers=headers, transport_kwargs=sent, excluded_checks=excluded)

    async def _exchange(self, request: requests.PreparedRequest) -> httpx.Response:
        assert request.method
        assert request.url
        body = cast("bytes", request.body or b"")
        headers = encoded_headers(request)
        return await self._anybody.request(request.method, request.url, headers=headers, content=body)

    def _sign_in(self) -> None:
        credentials = {"email": EMAIL, "password": PASSWORD}
        answer = self._runner.run(self._anybody.post("/auth/login", json=credentials))
        self._caller.token = answer.json()["token"]
        self._caller.headers["authorization"] = f"Bearer {self._caller.token}"

    def _delete_webhook(self, created: httpx.Response) -> None:
        """Delete a new webhook: sending to all of them after each change would take a seventh of the processor time."""
        self._runner.run(self._caller.delete(f"{created.request.url.path}/{created.json()['id']}"))

    def _resources(self) -> Json:
        if self._ids is None:
            self._ids = self._runner.run(self._create())
        return self._ids

    async def _create(self) -> Json:
        project = await self._caller.create_project()
        self._sdk_key = project["sdk_key"]
        flag = await self._caller.create_flag(await self._caller.get_environment(project))
        rule = await self._caller.create_rule(flag)
        segment = await self._caller.create_segment(project)
        return {
            "segment_id": segment["id"],
            "flag_key": flag["key"],
            "project_id": project["id"],
            "env_id": flag["environment_id"],
            "flag_id": flag["id"],
            "rule_id": rule["id"],
            "release_id": created(
                await self._caller.post(
                    f"{flag_path(flag)}/releases",
                    json={"steps": [{"after_seconds": 86_400, "changes": {"enabled": True}}]},
                )
            )["id"],
            "chart_id": created(
                await self._caller.post(
                    f"/api/projects/{project['id']}/pinned-charts",
                    json={"name": "Checkout", "environment_id": flag["environment_id"]},
                )
            )["id"],
            "metric_id": created(
                await self._caller.post(
                    f"/api/projects/{project['id']}/metrics",
                    json={"key": "errors", "name": "Errors", "kind": "binary", "better": "down"},
                )
            )["id"],
        }


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, light_passwords: Passwords) -> Iterator[Service]:
    """The service on SQLite, without limits."""
    off = {
        f"FLAGSTAFF_{name}_RATE_LIMIT": "off"
        for name in ("EVALUATE", "REGISTER", "LOGIN", "LOGIN_FAILURE", "RESET", "API")
    }
    chosen = Settings.load({"FLAGSTAFF_DATA_DIR": str(tmp_path_factory.mktemp("attacked")), **off})
    with asyncio.Runner() as runner:
        flagstaff = Flagstaff(chosen, passwords=light_passwords)

        async def start() -> str:
            await flagstaff.start()
            await flagstaff.identity.accounts.register(email=EMAIL, password=PASSWORD)
            return await log_in(flagstaff, email=EMAIL, password=PASSWORD)

        try:
            token = runner.run(start())
            yield Service(runner, Caller(flagstaff.edge.asgi, token=token), Caller(flagstaff.edge.asgi))
        finally:
            runner.run(flagstaff.stop())


@pytest.fixture(scope="module")
def schema() -> BaseSchema:
    """The document."""
    return load(deepcopy(DOCUMENT))


@pytest.mark.parametrize("operation_id", [each for each in operation_ids(DOCUMENT) if each not in STREAMS])
def test_it_answers_as_the_document_says(operation_id: str, schema: BaseSchema, service: Service) -> None:
    try_operation(schema, operation_id, service.send, examples=EXAMPLES)
