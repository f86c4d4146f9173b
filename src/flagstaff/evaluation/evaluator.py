"""The kernel: a snapshot and a user in, the answer's bytes out.

Every application call passes here: one hash for each rollout, look-ups for the rules, one join. bench/ measures it.
"""

from operator import getitem

from flagstaff.evaluation.bucketing import BUCKETS, murmur3_x86_32
from flagstaff.evaluation.snapshot import EnvironmentSnapshot, RuleMatch

_HEAD = b'{"flags":{'


def evaluate(snapshot: EnvironmentSnapshot, user_id: str | None, user_email: str | None) -> tuple[bytes, bytes]:
    """Evaluate every flag of an environment for one user: the response's body, and what history keeps (see layout.py).

    Off flags are off; else the first live rule that matches decides; else the rollout; else the flag is on. The
    rollout's identifier is the user id or else the lower-cased email; an empty text is none.
    """
    email = user_email.lower() if user_email else ""
    identifier = user_id or email
    if identifier:
        encoded = identifier.encode()
        buckets = bytes([murmur3_x86_32(prefix + encoded) % BUCKETS for prefix in snapshot.rollout_prefixes])
    else:
        buckets = snapshot.without_bucket
    found = _find_matches(snapshot, user_id, email)
    if found:
        return _with_matches(snapshot, buckets, found)
    body = b"".join([_HEAD, *map(getitem, snapshot.rollout_answers, buckets), snapshot.default_tail])
    return body, buckets + snapshot.ruled_recorded


def _find_matches(snapshot: EnvironmentSnapshot, user_id: str | None, email: str) -> tuple[RuleMatch, ...]:
    """Every rule that matches, in no order."""
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


def _first_of_each_flag(found: tuple[RuleMatch, ...]) -> dict[int, RuleMatch]:
    """For each recorded flag with a matching rule, by position: the one that goes first."""
    first: dict[int, RuleMatch] = {}
    for match in found:
        other = first.get(match.position)
        if other is None or match.rank < other.rank:
            first[match.position] = match
    return first


def _with_matches(snapshot: EnvironmentSnapshot, buckets: bytes, found: tuple[RuleMatch, ...]) -> tuple[bytes, bytes]:
    fragments = [*map(getitem, snapshot.rollout_answers, buckets), *snapshot.ruled_defaults]
    recorded = bytearray(buckets + snapshot.ruled_recorded)
    for position, match in _first_of_each_flag(found).items():
        fragments[position] = snapshot.rule_answers[position][match.byte]
        recorded[position] = match.byte
    return b"".join((_HEAD, *fragments, snapshot.constant_tail)), bytes(recorded)
