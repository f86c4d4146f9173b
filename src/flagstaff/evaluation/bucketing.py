"""Which of 100 buckets a user falls into. The only place that hashes; changing it moves every team's users."""

from mmh3 import mmh3_32_uintdigest

murmur3_x86_32 = mmh3_32_uintdigest  # seed 0, unsigned
BUCKETS = 100


def bucket(flag_key: str, identifier: str) -> int:
    """The bucket, 0 to 99, of a user in a flag's rollout; the user is inside if it is below the percentage.

    `murmur3_x86_32(utf8(f"{flag_key}:{identifier}"), seed=0) % 100`: Unleash's normalised hash with the flag key as
    group id. Unleash counts from 1 and lets in up to and including the percentage, so its vectors hold unchanged.
    """
    return murmur3_x86_32(f"{flag_key}:{identifier}".encode()) % BUCKETS
