"""The part of the kernel for environments whose flags need more than look-ups by user.

Deciding and rendering are separate: `decide` says how each flag is decided, and `render` turns that into the fragments
of the response.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import getitem
from typing import Any, NamedTuple

from flagstaff.evaluation import loops
from flagstaff.evaluation.attributes import Form, read
from flagstaff.evaluation.bucketing import BUCKETS, VARIANT_SEED, murmur3_x86_32
from flagstaff.evaluation.history.layout import NO_BUCKET
from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from flagstaff.evaluation.targets import LedMatches, Need, RuleMatch, Targeting, VariedFlag
from flagstaff.flags.flags import DEFAULT_STICKINESS

_NO_BUCKETS: dict[int, int] = {}


@dataclass(slots=True)
class User:
    """Who is evaluated: the default identifier in UTF-8, and the attributes that are looked at.

    `identifiers` are those that attributes have given so far, because many flags can ask for the same one.
    """

    identifier: bytes
    values: Mapping[str, object]
    identifiers: dict[str, bytes] = field(default_factory=dict)

    def buckets(self, attribute: str, prefixes: tuple[bytes, ...]) -> bytes:
        """The buckets of flags by what is hashed before an attribute that identifies the user; `NO_BUCKET` without."""
        identifier = identifier_of(self, attribute)
        return loops.find_buckets(prefixes, identifier) if identifier else bytes((NO_BUCKET,)) * len(prefixes)


def resolve(
    snapshot: EnvironmentSnapshot, custom: Mapping[str, object], user_id: str | None, email: str
) -> Mapping[str, object]:
    """The values of the attributes that are looked at. A custom attribute never replaces one that every context has.

    `email` is the lower-cased email, or an empty string.
    """
    targeting = snapshot.targeting
    if targeting is None or not targeting.built_in:
        return custom
    return attributes_of(targeting.built_in, snapshot.environment_key, custom, user_id, email)


def attributes_of(
    built_in: Iterable[str], environment_key: str, custom: Mapping[str, object], user_id: str | None, email: str
) -> Mapping[str, object]:
    """The custom attributes and these built-in ones."""
    values = dict(custom)
    for name in built_in:
        match name:
            case "user_id":
                values[name] = user_id or None
            case "user_email":
                values[name] = email or None
            case "email_domain":
                values[name] = email.rpartition("@")[2] or None if "@" in email else None
            case "environment":
                values[name] = environment_key
    return values


class Decisions(NamedTuple):
    """How the recorded flags are decided: a byte for each, and the variant of each varied flag.

    `recorded` is the same, with the other columns, as the history stores it. `rules` are the rules that match first,
    by position; they do not decide flags with a prerequisite that does not hold. Those of the steady flags are in
    `led` instead, unless that is None.
    """

    decided: bytearray
    variants: bytearray
    recorded: bytes
    rules: Mapping[int, RuleMatch]
    led: LedMatches | None = None

    def rule_of(self, position: int) -> RuleMatch | None:
        """The rule that matches first for a flag, if one does."""
        return self.rules.get(position) or (self.led.steady.get(position) if self.led else None)


def follow(targeting: Targeting, values: Mapping[str, object], custom_holding: int | None = None) -> LedMatches:
    """What follows from the predicates that hold for these values of the attributes.

    `custom_holding` are the bits of the predicates that the custom attributes do not contradict, if they have been
    computed before.
    """
    if custom_holding is None:
        holding = targeting.predicates.holding(values)
    else:
        holding = custom_holding & targeting.other_predicates.holding(values)
    return targeting.led.get(holding) or _follow(targeting, holding)


def follow_holding(targeting: Targeting, holding: int) -> LedMatches:
    """The same for the bits of the predicates that hold."""
    return targeting.led.get(holding) or _follow(targeting, holding)


def decide(
    targeting: Targeting, user: User, decided: bytearray, looked_up: tuple[RuleMatch, ...], led: LedMatches
) -> Decisions:
    """Decide the recorded flags.

    `decided` has the bucket of each flag with a rollout, and otherwise `NO_BUCKET`; it is changed to the decisions.
    `looked_up` are the rules found for the user, and `led` is what follows from the predicates that hold.
    """
    bucket_of = _buckets(targeting, user, decided) if targeting.with_buckets else _NO_BUCKETS
    variants = _variants(targeting, user) if targeting.varied else bytearray()
    rules = led.first_varying
    if looked_up:
        holding = led.holding
        found = [match for match in looked_up if match.needs & holding == match.needs]
        rules = first_of_each_flag(_inside((*found, *led.matches), bucket_of))
    else:
        decided[targeting.steady :] = led.decided
        if bucket_of:
            rules = first_of_each_flag(_inside(led.varying, bucket_of))
    for position, match in rules.items():
        decided[position] = match.byte
        if match.variant is not None:
            variants[targeting.slots[position]] = match.variant
    for position, needs in targeting.needs:
        for need in needs:
            if not _holds(need, decided, variants, targeting.slots):
                decided[position] = need.byte
                break
    recorded = bytes(decided)
    if bucket_of or variants:
        columns = bytes(bucket_of.values()) + variants
        recorded += columns if targeting.columns is None else bytes([columns[place] for place in targeting.columns])
    return Decisions(decided, variants, recorded, rules, None if looked_up else led)


def render(targeting: Targeting, decisions: Decisions) -> list[bytes]:
    """The fragments of the response of the recorded flags."""
    decided, variants, _, _, led = decisions
    fragments: list[Any] = [*map(getitem, targeting.varying_answers, decided)]
    for start, end, slot in targeting.spans:
        fragments[start:end] = map(getitem, fragments[start:end], variants[slot:])
    fragments += map(getitem, targeting.fixed_answers, variants[targeting.first_fixed_slot :])
    if led is None:
        fragments += map(getitem, targeting.answers[targeting.steady :], decided[targeting.steady :])
    else:
        fragments.append(led.fragments)
    return fragments


def first_of_each_flag(found: Iterable[RuleMatch]) -> dict[int, RuleMatch]:
    """The matching rule with the lowest rank for each recorded flag that has one, by position."""
    first: dict[int, RuleMatch] = {}
    for match in found:
        other = first.get(match.position)
        if other is None or match.rank < other.rank:
            first[match.position] = match
    return first


def _buckets(targeting: Targeting, user: User, decided: bytearray) -> dict[int, int]:
    """The buckets for the rules of flags, by position."""
    found = dict(targeting.no_buckets)
    for position in targeting.places_with_bucket:
        found[position] = decided[position]
    for attribute, positions, prefixes in targeting.buckets_by_attribute:
        found.update(zip(positions, user.buckets(attribute, prefixes), strict=True))
    return found


def _inside(found: Iterable[RuleMatch], bucket_of: Mapping[int, int]) -> Iterator[RuleMatch]:
    """The rules whose percentage includes the user."""
    for each in found:
        if each.percentage == BUCKETS:
            yield each
        elif each.by_bucket is None:
            if bucket_of[each.position] < each.percentage:
                yield each
        elif (first := each.by_bucket[bucket_of[each.position]]) is not None:
            yield first


def _follow(targeting: Targeting, holding: int) -> LedMatches:
    """What follows from the predicates that hold; remembered for the next user for whom the same hold."""
    found: list[RuleMatch] = []
    digits = bin(holding & targeting.leading)[:1:-1]  # to take bits out of a long integer takes longer
    number = digits.find("1")
    while number >= 0:
        matches = targeting.by_predicate[number]
        found += [match for match in matches if not match.needs or match.needs & holding == match.needs]
        number = digits.find("1", number + 1)
    start = targeting.steady
    varying = tuple(match for match in found if match.position < start)
    steady = first_of_each_flag(match for match in found if match.position >= start)
    answers = targeting.answers[start:]
    decided = bytearray((NO_BUCKET,)) * len(answers)
    for position, match in steady.items():
        decided[position - start] = match.byte
    fragments: Iterable[Any] = map(getitem, answers, decided)
    led = LedMatches(
        holding, tuple(found), varying, first_of_each_flag(varying), steady, bytes(decided), b"".join(fragments)
    )
    if len(targeting.led) >= targeting.kept_matches:
        del targeting.led[next(iter(targeting.led))]
    targeting.led[holding] = led
    return led


def looked_up_variants(targeting: Targeting, identifier: bytes) -> bytes:
    """The variant of each varied flag, by its weights; without a table, any."""
    if not identifier:
        return targeting.without_identifier
    return loops.find_variants(targeting.variant_prefixes, targeting.tables, identifier)


def _variants(targeting: Targeting, user: User) -> bytearray:
    """The variant of each varied flag."""
    found = bytearray(looked_up_variants(targeting, user.identifier))
    for flags in targeting.variants_by_attribute:
        identifier = identifier_of(user, flags.attribute)
        variants = flags.without_identifier
        if identifier:
            variants = loops.find_variants(flags.prefixes, flags.tables, identifier)
        for slot, variant in zip(flags.slots, variants, strict=True):
            found[slot] = variant
    for slot, flag in targeting.without_table:
        found[slot] = _search_variant(flag, identifier_of(user, flag.stickiness))
    return found


def _search_variant(flag: VariedFlag, identifier: bytes) -> int:
    if not identifier:
        return flag.without_identifier
    return bisect_right(flag.weights, murmur3_x86_32(flag.prefix + identifier, VARIANT_SEED) % flag.weights[-1])


def _holds(need: Need, decided: bytearray, variants: bytearray, slots: Mapping[int, int]) -> bool:
    if need.position is None:
        return False
    if bool(need.is_on[decided[need.position]]) is not need.enabled:
        return False
    return need.variants is None or variants[slots[need.position]] in need.variants


def identifier_of(user: User, attribute: str) -> bytes:
    """What identifies the user: a text, or a number as text; empty for anything else."""
    if attribute == DEFAULT_STICKINESS:
        return user.identifier
    found = user.identifiers.get(attribute)
    if found is None:
        value = user.values.get(attribute)
        found = b"" if isinstance(value, bool | list) else "".join(read(Form.TEXT, value)).encode()
        user.identifiers[attribute] = found
    return found


def bucket_in(prefix: bytes, identifier: bytes) -> int:
    """The user's bucket, 0 to 99, or `NO_BUCKET` without an identifier; `prefix` is hashed before it."""
    return murmur3_x86_32(prefix + identifier) % BUCKETS if identifier else NO_BUCKET
