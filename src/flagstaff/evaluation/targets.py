"""What flags need besides look-ups by user and email, compiled: conditions, buckets, variants and prerequisites."""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import NamedTuple, cast

from flagstaff.evaluation.bucketing import BUCKETS
from flagstaff.evaluation.history.layout import NO_BUCKET, Decision
from flagstaff.evaluation.predicates import Predicates
from flagstaff.flags.flags import DEFAULT_STICKINESS

BUILT_IN = frozenset({"user_id", "user_email", "email_domain", "environment"})
CURRENT_TIME = "current_time"
RESERVED = BUILT_IN | {CURRENT_TIME}
"""The attributes that no custom attribute replaces."""

Fragment = bytes | tuple[bytes, ...]
Answers = Mapping[int, Fragment] | tuple[Fragment, ...]
Values = Mapping[str, str]
"""The values of a flag's variants as JSON, by the variants' keys; empty for a flag without variants."""
Write = Callable[[Decision, Values], bytes]
"""Writes a flag's part of a response, with a comma at its end; or nothing, if the response leaves the flag out."""


class RuleMatch(NamedTuple):
    """A rule found by a look-up.

    `position` is its flag's position among the recorded flags. `rank` is the rule's rank in the flag; the lowest rank
    decides. `byte` is recorded if it does. The rule matches only if the predicates with the bits `needs` hold, besides
    the one by which it was found, and the user's bucket is below `percentage`.

    Several rules of a flag for shares of the users with the same value are found as one, because a user is in the same
    bucket for all of them: `by_bucket` has the one that matches first in each bucket, if one does.
    """

    position: int
    rank: int
    byte: int
    needs: int = 0
    percentage: int = BUCKETS
    variant: int | None = None
    by_bucket: "tuple[RuleMatch | None, ...] | None" = None


class LedMatches(NamedTuple):
    """What follows from the predicates that hold, whose bits are `holding`.

    `matches` are the rules that are found by them; `varying` are those of the flags that depend on more, and
    `first_varying` the one with the lowest rank of each. If no other rules are found, the steady flags depend on
    nothing else: `steady` has the rule that decides each, `decided` their bytes, and `fragments` their part of the
    response.
    """

    holding: int
    matches: tuple[RuleMatch, ...]
    varying: tuple[RuleMatch, ...]
    first_varying: Mapping[int, RuleMatch]
    steady: Mapping[int, RuleMatch]
    decided: bytes
    fragments: bytes


class VariedFlag(NamedTuple):
    """A flag that is on with one of several variants, by the place that the hash of the user takes among the weights.

    `weights` are cumulated. The user is identified by the attribute `stickiness`; one without an identifier gets the
    variant `without_identifier`. `table` has the variant of each place, which takes less time to look up than to search
    for; it is empty if it would be large.
    """

    position: int
    prefix: bytes
    stickiness: str
    weights: tuple[int, ...]
    without_identifier: int
    table: bytes


class VariedFlags(NamedTuple):
    """Varied flags whose users are identified by the same attribute: their places among all varied flags, and so on."""

    attribute: str
    slots: tuple[int, ...]
    prefixes: tuple[bytes, ...]
    tables: tuple[bytes, ...]
    without_identifier: bytes

    @classmethod
    def of(cls, attribute: str, slots: Sequence[int], varied: Sequence[VariedFlag]) -> "VariedFlags":
        """Some of the varied flags."""
        flags = [varied[slot] for slot in slots]
        return cls(
            attribute,
            tuple(slots),
            tuple(flag.prefix for flag in flags),
            tuple(flag.table for flag in flags),
            bytes(flag.without_identifier for flag in flags),
        )


class Need(NamedTuple):
    """A prerequisite. The flag at `position` must be on, or off, and have one of some variants, unless that is None.

    `is_on` says for which bytes that flag is on; `byte` is recorded for the flag that needs it, if it does not hold. A
    prerequisite about a flag whose result never meets it has the position None.
    """

    position: int | None
    is_on: bytes
    enabled: bool
    variants: frozenset[int] | None
    byte: int


