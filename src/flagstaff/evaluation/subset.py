"""Decides some flags of an environment, with the snapshot of all flags and with the same kernel.

A flag that is evaluated alone is decided with those that it needs. An explanation decides all flags.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from flagstaff.evaluation import loops
from flagstaff.evaluation.evaluator import NO_ATTRIBUTES, find_matches
from flagstaff.evaluation.fragments import render_decision
from flagstaff.evaluation.history.layout import NO_BUCKET, Decision
from flagstaff.evaluation.snapshot import EnvironmentSnapshot, Part, SingleFlag
from flagstaff.evaluation.targeting import (
    Decisions,
    User,
    decide,
    find_buckets,
    follow,
    identifier_of,
    resolve,
)
from flagstaff.evaluation.targets import Buckets, Targeting
from flagstaff.flags.flags import DEFAULT_STICKINESS
from flagstaff.flags.prerequisites import with_needed


def evaluate_flag(
    snapshot: EnvironmentSnapshot,
    flag: SingleFlag,
    user_id: str | None,
    user_email: str | None,
    attributes: Mapping[str, object] = NO_ATTRIBUTES,
) -> tuple[bytes, bytes]:
    """Evaluate one flag of an environment like `evaluate`; the bytes to record are in the flag's own layout."""
    decision, own = decide_flag(snapshot, flag, user_id, user_email, attributes)
    return render_decision(snapshot, decision), own


def decide_flag(
    snapshot: EnvironmentSnapshot,
    flag: SingleFlag,
    user_id: str | None,
    user_email: str | None,
    attributes: Mapping[str, object] = NO_ATTRIBUTES,
) -> tuple[Decision, bytes]:
    """The same without the response."""
    own = b""
    if flag.part is not None:
        decisions = decide_part(snapshot, flag.part, user_id, user_email, attributes)
        columns = decisions.recorded[len(decisions.decided) :]
        own = decisions.recorded[flag.place : flag.place + 1] + columns
    return flag.layout.decisions(own)[0], own


def decide_part(
    snapshot: EnvironmentSnapshot,
    part: Part,
    user_id: str | None,
    user_email: str | None,
    attributes: Mapping[str, object] = NO_ATTRIBUTES,
) -> Decisions:
    """Decide some of the recorded flags like `evaluate`; the others are left without a bucket."""
    email = user_email.lower() if user_email else ""
    user = User((user_id or email).encode(), resolve(snapshot, attributes, user_id, email))
    decided = bytearray((NO_BUCKET,)) * len(snapshot.layout.recorded)
    for positions, run in part.rollouts:
        for position, bucket in zip(positions, find_buckets(run, identifier_of(user, run.attribute)), strict=True):
            decided[position] = bucket
    found = tuple(match for match in find_matches(snapshot, user_id, email) if match.position in part.positions)
    if part.targeting is not None:
        return decide(part.targeting, user, decided, found, follow(part.targeting, user.values))
    matches = loops.apply_rules(found, 0, (), b"", decided, bytearray())
    return Decisions(decided, bytearray(), bytes(decided), matches)


def all_flags(snapshot: EnvironmentSnapshot) -> Part:
    """All recorded flags of an environment."""
    positions = range(len(snapshot.layout.recorded))
    return Part(positions, _rollouts(snapshot, positions), snapshot.targeting)


def find_flag(snapshot: EnvironmentSnapshot, key: str) -> SingleFlag | None:
    """The flag with this key, if there is one. It is prepared once for each snapshot."""
    found = snapshot.single_flags.get(key)
    if found is None:
        found = _prepare(snapshot, key)
        if found is not None:
            snapshot.single_flags[key] = found
    return found


def _prepare(snapshot: EnvironmentSnapshot, key: str) -> SingleFlag | None:
    flags = snapshot.layout.recorded
    position = snapshot.places.get(key)
    if position is None:
        return None
    own = snapshot.layout.alone(position)
    if position >= len(flags):
        return SingleFlag(position, own)
    targeting = snapshot.targeting
    needs = {
        place: [need.position for need in needed if need.position is not None]
        for place, needed in (targeting.needs if targeting else ())
    }
    positions = frozenset(with_needed(needs, [position]))
    narrowed = _narrow(targeting, positions, position, len(flags)) if targeting else None
    part = Part(positions, _rollouts(snapshot, positions), narrowed)
    return SingleFlag(position, own, part)


def _rollouts(snapshot: EnvironmentSnapshot, positions: Collection[int]) -> list[tuple[Sequence[int], Buckets]]:
    by_user, sticky = snapshot.rollouts, snapshot.targeting.sticky if snapshot.targeting else ()
    runs: defaultdict[str, dict[int, bytes]] = defaultdict(dict)
    for position in positions:
        if position < len(by_user):
            runs[DEFAULT_STICKINESS][position] = by_user[position]
        elif position < len(by_user) + len(sticky):
            stickiness, prefix = sticky[position - len(by_user)]
            runs[stickiness][position] = prefix
    return [(tuple(run), Buckets.of(stickiness, tuple(run.values()))) for stickiness, run in runs.items()]


def _narrow(targeting: Targeting, positions: Collection[int], position: int, recorded: int) -> Targeting:
    """Select the targeting of some of the recorded flags; the columns of only one of them are recorded."""
    in_order, buckets, slots = sorted(positions), targeting.buckets_of, targeting.slots
    by_predicate = {}
    for number, matches in targeting.by_predicate.items():
        kept = tuple(match for match in matches if match.position in positions)
        if kept:
            by_predicate[number] = kept
    return replace(
        targeting,
        sticky=(),
        by_predicate=by_predicate,
        leading=sum(1 << number for number in by_predicate),
        with_buckets=tuple(buckets[each] for each in in_order if each in buckets),
        varied=tuple(targeting.varied[slots[each]] for each in in_order if each in slots),
        needs=tuple(each for each in targeting.needs if each[0] in positions),
        answers=(),
        fixed=recorded,
        steady=recorded,
        kept={},
        kept_matches=1,
        only=position,
    )
