"""The endpoint that applications call: from the limit to the bytes without SQL, a schema library or a lock.

`Evaluate` knows no framework: each way in hands it a request's parts and sends what it answers.
"""

import re
from collections.abc import Callable, Hashable, Iterable
from difflib import get_close_matches
from functools import partial

import msgspec

from flagstaff.domain.errors import Code, Error, invalid_field
from flagstaff.domain.text import check_length, check_text
from flagstaff.evaluation.evaluator import evaluate
from flagstaff.evaluation.snapshot import EnvironmentSnapshot, ProjectSnapshot
from flagstaff.runtime.limiter import SlidingWindow
from flagstaff.runtime.snapshots import Snapshots
from flagstaff.web.edge.limits import admit

PATH = "/sdk/v1/evaluate"
IDENTIFIER_MAX_LENGTH = 1024


class Context(msgspec.Struct, gc=False):
    """The user. Unknown keys are ignored, so that SDKs may send what later versions understand."""

    user_id: str | None = None
    user_email: str | None = None
    custom_attributes: dict[str, msgspec.Raw] | msgspec.UnsetType = msgspec.UNSET


class EvaluateRequest(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The body. A misspelt `context` must not pass for none, so unknown fields are refused here."""

    environment: str
    context: Context | None = None


_decode = msgspec.json.Decoder(EvaluateRequest).decode
_expected = re.compile(r"Expected `([^`]*)`, got")
_TYPES = {
    "str": "a string",
    "str | null": "a string or null",
    "object": "an object",
    "object | null": "an object or null",
}
_named_field = re.compile(r"field `([^`]*)`")
_NOBODY = Context()


class Evaluate:
    """Answers evaluate requests; every outcome but 200 is raised as an Error."""

    def __init__(
        self,
        *,
        snapshots: Snapshots,
        limiter: SlidingWindow | None,
        record: Callable[[EnvironmentSnapshot, str | None, str | None, bytes], None],
    ) -> None:
        self.find: Callable[[str], ProjectSnapshot | None] = snapshots.by_sdk_key.get
        """The project with this SDK key, if it is loaded already."""
        self._load = snapshots.find
        self.admit: Callable[[Hashable], None] = partial(admit, limiter)
        """Count a request against its client's limit; raises Error LIMITED beyond it."""
        self._record = record

    async def load(self, sdk_key: str) -> ProjectSnapshot:
        """The project with this SDK key, loaded if need be.

        Raises:
            Error: UNAUTHENTICATED when there is none, UNAVAILABLE while it cannot be loaded.
        """
        project = await self._load(sdk_key)
        if project is None:
            raise Error(Code.UNAUTHENTICATED, "The X-SDK-Key header is missing or holds no valid SDK key.")
        return project

    def answer(self, project: ProjectSnapshot, body: bytes) -> bytes:
        """The 200's body. To be called as soon as the project is found, so that nothing newer can have taken its place.

        Raises:
            Error: INVALID, NOT_FOUND (the environment).
        """
        try:
            request = _decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise _malformed(error) from None
        context = request.context or _NOBODY
        user_id, user_email = context.user_id, context.user_email
        if b"\\" in body or len(body) > IDENTIFIER_MAX_LENGTH:
            _require_sound(context)
        environment = project.environments.get(request.environment)
        if environment is None:
            raise Error(Code.NOT_FOUND, "The project has no environment with this key.")
        answer, recorded = evaluate(environment, user_id, user_email)
        self._record(environment, user_id, user_email, recorded)
        return answer


def sdk_key_in(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """The SDK key among a request's headers; none is the empty text, and so are several."""
    keys = [value for name, value in headers if name == b"x-sdk-key"]
    return keys[0].decode("latin-1") if len(keys) == 1 else ""


def _require_sound(context: Context) -> None:
    """Refuse identifiers that no rule or record can hold. JSON spells NUL and lone surrogates with a backslash."""
    for name in ("user_id", "user_email"):
        try:
            check_length(check_text(getattr(context, name) or ""), 0, IDENTIFIER_MAX_LENGTH)
        except ValueError as error:
            raise invalid_field(f"context.{name}", str(error)) from error


def _malformed(error: Exception) -> Error:
    if isinstance(error, RecursionError):
        return invalid_field("body", "is nested too deeply")
    if not isinstance(error, msgspec.ValidationError):
        return invalid_field("body", "is not valid JSON")
    # msgspec writes "Expected `str`, got `int` - at `$.context.user_id`" and "Object contains unknown field `x`".
    message, _, path = str(error).partition(" - at `$.")
    field = path.rstrip("`")
    if expected := _expected.match(message):
        return invalid_field(field or "body", f"must be {_TYPES.get(expected[1], expected[1])}")
    if named := _named_field.search(message):
        field = f"{field}.{named[1]}" if field else named[1]
        return invalid_field(field, "is required" if "missing" in message else _unknown(named[1]))
    return invalid_field(field or "body", message.replace("`", "'"))


def _unknown(field: str) -> str:
    # What is much longer resembles neither, and to compare it takes long.
    near = get_close_matches(field, EvaluateRequest.__struct_fields__, n=1) if len(field) <= 64 else []
    return f"is not a known field; {f'did you mean {near[0]}?' if near else 'known are environment, context'}"
