"""Compiled flags that need more than look-ups by user and email: conditions, buckets, variants and prerequisites."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

from flagstaff.conditions.predicates import Predicates
from flagstaff.evaluation import loops
from flagstaff.evaluation.bucketing import ROLLOUT_SEED, VARIANT_SEED
from flagstaff.evaluation.history.layout import NO_BUCKET, Decision
from flagstaff.evaluation.loops import Answers, Prefixes
from flagstaff.evaluation.matches import PredicateMatches, RuleMatch
from flagstaff.flags.flags import DEFAULT_STICKINESS

BUILT_IN = frozenset({"user_id", "user_email", "email_domain", "environment"})
CURRENT_TIME = "current_time"
RESERVED = BUILT_IN | {CURRENT_TIME}
"""The attributes that no custom attribute replaces."""


@dataclass(frozen=True, slots=True)
class Contents:
    """The contents of responses about a flag, besides decisions.

    `values` are its variants' values as JSON, by the variants' keys; empty for a flag without variants. `is_divided`
    says that several variants have a weight, so that users are divided among them. `details` are what servers may be
    told about the flag, as members of a JSON object, each after a comma.
    """

    values: Mapping[str, str] = field(default_factory=dict)
    is_divided: bool = False
    details: str = ""


NO_CONTENTS = Contents()
"""Those of a flag without variants or details."""
Write = Callable[[Decision, Contents], bytes]
"""Writes a flag's part of a response, with a comma at its end; or nothing, if the response leaves the flag out."""


class VariedFlag(NamedTuple):
    """A flag that is on with one of several variants, by the place that the hash of the user takes among the weights.

    `slot` is its place among all varied flags of the environment. `weights` are cumulated and packed. The user is
    identified by the attribute `stickiness`; one without an identifier gets the variant `without_identifier`.
    """

    position: int
    slot: int
    prefix: bytes
    stickiness: str
    weights: bytes
    without_identifier: int


class Buckets(NamedTuple):
    """Flags one after the other whose buckets are by the same attribute. A user without it has no bucket."""

    attribute: str
    prefixes: Prefixes
    without_identifier: bytes

    @classmethod
    def of(cls, attribute: str, prefixes: tuple[bytes, ...]) -> "Buckets":
        """Flags with these prefixes."""
        return cls(attribute, loops.prepare(prefixes, ROLLOUT_SEED), bytes((NO_BUCKET,)) * len(prefixes))


