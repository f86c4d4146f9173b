"""The kernel: computes the response's bytes from a snapshot and a user.

Every evaluation runs this code: one hash for each rollout, look-ups for the rules, and one join. The loops over flags
are compiled where that is possible (loops.py). bench/ measures it.
Environments whose flags need more than that take a longer way, through targeting.py.
"""

from collections.abc import Mapping

from flagstaff.evaluation import loops
from flagstaff.evaluation.matches import PredicateMatches, RuleMatch
from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from flagstaff.evaluation.targeting import (
    User,
    decide,
    find_buckets,
    find_variants,
    follow,
    identifier_of,
    render,
    resolve,
)
from flagstaff.evaluation.targets import Targeting

NO_ATTRIBUTES: Mapping[str, object] = {}


def evaluate(
    snapshot: EnvironmentSnapshot,
    user_id: str | None,
    user_email: str | None,
    attributes: Mapping[str, object] = NO_ATTRIBUTES,
    custom_holding: int | None = None,
) -> tuple[bytes, bytes]:
    """Evaluate all flags of an environment for one user. Return the response's body and the bytes to record.

    If a flag is on, the first enabled rule that matches decides, then the rollout; otherwise the flag is on for the
    user. The rollout's identifier is the user id, or the lower-cased email if there is no user id; an empty string
    counts as absent. `attributes` are the custom attributes and the `current_time`, at least those that
    `snapshot.targeting` names; `custom_holding` are the bits of the predicates that the custom ones do not contradict,
    if they have been computed before. evaluation/history/layout.py describes the recorded bytes.
    """
    email = user_email.lower() if user_email else ""
    identifier = user_id or email
    encoded = identifier.encode()
    if identifier and snapshot.rollouts:
        buckets = loops.find_buckets(snapshot.prepared_rollouts, encoded)
    else:
        buckets = snapshot.without_bucket
    found = find_matches(snapshot, user_id, email)
    targeting = snapshot.targeting
    if targeting is not None:
        values = resolve(snapshot, attributes, user_id, email)
        held = follow(targeting, values, custom_holding)
        if targeting.has_only_predicates and not found and not held.varying:
            return _with_predicates(snapshot, targeting, encoded, buckets, held)
        user = User(encoded, values)
        if targeting.sticky:
            buckets = b"".join(
                [buckets, *(find_buckets(run, identifier_of(user, run.attribute)) for run in targeting.sticky_runs)]
            )
        decisions = decide(targeting, user, bytearray(buckets + snapshot.ruled_recorded), found, held)
        return render(snapshot, targeting, decisions), decisions.recorded
    if found:
        return _with_matches(snapshot, buckets, found)
    body = loops.join(snapshot.head, snapshot.rollout_answers, buckets, b"", snapshot.default_tail)
    return body, buckets + snapshot.ruled_recorded


def find_matches(snapshot: EnvironmentSnapshot, user_id: str | None, email: str) -> tuple[RuleMatch, ...]:
    """All rules that match, in no particular order."""
    found: tuple[RuleMatch, ...] = ()
    if user_id and (by_id := snapshot.by_user_id.get(user_id)):
        found += by_id
    if email:
        if by_email := snapshot.by_email.get(email):
            found += by_email
        if snapshot.by_domain:
            _, at, domain = email.rpartition("@")
            if at and (by_domain := snapshot.by_domain.get(domain)):
                found += by_domain
    return found


def _with_predicates(
    snapshot: EnvironmentSnapshot, targeting: Targeting, identifier: bytes, buckets: bytes, held: PredicateMatches
) -> tuple[bytes, bytes]:
    """The same as `decide` and `render` in fewer steps, where nothing but `held` decides.

    This is most of what environments with conditions or variants need.
    """
    variants = b""
    for _, run in targeting.variant_runs:  # at most one: no attribute identifies users
        variants = find_variants(run, identifier)
    places = buckets + targeting.fixed_places
    body = loops.join(snapshot.head, targeting.placed_answers, places, variants, held.fragments, snapshot.constant_tail)
    return body, b"".join((buckets, targeting.fixed_decided, held.decided, variants))


def _with_matches(snapshot: EnvironmentSnapshot, buckets: bytes, found: tuple[RuleMatch, ...]) -> tuple[bytes, bytes]:
    decided = bytearray(buckets + snapshot.ruled_recorded)
    loops.apply_rules(found, 0, (), b"", decided, bytearray())
    recorded = bytes(decided)
    return loops.join(snapshot.head, snapshot.answers, recorded, b"", snapshot.constant_tail), recorded
