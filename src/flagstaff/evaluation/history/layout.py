"""Encodes an evaluation in a few bytes, and decodes it.

A layout is what all evaluations of one snapshot have in common: its flags, and the result of each when it does not
depend on the user. In addition, an evaluation has one byte for each flag whose result depends on the user:

    0-99  the user's bucket in the flag's rollout; no rule matched
    100   no rule matched, and there is no bucket: the flag has no rollout, or the user no identifier
    101 + the matched rule's outcome: 102 user_id, 103 user_email, 104 email_domain

For a flag that says more, the layout lists what can decide it, such as its rules, and the byte is 101 + the place in
that list. Its other columns follow the bytes of all flags, in the order of the flags:

    the bucket, if a rule has a percentage: 0-99, or 100 if there is none
    the variant, if the flag has variants, by its place in the layout; it means nothing where the flag is off

A layout has the lowest version that can hold it, so that earlier releases can read it: version 1 knows the outcomes up
to `ON`, version 2 also `NO_RULE`, version 3 the rules that decide a flag, version 4 prerequisites and variants, and
version 5 the attributes that rules look at.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from itertools import accumulate, islice
from typing import NamedTuple
from uuid import UUID

from flagstaff.evaluation.outcomes import Outcome
from flagstaff.values.lists import empty

NO_BUCKET = 100
RULE_BASE = 101
NO_OUTCOME = 255
MAX_DECIDERS = 155  # that a byte can tell apart
_RULE_OUTCOMES = range(Outcome.USER_ID_RULE, Outcome.EMAIL_DOMAIN_RULE + 1)
ON_BY_OUTCOME = bytes(outcome.enabled for outcome in Outcome).ljust(256, b"\0")
"""A table from outcomes to 1 if the flag is on, and otherwise 0."""

# By the version of a layout, from 1.
_NEWEST_OUTCOMES = (
    Outcome.ON,
    Outcome.NO_RULE,
    Outcome.SEGMENT_RULE,
    Outcome.PREREQUISITE,
    Outcome.PREREQUISITE,
)


@dataclass(frozen=True, slots=True)
class Decider:
    """The cause of a decision that is not the flag's rollout: a rule, or a prerequisite that does not hold.

    Of a flag with many rules, only the first have their ids.
    """

    outcome: Outcome
    rule_id: UUID | None = None
    prerequisite: str = ""


@dataclass(frozen=True, slots=True)
class LayoutFlag:
    """A flag in a layout; `default` is its outcome without a matching rule or a bucket."""

    id: UUID
    key: str
    rollout_percentage: int
    default: Outcome
    deciders: tuple[Decider, ...] = ()
    has_bucket: bool = False
    variants: tuple[str, ...] = ()

    @property
    def says_more(self) -> bool:
        """True if a decision of the flag has more than an outcome and a bucket."""
        return bool(self.deciders or self.variants)

    def decider(self, byte: int) -> Decider | None:
        """Return the cause of a recorded byte; None if the rollout decided, or it is not recorded."""
        return self.deciders[byte - RULE_BASE] if self.deciders and byte >= RULE_BASE else None

    def outcome(self, byte: int) -> Outcome:
        """The outcome that a recorded byte stands for."""
        if self.deciders and byte >= RULE_BASE:
            return self.deciders[byte - RULE_BASE].outcome
        if byte > RULE_BASE:
            return Outcome(byte - RULE_BASE)
        if byte == NO_BUCKET:
            return self.default
        return Outcome.IN_ROLLOUT if byte < self.rollout_percentage else Outcome.NOT_IN_ROLLOUT

    @property
    def outcomes_by_byte(self) -> bytes:
        """A table from recorded bytes to outcomes; bytes that this flag does not record have none (255)."""
        table = _plain_outcomes(self.rollout_percentage, self.default)
        if self.deciders:
            table = table[:RULE_BASE] + bytes(decider.outcome for decider in self.deciders)
            table = table.ljust(256, bytes((NO_OUTCOME,)))
        return table

    @property
    def on_by_byte(self) -> bytes:
        """A table from recorded bytes to 1 if the flag is on, and otherwise 0."""
        return self.outcomes_by_byte.translate(ON_BY_OUTCOME)

    @property
    def columns(self) -> int:
        """The number of bytes that an evaluation has for the flag besides its first."""
        return int(self.has_bucket) + bool(self.variants)


class Decision(NamedTuple):
    """The decision about a flag in one evaluation; `bucket` is None where none was recorded."""

    flag: LayoutFlag
    outcome: Outcome
    rule_id: UUID | None = None
    bucket: int | None = None
    prerequisite: str = ""
    variant: str | None = None

    @property
    def reason(self) -> str:
        """The reason as the specification words it."""
        return self.outcome.reason(self.flag.rollout_percentage, self.prerequisite)


FoundFlag = tuple[int | None, LayoutFlag]
"""A flag of a layout with its position among the recorded flags, or None if it is constant."""


@dataclass(frozen=True)
class Layout:
    """The flags of one snapshot: first those with a byte in each evaluation, in the bytes' order, then the others.

    `attributes` are the custom attributes that the snapshot looks at, in the order of their names.
    """

    recorded: tuple[LayoutFlag, ...]
    constant: tuple[LayoutFlag, ...]
    attributes: tuple[str, ...] = ()

    @cached_property
    def width(self) -> int:
        """The number of bytes of an evaluation."""
        return len(self.recorded) + sum(flag.columns for flag in self.recorded)

    @cached_property
    def variant_columns(self) -> tuple[int, ...]:
        """The place of each recorded flag's variant in the bytes of an evaluation; of a flag without, any place."""
        ends = accumulate((flag.columns for flag in self.recorded), initial=len(self.recorded) - 1)
        return tuple(islice(ends, 1, None))

    @cached_property
    def flags(self) -> tuple[LayoutFlag, ...]:
        """All flags; the place of a flag is the one among these."""
        return (*self.recorded, *self.constant)

    @cached_property
    def widths_alone(self) -> tuple[int, ...]:
        """The number of bytes of an evaluation of each flag alone, in the order of the places."""
        return (*(1 + flag.columns for flag in self.recorded), *(0 for _ in self.constant))

    def alone(self, place: int) -> "Layout":
        """Return the layout of evaluations of one flag, given its place. Every call returns the same object."""
        known = self._alone.get(place)
        if known is None:
            flag = (self.flags[place],)
            recorded, constant = (flag, ()) if place < len(self.recorded) else ((), flag)
            known = self._alone[place] = Layout(recorded, constant, self.attributes)
        return known

    @cached_property
    def _alone(self) -> dict[int, "Layout"]:
        return {}

    @cached_property
    def version(self) -> int:
        """The version of its stored form."""
        if self.attributes:
            return 5
        if any(flag.variants or any(each.prerequisite for each in flag.deciders) for flag in self.recorded):
            return 4
        if any(flag.deciders for flag in self.recorded):
            return 3
        flags = (*self.recorded, *self.constant)
        return 1 if all(flag.default <= _NEWEST_OUTCOMES[0] for flag in flags) else 2

    @property
    def outcome_count(self) -> int:
        """The number of outcomes that a layout of this version has: those whose numbers are lower."""
        return _NEWEST_OUTCOMES[self.version - 1] + 1

    @cached_property
    def digest(self) -> bytes:
        """Sixteen bytes that identify the layout by its content: equal layouts of one environment are stored once.

        Of thousands of flags with conditions, it takes tens of milliseconds to make.
        """
        state = sha256()
        for mark, flags in ((b"r", self.recorded), (b"c", self.constant)):
            for flag in flags:
                state.update(mark + flag.id.bytes + bytes((flag.rollout_percentage, flag.default)) + flag.key.encode())
                state.update(b"\n")
                if flag.says_more:
                    state.update(repr((flag.deciders, flag.has_bucket, flag.variants)).encode())
        if self.attributes:
            state.update(repr(self.attributes).encode())
        return state.digest()[:16]

    def find_flag(self, key: str) -> FoundFlag | None:
        """The flag with this key."""
        return self._find(lambda flag: flag.key == key)

    def find_place(self, key: str) -> int | None:
        """The place of the flag with this key."""
        return next((place for place, flag in enumerate(self.flags) if flag.key == key), None)

    def find_flag_by_id(self, flag_id: UUID) -> FoundFlag | None:
        """The flag with this id."""
        return self._find(lambda flag: flag.id == flag_id)

    def _find(self, is_wanted: Callable[[LayoutFlag], bool]) -> FoundFlag | None:
        for position, flag in enumerate(self.recorded):
            if is_wanted(flag):
                return position, flag
        return next(((None, flag) for flag in self.constant if is_wanted(flag)), None)

    def outcomes(self, recorded: bytes) -> list[tuple[LayoutFlag, Outcome]]:
        """Every flag with its outcome in one evaluation, given that evaluation's bytes."""
        return [(decision.flag, decision.outcome) for decision in self.decisions(recorded)]

    def decisions(self, recorded: bytes) -> list[Decision]:
        """Return the decisions about all flags in one evaluation, given that evaluation's bytes.

        Raises:
            ValueError: when the bytes do not fit the layout.
        """
        return list(self.each_decision(recorded))

    def each_decision(self, recorded: bytes) -> Iterator[Decision]:
        """The same one by one, because a layout may have thousands of flags."""
        if len(recorded) != self.width:
            raise ValueError("an evaluation does not fit its layout")
        column = len(self.recorded)
        for flag, byte in zip(self.recorded, recorded, strict=False):
            yield decide(flag, byte, recorded[column : column + flag.columns])
            column += flag.columns
        for flag in self.constant:
            yield Decision(flag, flag.default)

    def decision_of(self, position: int, recorded: bytes) -> Decision:
        """Return the decision about one of the recorded flags."""
        flag = self.recorded[position]
        end = self.variant_columns[position] + 1
        return decide(flag, recorded[position], recorded[end - flag.columns : end])