@dataclass(frozen=True)
class Targeting:
    """What evaluations of an environment need besides look-ups by the user's id and email; most environments have none.

    `sticky` are the rollouts whose identifier is an attribute: the attribute and the bytes that are hashed before it.
    `by_predicate` are the rules that are found by a predicate that holds, by its number, and `leading` the bits of
    these predicates.
    `with_buckets` are the flags with rules for a percentage of users: the position, the stickiness and the bytes that
    are hashed before the identifier. `needs` are the prerequisites by the flag's position, in an order in which each
    flag comes after those that it needs. `with_buckets` and `varied` are in the order of the positions.
    `answers` are each recorded flag's fragments by recorded byte and, for a varied flag, by variant. From the position
    `fixed`, flags are on for everyone with a variant; from `steady`, they depend only on rules that are found by a
    predicate, the id or the email. `led` remembers what follows from predicates that held, up to `kept_matches` times.
    `only` is the position of the only flag whose columns are recorded; None for all.
    """

    sticky: tuple[tuple[str, bytes], ...]
    predicates: Predicates
    by_predicate: Mapping[int, tuple[RuleMatch, ...]]
    leading: int
    with_buckets: tuple[tuple[int, str, bytes], ...]
    varied: tuple[VariedFlag, ...] = ()
    needs: tuple[tuple[int, tuple[Need, ...]], ...] = ()
    answers: tuple[Answers, ...] = ()
    fixed: int = 0
    steady: int = 0
    led: dict[int, LedMatches] = field(default_factory=dict, compare=False, repr=False)
    kept_matches: int = 1
    only: int | None = None

    def prepare(self) -> Generator[None, None, None]:
        """Compute what follows from the fields, in small steps; otherwise the first evaluation would take the time."""
        for name, value in vars(Targeting).items():
            if isinstance(value, cached_property):
                getattr(self, name)
                yield

    @cached_property
    def slots(self) -> Mapping[int, int]:
        """The places among the varied flags, by position."""
        return {flag.position: slot for slot, flag in enumerate(self.varied)}

    @cached_property
    def variant_prefixes(self) -> tuple[bytes, ...]:
        """What is hashed before the identifier for each varied flag."""
        return tuple(flag.prefix for flag in self.varied)

    @cached_property
    def tables(self) -> tuple[bytes, ...]:
        """The table of each varied flag; for one whose variant is found otherwise, any table."""
        return tuple(flag.table or b"\0" for flag in self.varied)

    @cached_property
    def sticky_runs(self) -> tuple[tuple[str, tuple[bytes, ...]], ...]:
        """The sticky rollouts in their order, those by the same attribute together: it, and what is hashed before."""
        runs = groupby(self.sticky, lambda each: each[0])
        return tuple((attribute, tuple(prefix for _, prefix in flags)) for attribute, flags in runs)

    @cached_property
    def places_with_bucket(self) -> tuple[int, ...]:
        """The positions of the flags with buckets that are rollouts, whose bucket is computed anyway.

        Where a part of the flags is decided, there are no answers, and such a bucket is computed again.
        """
        rollouts = {position for position, each in enumerate(self.answers) if isinstance(each, tuple)}
        return tuple(position for position, _, _ in self.with_buckets if position in rollouts)

    @cached_property
    def buckets_by_attribute(self) -> tuple[tuple[str, tuple[int, ...], tuple[bytes, ...]], ...]:
        """The others by the attribute that identifies the user: it, their positions, and what is hashed before it."""
        known = frozenset(self.places_with_bucket)
        found: dict[str, list[tuple[int, bytes]]] = {}
        for position, attribute, prefix in self.with_buckets:
            if position not in known:
                found.setdefault(attribute, []).append((position, prefix))
        return tuple(
            (attribute, tuple(position for position, _ in flags), tuple(prefix for _, prefix in flags))
            for attribute, flags in found.items()
        )

    @cached_property
    def no_buckets(self) -> Mapping[int, int]:
        """No bucket for each flag with rules for a percentage of users, in the order of the columns."""
        return dict.fromkeys((position for position, _, _ in self.with_buckets), NO_BUCKET)

    @cached_property
    def variants_by_attribute(self) -> tuple["VariedFlags", ...]:
        """The varied flags with a table whose users are identified by an attribute, those by the same one together."""
        found: dict[str, list[int]] = {}
        for slot, flag in enumerate(self.varied):
            if flag.table and flag.stickiness != DEFAULT_STICKINESS:
                found.setdefault(flag.stickiness, []).append(slot)
        return tuple(VariedFlags.of(attribute, slots, self.varied) for attribute, slots in found.items())

    @cached_property
    def without_table(self) -> tuple[tuple[int, VariedFlag], ...]:
        """The varied flags whose variant is searched for, with their places among all of them."""
        return tuple((slot, flag) for slot, flag in enumerate(self.varied) if not flag.table)

    @cached_property
    def without_identifier(self) -> bytes:
        """The variants of a user without an identifier."""
        return bytes(flag.without_identifier for flag in self.varied)

    @cached_property
    def varying_answers(self) -> tuple[Answers, ...]:
        """The fragments of the flags before those that are fixed or steady."""
        return self.answers[: self.fixed]

    @cached_property
    def fixed_answers(self) -> tuple[Fragment, ...]:
        """The fragments of each fixed flag, by variant."""
        return tuple(each[NO_BUCKET] for each in self.answers[self.fixed : self.steady])

    @cached_property
    def placed_answers(self) -> tuple[tuple[bytes, ...], ...]:
        """With only led rules: the fragments of the rollouts by bucket, and of the fixed flags by variant."""
        return cast("tuple[tuple[bytes, ...], ...]", (*self.varying_answers, *self.fixed_answers))

    @cached_property
    def first_fixed_slot(self) -> int:
        """The place of the first fixed flag among the varied flags."""
        return len(self.varied) - (self.steady - self.fixed)

    @cached_property
    def fixed_decided(self) -> bytes:
        """The decided bytes of the fixed flags."""
        return bytes((NO_BUCKET,)) * (self.steady - self.fixed)

    @cached_property
    def has_only_led(self) -> bool:
        """Whether all flags are rollouts by user, fixed or steady, and the variants can be looked up."""
        by_attribute = self.sticky or self.variants_by_attribute
        others = by_attribute or self.with_buckets or self.needs or self.without_table or self.columns
        return not others and not any(flag.position < self.fixed for flag in self.varied)

    @cached_property
    def spans(self) -> tuple[tuple[int, int, int], ...]:
        """The runs of varied flags before the fixed ones: the first position, the end, and the first slot."""
        found: list[tuple[int, int, int]] = []
        for slot, flag in enumerate(self.varied[: self.first_fixed_slot]):
            if found and found[-1][1] == flag.position:
                found[-1] = (found[-1][0], flag.position + 1, found[-1][2])
            else:
                found.append((flag.position, flag.position + 1, slot))
        return tuple(found)

    @cached_property
    def columns(self) -> tuple[int, ...] | None:
        """The order of the history's further columns: places among the buckets of rules, followed by the variants.

        None if they are in this order.
        """
        buckets = {position: place for place, (position, _, _) in enumerate(self.with_buckets)}
        variants = {position: len(buckets) + slot for position, slot in self.slots.items()}
        order = tuple(
            places[position]
            for position in (sorted({*buckets, *variants}) if self.only is None else [self.only])
            for places in (buckets, variants)
            if position in places
        )
        return None if order == tuple(range(len(buckets) + len(variants))) else order

    @cached_property
    def identifiers(self) -> frozenset[str]:
        """The attributes that identify users."""
        named = {attribute for attribute, _ in self.sticky} | {attribute for _, attribute, _ in self.with_buckets}
        named |= {flag.stickiness for flag in self.varied}
        return frozenset(named - {DEFAULT_STICKINESS})

    @cached_property
    def attributes(self) -> frozenset[str]:
        """The attributes of the context that are looked at."""
        return self.identifiers | {each.attribute for each in self.predicates.by_attribute}

    @cached_property
    def built_in(self) -> frozenset[str]:
        """Those of them that every context has."""
        return self.attributes & BUILT_IN

    @cached_property
    def asks_time(self) -> bool:
        """Whether the time is one of them."""
        return CURRENT_TIME in self.attributes

    @cached_property
    def asks_request(self) -> bool:
        """Whether an evaluation depends on more of its request than the user's id and email."""
        return self.asks_time or bool(self.custom)

    @cached_property
    def custom(self) -> frozenset[str]:
        """Those of them that applications choose."""
        return self.attributes - RESERVED

    @cached_property
    def custom_predicates(self) -> Predicates:
        """What the predicates ask about custom attributes."""
        return self.predicates.about(self.custom)

    @cached_property
    def other_predicates(self) -> Predicates:
        """What they ask about the others."""
        return self.predicates.about(RESERVED)
