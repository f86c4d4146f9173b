"""The part of the kernel for environments whose flags need attributes: whom a bucket stands for, and conditions."""

from collections.abc import Mapping
from typing import NamedTuple

from flagstaff.domain.flags import DEFAULT_STICKINESS
from flagstaff.evaluation.attributes import Form, read
from flagstaff.evaluation.bucketing import BUCKETS, murmur3_x86_32
from flagstaff.evaluation.history.layout import NO_BUCKET
from flagstaff.evaluation.snapshot import EnvironmentSnapshot, RuleMatch, Targeting


class User(NamedTuple):
    """Who is evaluated: the default identifier in UTF-8, and the attributes that are looked at."""

    identifier: bytes
    values: Mapping[str, object]


def resolve(
    snapshot: EnvironmentSnapshot, custom: Mapping[str, object], user_id: str | None, email: str
) -> Mapping[str, object]:
    """The values of the attributes that are looked at. A custom attribute never replaces one that every context has.

    `email` is the lower-cased email, or an empty string.
    """
    targeting = snapshot.targeting
    if targeting is None or not targeting.built_in:
        return custom
    values = dict(custom)
    for name in targeting.built_in:
        match name:
            case "user_id":
                values[name] = user_id or None
            case "user_email":
                values[name] = email or None
            case "email_domain":
                values[name] = email.rpartition("@")[2] or None if "@" in email else None
            case "environment":
                values[name] = snapshot.environment_key
    return values


def sticky_buckets(targeting: Targeting, user: User) -> bytes:
    """The buckets of the rollouts whose identifier is an attribute."""
    return bytes([_bucket(prefix, _identifier(user, attribute)) for attribute, prefix in targeting.sticky])


def bucket_columns(targeting: Targeting, user: User, buckets: bytes) -> bytes:
    """The buckets of the flags with rules for a percentage of users; `buckets` are those of the rollouts."""
    return bytes(
        [
            buckets[position] if position < len(buckets) else _bucket(prefix, _identifier(user, attribute))
            for position, attribute, prefix in targeting.with_buckets
        ]
    )


def find_by_predicates(
    targeting: Targeting, user: User, columns: bytes, looked_up: tuple[RuleMatch, ...]
) -> tuple[RuleMatch, ...]:
    """The rules that match: those that were looked up, and those for which a predicate holds; in no particular order.

    The user must also be in the percentage of each rule; `columns` are the buckets for this.
    """
    holding = targeting.predicates.holding(user.values)
    found = [match for match in looked_up if match.needs & holding == match.needs]
    leading = holding & targeting.leading
    while leading:
        bit = leading & -leading
        found += [match for match in targeting.by_bit[bit] if match.needs & holding == match.needs]
        leading ^= bit
    if targeting.with_buckets:
        bucket_of = {position: bucket for (position, *_), bucket in zip(targeting.with_buckets, columns, strict=True)}
        found = [
            match for match in found if match.percentage == BUCKETS or bucket_of[match.position] < match.percentage
        ]
    return tuple(found)


def _identifier(user: User, attribute: str) -> bytes:
    """What identifies the user: a text, or a number as text; empty for anything else."""
    if attribute == DEFAULT_STICKINESS:
        return user.identifier
    value = user.values.get(attribute)
    if isinstance(value, bool | list):
        return b""
    return "".join(read(Form.TEXT, value)).encode()


def _bucket(prefix: bytes, identifier: bytes) -> int:
    return murmur3_x86_32(prefix + identifier) % BUCKETS if identifier else NO_BUCKET