def free_layouts(layouts: dict[int, Layout]) -> None:
    """Empty a dict of layouts that nobody needs any more, and free their flags one by one."""
    while layouts:
        _, layout = layouts.popitem()
        flags = [*layout.recorded, *layout.constant]
        del layout
        empty(flags)


def decide(flag: LayoutFlag, byte: int, columns: bytes) -> Decision:
    """Return the decision about a recorded flag, given its byte and its columns in an evaluation."""
    bucket = columns[0] if flag.has_bucket else byte
    decision = Decision(flag, flag.outcome(byte), bucket=bucket if bucket < NO_BUCKET else None)
    if not flag.says_more:
        return decision
    decider = flag.decider(byte) or Decider(decision.outcome)
    variant = flag.variants[columns[-1]] if flag.variants and decision.outcome.enabled else None
    return decision._replace(rule_id=decider.rule_id, prerequisite=decider.prerequisite, variant=variant)


@cache
def _plain_outcomes(rollout_percentage: int, default: Outcome) -> bytes:
    flag = LayoutFlag(UUID(int=0), "", rollout_percentage, default)
    known = bytes(flag.outcome(byte) for byte in range(RULE_BASE + 1 + len(_RULE_OUTCOMES)))
    return known.ljust(256, bytes((NO_OUTCOME,)))
