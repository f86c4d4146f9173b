"""The part of the kernel for environments whose flags need more than look-ups by user.

Deciding and rendering are separate: `decide` says how each flag is decided, and `render` turns that into the fragments
of the response.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import getitem
from typing import Any, NamedTuple

from flagstaff.conditions.attributes import read_identifier
from flagstaff.evaluation import loops
from flagstaff.evaluation.history.layout import NO_BUCKET
from flagstaff.evaluation.matches import PredicateMatches, RuleMatch
from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from flagstaff.evaluation.targets import Buckets, Need, Targeting, Variants
from flagstaff.flags.flags import DEFAULT_STICKINESS


@dataclass(slots=True)
class User:
    """The user of an evaluation: the default identifier in UTF-8, and the attributes that are looked at.

    `identifiers` are those that attributes have given so far, because many flags can ask for the same one.
    """

    identifier: bytes
    values: Mapping[str, object]
    identifiers: dict[str, bytes] = field(default_factory=dict)


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
    """The decisions about the recorded flags: a byte for each, and the variant of each varied flag.

    `recorded` is the same, with the other columns, as the history stores it. `matches` are the rules that match first,
    one for each flag that has one; they do not decide flags with a prerequisite that does not hold. The
    steady flags' rules are in `held` instead, unless that is None.
    """

    decided: bytearray
    variants: bytearray
    recorded: bytes
    matches: Sequence[RuleMatch]
    held: PredicateMatches | None = None

    def rules(self) -> dict[int, RuleMatch]:
        """The rules that match first, by position."""
        return {**(self.held.steady if self.held else {}), **{match.position: match for match in self.matches}}


def follow(targeting: Targeting, values: Mapping[str, object], custom_holding: int | None = None) -> PredicateMatches:
    """Find the predicates that hold for these values of the attributes, and what follows from them.

    `custom_holding` are the bits of the predicates that the custom attributes do not contradict, if they have been
    computed before.
    """
    if custom_holding is None:
        holding = targeting.predicates.holding(values)
    else:
        holding = custom_holding & targeting.other_predicates.holding(values)
    return targeting.kept.get(holding) or _follow(targeting, holding)


def decide(
    targeting: Targeting, user: User, decided: bytearray, looked_up: tuple[RuleMatch, ...], held: PredicateMatches
) -> Decisions:
    """Decide the recorded flags.

    `decided` has the bucket of each flag with a rollout, and otherwise `NO_BUCKET`; it is changed to the decisions.
    `looked_up` are the rules found for the user, and `held` is what follows from the predicates that hold.
    """
    buckets = _buckets(targeting, user, decided) if targeting.with_buckets else b""
    variants = bytearray(targeting.slots_in_all)
    for slot, run in targeting.variant_runs:
        variants[slot : slot + len(run.weights)] = find_variants(run, identifier_of(user, run.attribute))
    others = held.matches if looked_up else held.varying
    if not looked_up:
        decided[targeting.steady :] = held.decided
    matches: Sequence[RuleMatch] = ()
    if looked_up or others:
        matches = loops.apply_rules(looked_up, held.holding, others, buckets, decided, variants)
    for position, needs in targeting.needs:
        for need in needs:
            if not _holds(need, decided, variants, targeting.slots):
                decided[position] = need.byte
                break
    columns = bytes(variants)
    if targeting.columns is not None:
        columns = loops.select_bytes((buckets or bytes(decided)) + columns, targeting.columns)
    return Decisions(decided, variants, bytes(decided) + columns, matches, None if looked_up else held)


def render(snapshot: EnvironmentSnapshot, targeting: Targeting, decisions: Decisions) -> bytes:
    """The response."""
    decided, variants, _, _, held = decisions
    places = bytes(decided[: targeting.fixed]) + targeting.fixed_places
    if held is not None:
        tails = held.fragments, snapshot.constant_tail
        return loops.join(snapshot.head, targeting.placed_answers, places, bytes(variants), *tails)
    places += decided[targeting.steady :]
    return loops.join(snapshot.head, targeting.all_answers, places, bytes(variants), snapshot.constant_tail)


def _buckets(targeting: Targeting, user: User, decided: bytearray) -> bytes:
    """The buckets for the rules of flags, by position, and for the rollouts of the other flags."""
    found = bytearray(decided)
    for start, run in targeting.bucket_runs:
        found[start : start + len(run.without_identifier)] = find_buckets(run, identifier_of(user, run.attribute))
    return bytes(found)


def _follow(targeting: Targeting, holding: int) -> PredicateMatches:
    """Return what follows from the predicates that hold; remembered for the next user for whom the same hold."""
    found: list[RuleMatch] = []
    digits = bin(holding & targeting.leading)[:1:-1]  # to take bits out of a long integer takes longer
    number = digits.find("1")
    while number >= 0:
        matches = targeting.by_predicate[number]
        found += [match for match in matches if not match.needs or match.needs & holding == match.needs]
        number = digits.find("1", number + 1)
    start = targeting.steady
    varying = tuple(match for match in found if match.position < start)
    answers = targeting.answers[start:]
    decided = bytearray((NO_BUCKET,)) * (start + len(answers))
    steady = loops.apply_rules(
        (), 0, tuple(each for each in found if each.position >= start), b"", decided, bytearray()
    )
    fragments: Iterable[Any] = map(getitem, answers, decided[start:])
    held = PredicateMatches(
        holding,
        tuple(found),
        varying,
        {match.position: match for match in steady},
        bytes(decided[start:]),
        b"".join(fragments),
    )
    if len(targeting.kept) >= targeting.kept_matches:
        del targeting.kept[next(iter(targeting.kept))]
    targeting.kept[holding] = held
    return held


def find_buckets(run: Buckets, identifier: bytes) -> bytes:
    """The bucket for each of some flags."""
    return loops.find_buckets(run.prefixes, identifier) if identifier else run.without_identifier


def find_variants(run: Variants, identifier: bytes) -> bytes:
    """The variant of each of some varied flags, by its weights."""
    return loops.find_variants(run.prefixes, run.weights, identifier) if identifier else run.without_identifier


def _holds(need: Need, decided: bytearray, variants: bytearray, slots: Mapping[int, int]) -> bool:
    if need.position is None:
        return False
    if bool(need.is_on[decided[need.position]]) is not need.enabled:
        return False
    return need.variants is None or variants[slots[need.position]] in need.variants


def identifier_of(user: User, attribute: str) -> bytes:
    """Return the user's identifier: a text, or a number as text; empty for anything else."""
    if attribute == DEFAULT_STICKINESS:
        return user.identifier
    found = user.identifiers.get(attribute)
    if found is None:
        found = read_identifier(user.values.get(attribute)).encode()
        user.identifiers[attribute] = found
    return found
