"""The endpoint that applications call, from the limit to the response's bytes, without SQL, a schema library or a lock.

`Evaluate` is independent of the framework: the route and the lane pass it a request's parts and send its answer.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from datetime import datetime
from functools import partial

import msgspec

from flagstaff.domain.errors import Code, Error
from flagstaff.evaluation.evaluator import evaluate
from flagstaff.evaluation.parts import evaluate_flag, find_flag
from flagstaff.evaluation.snapshot import EnvironmentSnapshot, KnownAttributes, ProjectSnapshot
from flagstaff.evaluation.targets import CURRENT_TIME
from flagstaff.runtime.limiter import SlidingWindow
from flagstaff.runtime.recorder import Recorder
from flagstaff.runtime.snapshots import Snapshots
from flagstaff.settings import HistoryAttributes
from flagstaff.web.context import (
    IDENTIFIER_MAX_LENGTH,
    NOBODY,
    NONE_GIVEN,
    UNREADABLE,
    Context,
    given_attributes,
    read_attributes,
    read_repaired,
    require_sound,
)
from flagstaff.web.edge.errors import UnauthenticatedError
from flagstaff.web.edge.limits import admit
from flagstaff.web.sdk.attributes import are_small, encode_attributes, read_others
from flagstaff.web.sdk.invalid import evaluate_mistakes

PATH = "/sdk/v1/evaluate"
# RFC 9110 requires a challenge on every 401; `Bearer` would ask for a token, which is not accepted here.
CHALLENGE = b'SDK-Key header="X-SDK-Key"'
# For each environment, custom attributes of so many bytes at most are remembered, in about so many bytes altogether.
_KNOWN_LENGTH, _KNOWN_BYTES = 256, 1_000_000
_KNOWN_SIZE = 500  # of one, without the bits of the predicates
_NOTHING_KNOWN = KnownAttributes({}, 0, None)


class EvaluateRequest(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The body. Unknown fields are refused, so that a misspelled `context` is not treated as missing."""

    environment: str
    context: Context | None = None


_decode = msgspec.json.Decoder(EvaluateRequest).decode


class Evaluate:
    """Answers evaluate requests; every outcome other than 200 is raised as an Error."""

    def __init__(
        self,
        *,
        snapshots: Snapshots,
        limiter: SlidingWindow | None,
        recorder: Recorder,
        now: Callable[[], datetime],
        keep: HistoryAttributes = "used",
    ) -> None:
        """`keep` says which custom attributes are recorded."""
        self.find: Callable[[str], ProjectSnapshot | None] = snapshots.by_sdk_key.get
        """The project with this SDK key, if it is already loaded."""
        self._load = snapshots.find
        self.admit: Callable[[Hashable], None] = partial(admit, limiter)
        """Count a request against its client's limit; raises Error LIMITED beyond it."""
        self._record = recorder.record
        self._now = now
        self._keeps_all = keep == "all"
        self._keeps_used = keep == "used"

    async def load(self, sdk_key: str) -> ProjectSnapshot:
        """The project with this SDK key, loaded if necessary.

        Raises:
            Error: UNAUTHENTICATED when there is none, UNAVAILABLE while it cannot be loaded.
        """
        project = await self._load(sdk_key)
        if project is None:
            raise UnauthenticatedError("The X-SDK-Key header is missing or is not a valid SDK key.", CHALLENGE)
        return project

    def answer(self, project: ProjectSnapshot, body: bytes) -> bytes:
        """The body of a 200. Call it right after the project is found, so that no newer version can have replaced it.

        Raises:
            Error: INVALID, NOT_FOUND (the environment).
        """
        environment, context, known = self._read(project, body)
        user_id, user_email = context.user_id, context.user_email
        if known is None:
            answer, recorded = evaluate(environment, user_id, user_email)
            self._record(environment, user_id, user_email, recorded)
            return answer
        attributes, at = self._with_time(environment, known)
        answer, recorded = evaluate(environment, user_id, user_email, attributes, known.holding)
        self._record(environment, user_id, user_email, recorded, known.kept, at)
        return answer

    def answer_flag(self, project: ProjectSnapshot, body: bytes, flag_key: str) -> bytes:
        """The body of a 200 about one flag.

        Raises:
            Error: INVALID, NOT_FOUND (the environment or the flag).
        """
        environment, context, known = self._read(project, body)
        flag = find_flag(environment, flag_key)
        if flag is None:
            raise Error(Code.NOT_FOUND, "The environment has no flag with this key.")
        user_id, user_email = context.user_id, context.user_email
        known = known or _NOTHING_KNOWN
        attributes, at = self._with_time(environment, known)
        answer, recorded = evaluate_flag(environment, flag, user_id, user_email, attributes)
        self._record(flag, user_id, user_email, recorded, known.kept, at)
        return answer

    def _with_time(
        self, environment: EnvironmentSnapshot, known: KnownAttributes
    ) -> tuple[Mapping[str, object], datetime | None]:
        """The attributes that the environment looks at, and the time if that is one of them."""
        if environment.targeting is None or not environment.targeting.asks_time:
            return known.values, None
        at = self._now()
        return {**known.values, CURRENT_TIME: at}, at

    def _read_attributes(
        self, environment: EnvironmentSnapshot, context: Context, raw: bytes
    ) -> KnownAttributes | None:
        """Read the custom attributes, and cache them for the next request that has the same, byte for byte.

        None if nobody needs them.

        Raises:
            Error: INVALID.
        """
        given = given_attributes(context)
        targeting = environment.targeting
        if targeting is None and not self._keeps_all:
            return None
        values = read_attributes(given, targeting.custom if targeting else ())
        kept = None
        if self._keeps_all:
            kept = encode_attributes({**values, **read_others(given, values)})
        elif self._keeps_used and environment.layout.attributes:
            kept = encode_attributes(values)
        holding = targeting.custom_predicates.holding(values) if targeting else 0
        known = KnownAttributes(values, holding, kept)
        if len(raw) <= _KNOWN_LENGTH and are_small(values):
            bits = targeting.predicates.everything.bit_length() if targeting else 0
            if len(environment.known) >= _KNOWN_BYTES // (_KNOWN_SIZE + bits // 8):
                del environment.known[next(iter(environment.known))]
            environment.known[raw] = known
        return known

    def _read(
        self, project: ProjectSnapshot, body: bytes
    ) -> tuple[EnvironmentSnapshot, Context, KnownAttributes | None]:
        """The environment, the user, and what is known of the custom attributes; None if nobody needs them.

        Raises:
            Error: INVALID, NOT_FOUND (the environment).
        """
        try:
            request = _decode(body)
        except UNREADABLE as error:
            request = read_repaired(body, error, _decode, evaluate_mistakes)
        context = request.context or NOBODY
        if b"\\" in body or len(body) > IDENTIFIER_MAX_LENGTH:
            require_sound(context)
        environment = project.environments.get(request.environment)
        if environment is None:
            given_attributes(context)  # invalid ones are an error in the first place
            raise Error(Code.NOT_FOUND, "The project has no environment with this key.")
        given = context.custom_attributes
        if given is NONE_GIVEN and environment.targeting is None and not self._keeps_all:
            return environment, context, None
        raw = bytes(given)
        return environment, context, environment.known.get(raw) or self._read_attributes(environment, context, raw)


def sdk_key_in(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """The SDK key in a request's headers; an empty string if there is none or more than one."""
    keys = [value for name, value in headers if name == b"x-sdk-key"]
    return keys[0].decode("latin-1") if len(keys) == 1 else ""
