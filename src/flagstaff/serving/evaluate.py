"""The endpoint that applications call, from the limit to the response's bytes, without SQL, a schema library or a lock.

`Evaluate` is independent of the framework: the route and the fast path pass it a request's parts and send its answer.
"""

from collections.abc import Callable, Hashable, Iterable
from functools import partial
from uuid import UUID

import msgspec

from flagstaff.evaluation.evaluator import evaluate
from flagstaff.evaluation.fragments import render_decision
from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from flagstaff.history.callers import SdkProtocol
from flagstaff.http.errors import UnauthenticatedError
from flagstaff.http.limits import admit
from flagstaff.http.nesting import NESTING_MAX, require_plain
from flagstaff.http.operations import CONTEXT_BODY, Endpoint
from flagstaff.limits.limiter import SlidingWindow
from flagstaff.serving.context import (
    IDENTIFIER_MAX_LENGTH,
    NOBODY,
    UNREADABLE,
    Context,
    given_attributes,
    read_repaired,
    require_sound,
)
from flagstaff.serving.evaluations import Evaluations, require_hashable
from flagstaff.serving.invalid import evaluate_mistakes
from flagstaff.serving.known_sdk_keys import Access, SdkKeys
from flagstaff.values.errors import Code, Error
from flagstaff.values.keys import KEY_MAX_LENGTH

PATH = "/sdk/v1/evaluate"
ENDPOINT = Endpoint("/sdk/", CONTEXT_BODY, evaluations=(PATH, f"{PATH}/{{flag_key}}"))
Answer = tuple[bytes, EnvironmentSnapshot]
"""The body of an answer, and the environment's state that it is from."""
# RFC 9110 requires a challenge on every 401; `Bearer` would ask for a token, which is not accepted here.
_PROTOCOL = SdkProtocol.EVALUATE
CHALLENGE = b'SDK-Key header="X-SDK-Key"'


class NotLoadedError(Exception):
    """The environment for which a project's own key is used is not loaded."""

    def __init__(self, environment_id: UUID) -> None:
        super().__init__(environment_id)
        self.environment_id = environment_id


