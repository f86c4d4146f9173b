"""Assigns users to 100 buckets. Only this module hashes users for evaluations; any change to it reassigns all users."""

from mmh3 import mmh3_32_uintdigest

murmur3_x86_32 = mmh3_32_uintdigest  # seed 0, unsigned
BUCKETS = 100
ROLLOUT_SEED = 0
VARIANT_SEED = 86028157  # as in Unleash


def bucket(key: str, identifier: str) -> int:
    """The bucket of a user for a flag, 0 to 99. The user is in the rollout if it is below the percentage.

    `key` is the flag's bucketing key, or else the flag's key.

    `murmur3_x86_32(utf8(f"{key}:{identifier}"), seed=0) % 100`: Unleash's normalised hash with the key as group
    id. Unleash counts from 1 and includes users up to and including the percentage, so its test vectors apply.
    """
    return murmur3_x86_32(f"{key}:{identifier}".encode()) % BUCKETS


def variant_position(key: str, identifier: str, total_weight: int) -> int:
    """The user's place among the weights of a flag's variants, 0 to `total_weight` - 1.

    The first variant whose weight, added to those before it, is above the place is the user's. As in Unleash, which
    counts from 1.
    """
    return murmur3_x86_32(f"{key}:{identifier}".encode(), VARIANT_SEED) % total_weight