class Variants(NamedTuple):
    """Varied flags one after the other whose users are identified by the same attribute."""

    attribute: str
    prefixes: Prefixes
    weights: tuple[bytes, ...]
    without_identifier: bytes

    @classmethod
    def of(cls, attribute: str, varied: Iterable[VariedFlag]) -> "Variants":
        """Some varied flags."""
        _, _, prefixes, _, weights, without_identifier = zip(*varied, strict=True)
        return cls(attribute, loops.prepare(prefixes, VARIANT_SEED), weights, bytes(without_identifier))


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
    """The compiled flags of an environment that need more than look-ups by id and email; most environments have none.

    `sticky` are the rollouts whose identifier is an attribute: the attribute and the bytes that are hashed before it.
    `by_predicate` are the rules that are found by a predicate that holds, by its number, and `leading` the bits of
    these predicates.
    `with_buckets` are the flags with rules for a percentage of users: the position, the stickiness and the bytes that
    are hashed before the identifier. `needs` are the prerequisites by the flag's position, in an order in which each
    flag comes after those that it needs. `with_buckets` and `varied` are in the order of the positions.
    `answers` are each recorded flag's fragments by recorded byte and, for a varied flag, by variant. From the position
    `fixed`, flags are on for everyone with a variant; from `steady`, they depend only on rules that are found by a
    predicate, the id or the email. `kept` remembers what follows from predicates that held, up to `kept_matches` times.
    `recorded` is how many flags are recorded, `slots_in_all` how many are varied, and `only` the position of the only
    flag whose columns are recorded; None for all.
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
    kept: dict[int, PredicateMatches] = field(default_factory=dict, compare=False, repr=False)
    kept_matches: int = 1
    recorded: int = 0
    slots_in_all: int = 0
    only: int | None = None

    def prepare(self) -> None:
        """Compute what follows from the fields; otherwise the first evaluation would take the time."""
        for name, value in vars(Targeting).items():
            if isinstance(value, cached_property):
                getattr(self, name)

    @cached_property
    def slots(self) -> Mapping[int, int]:
        """The places among the varied flags, by position."""
        return {flag.position: flag.slot for flag in self.varied}

    @cached_property
    def buckets_of(self) -> Mapping[int, tuple[int, str, bytes]]:
        """The flags with rules for a percentage of users, by position."""
        return {each[0]: each for each in self.with_buckets}

    @cached_property
    def sticky_runs(self) -> tuple[Buckets, ...]:
        """The sticky rollouts in their order, those by the same attribute together."""
        runs = groupby(self.sticky, lambda each: each[0])
        return tuple(Buckets.of(attribute, tuple(prefix for _, prefix in flags)) for attribute, flags in runs)

    @cached_property
    def bucket_runs(self) -> tuple[tuple[int, Buckets], ...]:
        """The flags with rules for a percentage of users, but for rollouts, whose bucket is computed anyway.

        Each run has the position of its first flag. Where a part of the flags is decided, there are no answers, and
        such a bucket is computed again.
        """
        rollouts = {position for position, each in enumerate(self.answers) if isinstance(each, tuple)}
        others = enumerate(each for each in self.with_buckets if each[0] not in rollouts)
        runs = groupby(others, lambda each: (each[1][0] - each[0], each[1][1]))  # positions and numbers grow alike
        found = []
        for (_, attribute), run in runs:
            flags = [flag for _, flag in run]
            found.append((flags[0][0], Buckets.of(attribute, tuple(prefix for _, _, prefix in flags))))
        return tuple(found)

    @cached_property
    def variant_runs(self) -> tuple[tuple[int, Variants], ...]:
        """The varied flags, those by the same attribute together; each run has the slot of its first flag."""
        runs = groupby(enumerate(self.varied), lambda each: (each[1].slot - each[0], each[1].stickiness))
        found = []
        for (_, attribute), run in runs:
            flags = [flag for _, flag in run]
            found.append((flags[0].slot, Variants.of(attribute, flags)))
        return tuple(found)

    @cached_property
    def placed_answers(self) -> tuple[Answers, ...]:
        """The fragments of the flags before the steady ones. The answers of a fixed flag are at place 0."""
        return (*self.answers[: self.fixed], *((each[NO_BUCKET],) for each in self.answers[self.fixed : self.steady]))

    @cached_property
    def all_answers(self) -> tuple[Answers, ...]:
        """The same with the steady flags."""
        return (*self.placed_answers, *self.answers[self.steady :])

    @cached_property
    def fixed_places(self) -> bytes:
        """The places of the fixed flags' fragments."""
        return bytes(self.steady - self.fixed)

    @cached_property
    def fixed_decided(self) -> bytes:
        """The decided bytes of the fixed flags."""
        return bytes((NO_BUCKET,)) * (self.steady - self.fixed)

    @cached_property
    def has_only_predicates(self) -> bool:
        """True if all flags are rollouts by user, fixed or steady."""
        others = self.identifiers or self.with_buckets or self.needs or self.columns
        return not others and not any(flag.position < self.fixed for flag in self.varied)

    @cached_property
    def columns(self) -> bytes | None:
        """The history's further columns: packed places among the buckets of all flags, followed by the variants.

        None if they are the variants.
        """
        if not self.with_buckets and self.only is None:
            return None
        buckets = {position: position for position, _, _ in self.with_buckets}
        variants = {position: self.recorded + slot for position, slot in self.slots.items()}
        return loops.pack(
            places[position]
            for position in (sorted({*buckets, *variants}) if self.only is None else [self.only])
            for places in (buckets, variants)
            if position in places
        )

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
        """The attributes, among them, that every context has."""
        return self.attributes & BUILT_IN

    @cached_property
    def asks_time(self) -> bool:
        """True if the time is one of them."""
        return CURRENT_TIME in self.attributes

    @cached_property
    def asks_request(self) -> bool:
        """True if an evaluation depends on more of its request than the user's id and email."""
        return self.asks_time or bool(self.custom)

    @cached_property
    def custom(self) -> frozenset[str]:
        """The attributes, among them, that applications choose."""
        return self.attributes - RESERVED

    @cached_property
    def custom_predicates(self) -> Predicates:
        """The predicates' questions about custom attributes."""
        return self.predicates.about(self.custom)

    @cached_property
    def other_predicates(self) -> Predicates:
        """The predicates' questions about the other attributes."""
        return self.predicates.about(RESERVED)
