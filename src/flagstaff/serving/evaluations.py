"""The work on a user's context that all protocols share: read the attributes that matter, decide, and record."""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Protocol
from uuid import UUID

import msgspec

from flagstaff.evaluation.dialects import Rendered, evaluate_in
from flagstaff.evaluation.history.layout import Decision
from flagstaff.evaluation.snapshot import EnvironmentSnapshot, KnownAttributes, Translation
from flagstaff.evaluation.subset import decide_flag, find_flag
from flagstaff.evaluation.targets import CURRENT_TIME
from flagstaff.history.callers import SdkProtocol
from flagstaff.history.recorder import EvaluationRecorder
from flagstaff.serving.attributes import are_small, encode_attributes, read_others
from flagstaff.serving.context import NONE_GIVEN, Context, given_attributes, read_attributes
from flagstaff.serving.flat_contexts import GivenContext
from flagstaff.settings import HistoryAttributes
from flagstaff.values.errors import Code, Error, invalid_field

# For each environment, custom attributes of so many bytes at most are remembered, in about so many bytes altogether.
_KNOWN_LENGTH, _KNOWN_BYTES = 256, 1_000_000
_KNOWN_SIZE = 500  # of one, without the bits of the predicates
# 10,000 hashes of a kilobyte, and 2,500 of the four that characters can take, are a fraction of a millisecond.
_LONG_BYTES, _HASHES_OF_LONG = 1024, 2_500
_BYTES_OF_A_CHARACTER = 4
_encode = msgspec.json.Encoder().encode
_NOTHING_KNOWN = KnownAttributes({}, 0, None)


def require_hashable(environment: EnvironmentSnapshot, user_id: str | None, user_email: str | None) -> None:
    """Refuse an identifier of more than a kilobyte where thousands of flags hash it; raises Error INVALID."""
    if environment.hashes <= _HASHES_OF_LONG:
        return
    identifier = user_id or (user_email or "").lower()
    if len(identifier) * _BYTES_OF_A_CHARACTER > _LONG_BYTES and len(identifier.encode()) > _LONG_BYTES:
        raise invalid_field(
            "context",
            f"must identify the user in at most {_LONG_BYTES:,} bytes of UTF-8, because this environment has more than "
            f"{_HASHES_OF_LONG:,} rollouts and variants; send a shorter identifier",
        )


class RecordAsked(Protocol):
    """Records that a flag of an environment was requested by its key."""

    def __call__(self, environment_id: UUID, flag_key: str, *, exists: bool) -> None:
        """Record it."""


class Evaluations:
    """Evaluates and records, for the current snapshots of environments."""

    def __init__(
        self,
        *,
        recorder: EvaluationRecorder,
        now: Callable[[], datetime],
        record_asked: RecordAsked,
        keep: HistoryAttributes = "used",
        protocol: SdkProtocol = SdkProtocol.EVALUATE,
    ) -> None:
        """`record_asked` is told which flags of an environment are asked for by their keys, whether or not they exist.

        `keep` says which custom attributes are recorded, and `protocol` how applications ask.
        """
        self.record = recorder.record
        self._record_asked = record_asked
        self._now = now
        self._keeps_all = keep == "all"
        self._keeps_used = keep == "used"
        self._protocol = protocol

    def context(self, environment: EnvironmentSnapshot, given: GivenContext, identifiers: Collection[str]) -> Context:
        """The context of a protocol without a place for custom attributes: all given members are some.

        Only those that matter are kept. `identifiers` are the members that identify the user, which are recorded
        already.
        """
        user_id, user_email, read_members = given
        wanted = environment.targeting.custom if environment.targeting else ()
        if not wanted and not self._keeps_all:
            return Context(user_id, user_email)
        members = read_members().items()
        if self._keeps_all:
            custom = {name: raw for name, raw in members if name in wanted or name not in identifiers}
        else:
            custom = {name: raw for name, raw in members if name in wanted}
        return Context(user_id, user_email, msgspec.Raw(_encode(custom)))

    def all_flags_for(
        self,
        translation: Translation,
        environment: EnvironmentSnapshot,
        given: GivenContext,
        identifiers: Collection[str],
        key_id: UUID | None,
    ) -> Rendered:
        """All flags in a dialect, for a context as `context` takes it; raises Error INVALID.

        `key_id` is the SDK key's id.
        """
        if environment.targeting is not None or self._keeps_all:
            return self.all_flags(translation, environment, self.context(environment, given, identifiers), key_id)
        user_id, user_email, _ = given  # in fewer steps, where nobody needs more than this
        require_hashable(environment, user_id, user_email)
        rendered = evaluate_in(translation, user_id, user_email)
        self.record(environment, user_id, user_email, rendered.recorded, key_id=key_id, protocol=self._protocol)
        return rendered

    def all_flags(
        self, translation: Translation, environment: EnvironmentSnapshot, context: Context, key_id: UUID | None
    ) -> Rendered:
        """All flags in a dialect; `translation` is the environment's, and `key_id` the SDK key's id.

        Raises:
            Error: INVALID.
        """
        user_id, user_email = context.user_id, context.user_email
        require_hashable(environment, user_id, user_email)
        known = self.know(environment, context)
        if known is None:
            rendered = evaluate_in(translation, user_id, user_email)
            self.record(environment, user_id, user_email, rendered.recorded, key_id=key_id, protocol=self._protocol)
            return rendered
        attributes, at = self.with_time(environment, known)
        rendered = evaluate_in(translation, user_id, user_email, attributes, known.holding)
        recorded, protocol = rendered.recorded, self._protocol
        self.record(environment, user_id, user_email, recorded, known.kept, at, None, key_id, protocol)
        return rendered

    def one_flag(
        self, environment: EnvironmentSnapshot, context: Context, flag_key: str, key_id: UUID | None
    ) -> Decision:
        """One flag. `key_id` is the SDK key's id.

        Raises:
            Error: INVALID, NOT_FOUND (the flag).
        """
        known = self.know(environment, context) or _NOTHING_KNOWN
        flag = find_flag(environment, flag_key)
        self._record_asked(environment.environment_id, flag_key, exists=flag is not None)
        if flag is None:
            raise Error(Code.NOT_FOUND, "The environment has no flag with this key.")
        attributes, at = self.with_time(environment, known)
        decision, recorded = decide_flag(environment, flag, context.user_id, context.user_email, attributes)
        user_id, user_email, protocol = context.user_id, context.user_email, self._protocol
        self.record(environment, user_id, user_email, recorded, known.kept, at, flag.place, key_id, protocol)
        return decision

    def know(self, environment: EnvironmentSnapshot, context: Context) -> KnownAttributes | None:
        """Return the known custom attributes; None if nobody needs them.

        Raises:
            Error: INVALID.
        """
        given, targeting = context.custom_attributes, environment.targeting
        if given is NONE_GIVEN and not self._keeps_all and (targeting is None or not targeting.asks_request):
            return None
        raw = bytes(given)
        known = environment.known.get(raw) if len(raw) <= _KNOWN_LENGTH else None
        return known or self._read_attributes(environment, context, raw)

    def with_time(
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
        """Read the custom attributes, and cache them for the next request that has the same, byte for byte."""
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
