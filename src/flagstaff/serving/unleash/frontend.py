"""Unleash's frontend API as a plain ASGI route: the flags that are on for one user, for browsers and phones.

There is no 304. The client for browsers stores a tag before it has read the answer: if the connection, or the client
itself, cuts the answer off, it would get 304 from then on, with the flags that it had before. So no two answers have
the same tag, which only names the client.
"""

import secrets

from starlette.types import Receive, Scope, Send

from flagstaff.concurrency.worker import in_worker
from flagstaff.evaluation.frontend_dialect import FRONTEND
from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from flagstaff.history.callers import SdkProtocol
from flagstaff.http.bodies import LargeBodies, read_body
from flagstaff.http.clients import is_stranger
from flagstaff.http.errors import MethodNotAllowedError
from flagstaff.http.operations import ATTRIBUTES_BODY, REPORT_BODY, Endpoint
from flagstaff.serving.access import KeyAccess
from flagstaff.serving.client_names import ClientNames
from flagstaff.serving.entity_tags import send_json, tag_header
from flagstaff.serving.evaluations import Evaluations
from flagstaff.serving.known_sdk_keys import Access
from flagstaff.serving.translations import Translations
from flagstaff.serving.unleash import contexts
from flagstaff.serving.unleash.errors import credential_in
from flagstaff.serving.unleash.frontend_reports import check_metrics, check_registration
from flagstaff.values.errors import Code, Error

PATH = "/unleash/api/frontend"
_IDENTIFIERS = ("email", "user_email")
_RANDOM_BYTES = 8
_METRICS, _REGISTER = f"{PATH}/client/metrics", f"{PATH}/client/register"
_REPORTS = {_METRICS: check_metrics, _REGISTER: check_registration}
ENDPOINT = Endpoint(PATH, ATTRIBUTES_BODY, evaluations=(PATH,), others=(_REGISTER,))
REPORTS_ENDPOINT = Endpoint(_METRICS, REPORT_BODY, others=(_METRICS,))


class FrontendRoute:
    """Answers everything below `/unleash/api/frontend`; the edge gives errors the form of `unleash_form`."""

    def __init__(
        self, key_access: KeyAccess, evaluations: Evaluations, translations: Translations, names: ClientNames
    ) -> None:
        self._key_access = key_access
        self._names = names
        self._evaluations = evaluations
        self._translations = translations
        self._large_bodies = LargeBodies()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path, method = scope["path"], scope["method"]
        check = _REPORTS.get(path)
        if path != PATH and check is None:
            raise Error(Code.NOT_FOUND, f"There is nothing at this path. Ask for flags at {PATH}.")
        allowed = ("GET", "POST") if check is None else ("POST",)
        if method not in allowed:
            raise MethodNotAllowedError(*allowed)
        name = self._names.find(scope["headers"])
        if check is not None:
            _, of_report = await self._open(scope, name, reports=True)
            project_id = of_report.project_id
            async with self._large_bodies.reading(scope, receive, project_id) as report:
                await in_worker(check, report)
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
            await send({"type": "http.response.body", "body": b""})
            return
        if is_stranger(scope):
            await self._open(scope, name)  # refuses it, before the body is read
        body = await read_body(receive)
        if body is None:
            return
        access, environment = await self._open(scope, name)
        request = contexts.read_query(scope["query_string"]) if method == "GET" else contexts.read_body(body)
        translation = await self._translations.find(environment, FRONTEND)
        context = self._evaluations.context(environment, request, _IDENTIFIERS)
        answer = self._evaluations.all_flags(translation, environment, context, access.key_id)
        tag = f"{secrets.token_hex(_RANDOM_BYTES)}-{name or self._names.make()}"
        await send_json(answer.body, send, [tag_header(tag)])

    async def _open(
        self, scope: Scope, name: str | None, *, reports: bool = False
    ) -> tuple[Access, EnvironmentSnapshot]:
        credential = credential_in(scope["headers"])
        protocol = SdkProtocol.UNLEASH_FRONTEND
        return await self._key_access.open(scope, credential, protocol, name=name, reports=reports)