class EvaluateRequest(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The body. Unknown fields are refused, so that a misspelled `context` is not treated as missing."""

    environment: str
    context: Context | None = None


_decode = msgspec.json.Decoder(EvaluateRequest).decode


class Evaluate:
    """Answers evaluate requests; every outcome other than 200 is raised as an Error."""

    def __init__(self, *, sdk_keys: SdkKeys, limiter: SlidingWindow | None, evaluations: Evaluations) -> None:
        self.find: Callable[[str], Access | None] = sdk_keys.known.get
        """Finds what an SDK key opens, if it is already known; `answer` checks that it has not expired."""
        self._load = sdk_keys.open
        self._use = sdk_keys.use
        self.admit: Callable[[Hashable], None] = partial(admit, limiter)
        """Count a request against its client's limit; raises Error LIMITED beyond it."""
        self._limiter = limiter
        self._find_in = sdk_keys.find_in
        self._record = evaluations.record
        self._know = evaluations.know
        self._with_time = evaluations.with_time
        self._decide_flag = evaluations.one_flag

    async def load(self, sdk_key: str) -> Access:
        """Return the access of an SDK key, loaded if necessary.

        Raises:
            Error: UNAUTHENTICATED when there is no such key, UNAVAILABLE while it cannot be loaded.
        """
        access = await self._load(sdk_key)
        if access is None:
            raise no_key()
        return access

    def forgive(self, client: Hashable) -> None:
        """Take back what `admit` has counted, for a request that the route counts again."""
        if self._limiter is not None:
            self._limiter.forgive(client)

    async def answer_loaded(self, access: Access, body: bytes, flag_key: str) -> Answer:
        """A 200 about all flags or, with a key, about one; the environment is loaded first if necessary.

        Raises:
            Error: as `answer_flag`, and UNAVAILABLE while the environment cannot be loaded.
        """
        while True:
            try:
                return self.answer_flag(access, body, flag_key) if flag_key else self.answer(access, body)
            except NotLoadedError as missing:
                access = await self._find_in(access, missing.environment_id)

    def answer(self, access: Access, body: bytes) -> Answer:
        """A 200. Call it right after the key is found, so that no newer version can have replaced it.

        Raises:
            Error: UNAUTHENTICATED (the key has expired), LIMITED (its uses), INVALID, FORBIDDEN or NOT_FOUND (the
                environment).
            NotLoadedError: the environment is not loaded.
        """
        environment, context = self._read(access, body)
        user_id, user_email = context.user_id, context.user_email
        require_hashable(environment, user_id, user_email)
        known = self._know(environment, context)
        if known is None:
            answer, recorded = evaluate(environment, user_id, user_email)
            self._record(environment, user_id, user_email, recorded, None, None, None, access.key_id, _PROTOCOL)
            return answer, environment
        attributes, at = self._with_time(environment, known)
        answer, recorded = evaluate(environment, user_id, user_email, attributes, known.holding)
        self._record(environment, user_id, user_email, recorded, known.kept, at, None, access.key_id, _PROTOCOL)
        return answer, environment

    def answer_flag(self, access: Access, body: bytes, flag_key: str) -> Answer:
        """A 200 about one flag.

        Raises:
            Error: as in `answer`, and NOT_FOUND (the flag).
        """
        environment, context = self._read(access, body)
        decision = self._decide_flag(environment, context, flag_key, access.key_id)
        return render_decision(environment, decision), environment

    def _read(self, access: Access, body: bytes) -> tuple[EnvironmentSnapshot, Context]:
        """The environment and the user.

        Raises:
            Error: as in `answer`.
        """
        own = access.environment
        if own is not None and not self._use(access):
            raise no_key()
        if len(body) > NESTING_MAX:
            require_plain(body)
        try:
            request = _decode(body)
        except UNREADABLE as error:
            request = read_repaired(body, error, _decode, evaluate_mistakes)
        context = request.context or NOBODY
        if b"\\" in body or len(body) > IDENTIFIER_MAX_LENGTH:
            require_sound(context)
        environment = access.project.environments.get(request.environment)
        if environment is None or (own is not None and environment is not own):
            given_attributes(context)  # invalid ones are an error in the first place
            raise _no_environment(access, request.environment)
        if own is None:
            environment.use.is_recent = True
        return environment, context


def no_key() -> UnauthenticatedError:
    """The error for a key that opens nothing."""
    return UnauthenticatedError("The X-SDK-Key header is missing or is not a valid SDK key.", CHALLENGE)


def environment_in(access: Access, wanted: str) -> EnvironmentSnapshot:
    """The environment with a key.

    Raises:
        Error: NOT_FOUND if there is none, FORBIDDEN if the SDK key is for another.
        NotLoadedError: it is not loaded.
    """
    environment = access.project.environments.get(wanted)
    if environment is None or (access.environment is not None and environment is not access.environment):
        raise _no_environment(access, wanted)
    environment.use.is_recent = True
    return environment


def _no_environment(access: Access, wanted: str) -> Exception:
    """The error for an environment that is not loaded or does not exist, or that the key is not for."""
    if access.environment is None:
        known = access.project.find_by_key(wanted)
        if known is not None:
            return NotLoadedError(known.environment_id)
        return Error(Code.NOT_FOUND, "The project has no environment with this key.")
    return Error(
        Code.FORBIDDEN,
        f"This SDK key is for the environment {access.environment.environment_key}, and the request asks for "
        f"{wanted[:KEY_MAX_LENGTH]!r}. Use a key of that environment.",
    )


def sdk_key_in(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """The SDK key in a request's headers; an empty string if there is none or more than one."""
    keys = [value for name, value in headers if name == b"x-sdk-key"]
    return keys[0].decode("latin-1") if len(keys) == 1 else ""
