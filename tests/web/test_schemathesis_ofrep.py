"""Both operations of the description of OFREP, called with input that it allows and forbids.

There must be no crash, no undocumented status, media type or shape, and no forbidden input may be accepted.
"""

import asyncio
import json
from collections.abc import Iterator
from typing import Any, cast

import pytest
import requests
import schemathesis
from schemathesis.specs.openapi.checks import ignored_auth

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.identity.accounts.passwords import Passwords
from flagstaff.serving.ofrep.description import describe_ofrep
from flagstaff.settings import Settings
from tests.support.api import BASE_URL, Caller
from tests.support.documents import encoded_headers, load, operation_ids, try_operation
from tests.support.sdk_keys import KeyMaker
from tests.support.sessions import log_in

EXAMPLES = 100
EMAIL, PASSWORD = "ada@example.com", "correct horse"
VARIANTS = ("blue", 7, 1.5, False, {"shade": "dark"})

DOCUMENT = json.loads(describe_ofrep())


class Service:
    """The running service, with flags of every type and a key of their environment."""

    def __init__(self, runner: asyncio.Runner, anybody: Caller, sdk_key: str) -> None:
        self._runner = runner
        self._anybody = anybody
        self._credentials = {"Authorization": f"Bearer {sdk_key}", "X-API-Key": sdk_key}

    def send(self, case: schemathesis.Case[Any]) -> None:
        """Send a case, with a real flag and credentials in place of valid ones, and check the answer."""
        if case.path_parameters and (case.meta is None or case.meta.generation.mode.is_positive):
            case.path_parameters = {"key": f"flag-{len(case.path_parameters['key']) % len(VARIANTS)}"}
        if case.headers.get("Flagstaff-Min-Revision", "").isdecimal():
            case.headers["Flagstaff-Min-Revision"] = "1"  # an existing revision, since any other is a 503
        # Only if the case has credentials: it may test a request without any.
        headers = {name: value for name, value in self._credentials.items() if name in case.headers}
        sent = case.as_transport_kwargs(base_url=BASE_URL, headers=headers)
        request = requests.Request(**{**sent, "cookies": None}).prepare()
        assert request.method
        assert request.url
        given, content = encoded_headers(request), cast("bytes", request.body or b"")
        answer = self._runner.run(self._anybody.request(request.method, request.url, headers=given, content=content))
        # `ignored_auth` would repeat the request; tests/web/ofrep sends requests without a key.
        case.validate_response(answer, headers=headers, transport_kwargs=sent, excluded_checks=[ignored_auth])


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, light_passwords: Passwords) -> Iterator[Service]:
    """The service on SQLite."""
    chosen = Settings.load({"FLAGSTAFF_DATA_DIR": str(tmp_path_factory.mktemp("ofrep"))})
    with asyncio.Runner() as runner:
        flagstaff = Flagstaff(chosen, passwords=light_passwords)

        async def start() -> str:
            await flagstaff.start()
            account = await flagstaff.identity.accounts.register(email=EMAIL, password=PASSWORD)
            token = await log_in(flagstaff, email=EMAIL, password=PASSWORD)
            ada = Caller(flagstaff.edge.asgi, token=token, account={"id": str(account.id), "email": EMAIL})
            environment = await ada.get_environment(await ada.create_project())
            for place, value in enumerate(VARIANTS):
                variants = [{"key": "a", "weight": 1, "value": value}, {"key": "b", "weight": 1, "value": value}]
                flag = await ada.create_flag(environment, key=f"flag-{place}", variants=variants, enabled=place > 0)
                await ada.create_rule(flag)
            return await KeyMaker(flagstaff, ada).create(environment)

        try:
            sdk_key = runner.run(start())
            yield Service(runner, Caller(flagstaff.edge.asgi), sdk_key)
        finally:
            runner.run(flagstaff.stop())


@pytest.mark.parametrize("operation_id", operation_ids(DOCUMENT))
def test_it_answers_as_the_document_says(operation_id: str, service: Service) -> None:
    try_operation(load(DOCUMENT), operation_id, service.send, examples=EXAMPLES)
