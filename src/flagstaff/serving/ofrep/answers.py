"""OFREP independent of the framework: the route and the fast path pass it a request's parts and send its answers."""

from collections.abc import Sequence

from starlette.types import Scope

from flagstaff.evaluation.dialects import Rendered
from flagstaff.evaluation.ofrep_dialect import OFREP, write_alone
from flagstaff.evaluation.snapshot import EnvironmentSnapshot, Translation
from flagstaff.history.callers import SdkProtocol
from flagstaff.projects.sdk_keys import KeyKind
from flagstaff.serving.access import KeyAccess, not_valid, open_access
from flagstaff.serving.entity_tags import Header, Headers, has_answer
from flagstaff.serving.evaluations import Evaluations
from flagstaff.serving.known_sdk_keys import Access, SdkKeys
from flagstaff.serving.ofrep.requests import IDENTIFIERS, credential_in, read_request
from flagstaff.serving.read_your_writes import ReadYourWrites
from flagstaff.serving.revisions import demanded_in
from flagstaff.serving.translations import Translations


class Ofrep:
    """Answers OFREP requests; every outcome other than 200 and 304 is raised as an Error."""

    def __init__(
        self,
        sdk_keys: SdkKeys,
        key_access: KeyAccess,
        evaluations: Evaluations,
        translations: Translations,
        read_your_writes: ReadYourWrites,
    ) -> None:
        self.find = sdk_keys.known.get
        """Finds what an SDK key opens, if it is already known."""
        self._key_access = key_access
        self._use = sdk_keys.use
        self._evaluations = evaluations
        self._translations = translations
        self._open = sdk_keys.open
        self._read_your_writes = read_your_writes

    async def open(self, scope: Scope, name: str | None = None) -> tuple[Access, EnvironmentSnapshot]:
        """Return the access of the SDK key in a request's headers, with the revision that the request demands.

        `name` is the name of a client that fetches flags again.

        Raises:
            Error: as in `KeyAccess.open` and `ReadYourWrites.reach`, and INVALID.
        """
        headers: Headers = scope["headers"]
        credential = credential_in(headers)
        access, environment = await self._key_access.open(scope, credential, SdkProtocol.OFREP, name=name)
        demanded = demanded_in(headers)
        if demanded is None:
            return access, environment
        await self._read_your_writes.reach(access.project, demanded)
        return await open_access(self._open_again, credential, headers)

    async def _open_again(self, key: str) -> Access | None:
        return self.find(key) or await self._open(key)

    async def answer_all(self, access: Access, environment: EnvironmentSnapshot, body: bytes) -> Rendered:
        """The answer about all flags; raises Error INVALID."""
        translation = await self._translations.find(environment, OFREP)
        return self._answer_in(translation, access, environment, body)

    def answer_one(self, access: Access, environment: EnvironmentSnapshot, body: bytes, flag_key: str) -> bytes:
        """The body of a 200 about one flag; raises Error INVALID, NOT_FOUND (the flag).

        Its owner, who may be a person, is only for servers, because anyone can read a browser's key.
        """
        context = self._evaluations.context(environment, read_request(body), IDENTIFIERS)
        decision = self._evaluations.one_flag(environment, context, flag_key, access.key_id)
        return write_alone(environment, decision, with_details=access.kind is KeyKind.SERVER)

    def can_answer_at_once(self, access: Access) -> bool:
        """Return whether an answer about all flags has nothing to wait for."""
        return access.environment is not None and OFREP in access.environment.translations

    def answer_at_once(
        self, access: Access, body: bytes, headers: Sequence[Header]
    ) -> tuple[str, bytes | None, EnvironmentSnapshot] | None:
        """The tag, the body and the environment of an answer about all flags; no body for a client that has it.

        None if there is something to wait for.

        Raises:
            Error: UNAUTHENTICATED (the key has expired), LIMITED, INVALID.
        """
        environment = access.environment
        translation = environment.translations.get(OFREP) if environment is not None else None
        if environment is None or translation is None:
            return None
        if not self._use(access):
            raise not_valid()
        answer = self._answer_in(translation, access, environment, body)
        has_body = not headers or not has_answer(headers, answer.tag)
        return answer.tag, answer.body if has_body else None, environment

    def _answer_in(
        self, translation: Translation, access: Access, environment: EnvironmentSnapshot, body: bytes
    ) -> Rendered:
        given, key_id = read_request(body), access.key_id
        return self._evaluations.all_flags_for(translation, environment, given, IDENTIFIERS, key_id)
